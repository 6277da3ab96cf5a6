"""The same image flipped, turned or shifted: do the same cells come out?

python benchmarks/equivariance.py [--data ../shared/data] [--frames N] [--side 1024] [--write]

Cells of the changed image are brought back and compared with those of the image as it is: mean Dice of the cells that
both have, and the share of cells without a partner (Dice 0.5); once of all cells, once of those that the border does
not cut, because a shifted image shows something else beyond it. Three ways: all of ``segment``; the same from regions
that were changed along, so that only proposals and evolution differ; and ``evolve`` alone. Frames are the first of ISBI
2015 and of Cervix93. ``--write`` puts the figures into docs/reliability.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import declump
from agreement import Agreement
from declump import io
from pages import commit, replace_part

PAGE, PART = "docs/reliability.md", "equivariance"
Array = np.ndarray[Any, Any]


def shifted(rows: int, columns: int) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """Put rows and columns before the first ones, which they repeat; there is nothing in them of masks and labels."""

    def move(image: Array) -> Array:
        mode = "edge" if image.dtype in (np.uint8, np.float32) else "constant"
        return np.pad(image, [(0, 0)] * (image.ndim - 2) + [(rows, 0), (columns, 0)], mode=mode)

    return move, lambda masks: masks[..., rows:, columns:]


CHANGES: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "flipped left to right": (lambda image: image[..., ::-1], lambda masks: masks[..., ::-1]),
    "flipped upside down": (lambda image: image[..., ::-1, :], lambda masks: masks[..., ::-1, :]),
    "turned": (lambda image: np.rot90(image, 1, (-2, -1)), lambda masks: np.rot90(masks, -1, (-2, -1))),
    "shifted by 16, 32": shifted(16, 32),
    "shifted by 5, 11": shifted(5, 11),
}


def read_frames(data: Path, count: int, side: int) -> list[Array]:
    paths = [
        *sorted((data / "isbi2015").glob("*/image.png"))[:count],
        *sorted((data / "cervix93").glob("*.png"))[:count],
    ]
    return [np.ascontiguousarray(io.read_image(path)[:side, :side]) for path in paths]


def change_regions(regions: declump.Regions, change: Callable[[Array], Array]) -> declump.Regions:
    maps = ("clump", "nuclei", "layers", "candidates")
    moved = {name: getattr(regions, name) for name in maps if getattr(regions, name) is not None}
    moved = {name: np.ascontiguousarray(change(value)) for name, value in moved.items()}
    return replace(regions, **moved)


def is_cut(masks: Array) -> Array:
    """Whether cells (N, H, W) reach the border of the image, beyond which a shifted image shows something else."""
    edges = (masks[:, 0], masks[:, -1], masks[:, :, 0], masks[:, :, -1])
    return np.any([edge.any(axis=1) for edge in edges], axis=0)


def compare(image: Array, tally: dict[tuple[str, str], Agreement]) -> None:
    """Count the agreement of all changes of one image."""
    regions = declump.find_regions(image)
    whole = declump.segment(image, regions=regions)
    alone = declump.evolve(regions.clump, regions.seeds)
    for name, (change, back) in CHANGES.items():
        other = np.ascontiguousarray(change(image))
        moved = change_regions(regions, change)
        ways = {
            "segment": (whole, lambda other=other: declump.segment(other)),
            "from the same regions": (whole, lambda other=other, moved=moved: declump.segment(other, regions=moved)),
            "evolve": (alone, lambda moved=moved: declump.evolve(moved.clump, moved.seeds)),
        }
        for way, (before, act) in ways.items():
            masks, others = before.masks, np.ascontiguousarray(back(act().masks))
            whole_cells = masks[~is_cut(masks)]
            for label, cells in ((name, masks), (f"{name}, whole cells", whole_cells)):
                found = Agreement.of(cells, others)
                tally[label, way] = tally[label, way] + found if (label, way) in tally else found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--frames", type=int, default=4, help="of each data set")
    parser.add_argument("--side", type=int, default=1024, help="frames are cut to this many rows and columns")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    tally: dict[tuple[str, str], Agreement] = {}
    warnings.simplefilter("ignore")
    for image in read_frames(given.data, given.frames, given.side):
        compare(image, tally)
    ways = list(dict.fromkeys(way for _, way in tally))
    lines = [f"| Dice, cells missed | {' | '.join(ways)} |", "|---" * (len(ways) + 1) + "|"]
    changes = dict.fromkeys(name for name, _ in tally)
    lines += [f"| {name} | {' | '.join(str(tally[name, way]) for way in ways)} |" for name in changes]
    text = "\n".join(lines)
    print(text)
    if given.write:
        how = f"`python benchmarks/equivariance.py --frames {given.frames} --side {given.side} --write` at {commit()}"
        replace_part(PAGE, PART, f"{text}\n\n{how}.")


if __name__ == "__main__":
    main()
