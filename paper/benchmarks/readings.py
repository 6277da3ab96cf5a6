"""The two readings of the paper's alignment: which serves better, as the training images tell, and what it is worth.

    python paper/benchmarks/readings.py --data ../shared/data --write

ISBI 2015, true regions, the paper's folds (one fifth teaches), shapes alone, no importance: cells aligned once, or at
each evaluation. The choice is made on the training images of each fold; the tested ones show what it is worth. Folds
and matching (by nucleus) are those of ``declump reproduce``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import declump
from declump.datasets import AnnotatedImage, isbi2015
from declump.evaluation import Score, pool
from declump.evolution.evolve import Solver
from declump.evolution.trust_region import evolve_clump
from declump_paper.evolution.aligned import evolve_clump_aligned_each_time
from declump_paper.folds import folds

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from pages import ROOT, commit, replace_part

READINGS: dict[str, Solver] = {
    "aligned once": evolve_clump,
    "aligned at each evaluation": evolve_clump_aligned_each_time,
}


def segment(image: AnnotatedImage, prior: declump.ShapePrior, solver: Solver) -> tuple[Score, list[float], list[bool]]:
    """Score of one image, and of its clumps the unexplained share, and whether it fell to E*."""
    result = declump.evolve(image.clump, image.seeds, prior=prior, setting="paper", solver=solver)
    seeded = [clump for clump in result.clumps if clump.stopped != "no seed"]
    shares = [clump.energy / clump.size for clump in seeded]
    score = declump.score(image.cells, result.masks, matching="order")
    return score, shares, [clump.stopped == "explained" for clump in seeded]


def measure(images: list[AnnotatedImage]) -> list[str]:
    """Lines of the table."""
    lines = [
        "| | training images | tested images | TPR | E / clump | clumps that reach E* |",
        "|---|---|---|---|---|---|",
    ]
    for title, solver in READINGS.items():
        taught, tested, shares, explained = [], [], [], []
        groups = isbi2015.fields([image.name for image in images])
        for train, test in folds(len(images), n_folds=5, rng=0, train="one", groups=groups):
            prior = declump.learn_prior([images[index] for index in train], copies=False, reach=False)
            taught += [segment(images[index], prior, solver)[0] for index in train]
            for index in test:
                score, left, done = segment(images[index], prior, solver)
                tested.append(score)
                shares += left
                explained += done
        known, new = pool(taught), pool(tested)
        lines.append(
            f"| {title} | {known.dice_overlapping:.3f} | {new.dice_overlapping:.3f} | {new.tpr:.3f} | "
            f"{np.mean(shares):.3f} | {100 * np.mean(explained):.0f} % |"
        )
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--write", action="store_true", help="put the table into paper/docs/results.md")
    given = parser.parse_args()
    text = measure(list(isbi2015.read(given.data / "isbi2015")))
    text += [
        "",
        f"Dice of overlapping cells. Measured by `python paper/benchmarks/readings.py --write` at commit {commit()}.",
    ]
    print("\n".join(text))
    if given.write:
        replace_part("paper/docs/results.md", "readings", "\n".join(text))
