"""How many tested cells a training image already shows: whether shapes come back, turned or mirrored, between images.

    python paper/benchmarks/recurring.py --data ../shared/data --write

For every whole cell that a fold tests, the training shape that agrees with it best, over all turns and the mirror
image, seen from the seeds; the first of the paper's folds (one fifth teaches). Where cells recur, a method that chooses
among the training shapes knows some of the tested cells.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from declump.datasets import isbi2015
from declump.shapes.contours import resample
from declump.training.prior import collect_clumps
from declump_paper.folds import folds

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from accuracy import READERS, TITLES
from pages import ROOT, commit, replace_part

RAYS = 120
AGREE = (0.95, 0.98)


def best_dice(shape: np.ndarray, examples: np.ndarray) -> float:
    """Best Dice of a shape (K,) with examples (N, K) from a common seed, over turns and mirror images."""
    copies = np.concatenate([shape[None], np.roll(shape[::-1], 1)[None]])
    best = 0.0
    for turn in range(RAYS):
        for copy in np.roll(copies, turn, axis=1):
            shared = np.sum(np.minimum(copy, examples) ** 2, axis=1)
            both = np.sum(copy**2) + np.sum(examples**2, axis=1)
            best = max(best, float((2 * shared / both).max()))
    return best


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--write", action="store_true", help="put the table into paper/docs/reproduce.md")
    given = parser.parse_args()
    text = ["| tested cells with a training shape of | Dice > 0.95 | Dice > 0.98 |", "|---|---|---|"]
    for name, reader in READERS.items():
        images = list(reader.read(given.data / name))
        groups = isbi2015.fields([image.name for image in images]) if name == "isbi2015" else None
        shapes = [resample(np.concatenate([known.radii for known in image]), RAYS) for image in collect_clumps(images)]
        train, test = folds(len(images), n_folds=5, rng=0, train="one", groups=groups)[0]
        examples = np.concatenate([shapes[index] for index in train])
        found = np.array([best_dice(shape, examples) for index in test for shape in shapes[index]])
        shares = " | ".join(f"{100 * np.mean(found > least):.0f} %" for least in AGREE)
        text.append(f"| {TITLES[name]}, fold 1, {found.size} whole cells | {shares} |")
    text += ["", f"Measured by `python paper/benchmarks/recurring.py --write` at commit {commit()}."]
    print("\n".join(text))
    if given.write:
        replace_part("paper/docs/reproduce.md", "recurring", "\n".join(text))
