"""How far two readings of one CRIC frame agree: the ceiling of what a method can be held to on ``marks/cric``.

    python benchmarks/second_readings.py --images ../shared/data/cric

A cell or nucleus of one reading answers to that of the other with which it shares most (one to one, Dice over 0.5). Of
cells each reading holds only some, so that their number says nothing; nuclei are counted where both readings drew all.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from skimage.draw import polygon2mask

from declump.datasets.cric import DrawnFrame, DrawnNucleus, MarkedCell, read
from declump.evaluation.matching import dice_matrix, match

SAME = 0.5
"""Least Dice of two drawings of one cell or nucleus."""


def fill(drawn: Sequence[MarkedCell | DrawnNucleus], shape: tuple[int, ...]) -> np.ndarray:
    """Masks (N, H, W) of outlines."""
    return np.array([polygon2mask(shape, one.outline) for one in drawn], np.bool_).reshape(-1, *shape)


def compare(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Dice of the drawings that both readings hold."""
    dice = dice_matrix(one, two)
    partner = match(dice)
    shared = dice[np.flatnonzero(partner >= 0), partner[partner >= 0]]
    return shared[shared > SAME]


def compare_frames(one: DrawnFrame, two: DrawnFrame) -> tuple[float, ...]:
    """Dice of the clump, pairs of cells and their Dice, F1 of nuclei (nan where not all are drawn) and their Dice."""
    known, shape = ~(one.unknown | two.unknown), one.clump.shape
    clump = 2 * (one.clump & two.clump & known).sum() / ((one.clump & known).sum() + (two.clump & known).sum())
    cells, nuclei = (
        compare(fill(a, shape), fill(b, shape)) for a, b in ((one.cells, two.cells), (one.nuclei, two.nuclei))
    )
    complete = one.has_all_nuclei and two.has_all_nuclei
    f1 = 2 * len(nuclei) / (len(one.nuclei) + len(two.nuclei)) if complete else np.nan
    return float(clump), len(cells), float(cells.mean()), float(f1), float(nuclei.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, required=True, help="folder with the frames of CRIC")
    parser.add_argument("--marks", type=Path, default=Path(__file__).parents[1] / "marks" / "cric")
    options = parser.parse_args()
    second = {one.name: one for one in read(options.images, options.marks, "second")}
    first = [one for one in read(options.images, options.marks) if one.name in second]
    rows = [compare_frames(one, second[one.name]) for one in first]
    print(
        "| frame | clump, Dice | cells in both | cells, Dice | nuclei, F1 | nuclei, Dice |\n|---|---|---|---|---|---|"
    )
    mean = (float(np.nanmean([row[place] for row in rows])) for place in range(5))
    for name, row in [*zip((one.name for one in first), rows, strict=True), ("mean", tuple(mean))]:
        print(f"| {name} | {row[0]:.3f} | {row[1]:.3g} | {row[2]:.3f} | {row[3]:.3f} | {row[4]:.3f} |")


if __name__ == "__main__":
    main()
