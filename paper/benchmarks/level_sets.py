"""Ablation M with other level sets: ours, those of LSF and those of MCL, with the same hypotheses for shapes.

    python paper/benchmarks/level_sets.py --data ../shared/data --write

ISBI 2015, true regions, the paper's folds, no importance. What ``declump reproduce --methods L,M,M-lsf,M-mcl`` does on
all folds with importance, in a shorter time: the level sets of MCL take minutes a fold.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import declump
from declump.datasets import isbi2015
from declump.evaluation import Score, pool
from declump_paper.folds import folds
from declump_paper.research import choose_methods
from declump_paper.research.images import true_regions

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from pages import ROOT, commit, replace_part

METHODS = {
    "L": "joint selection (`L`)",
    "M": "our level sets (`M`)",
    "M-lsf": "those of LSF (`M-lsf`)",
    "M-mcl": "those of MCL (`M-mcl`)",
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--folds", type=int, default=5, choices=range(1, 6), help="number of folds that are run")
    parser.add_argument("--images", type=int, default=8, help="of the tested images of a fold the first so many")
    parser.add_argument("--write", action="store_true", help="put the table into paper/docs/results.md")
    given = parser.parse_args()
    known = list(isbi2015.read(given.data / "isbi2015"))
    groups = isbi2015.fields([image.name for image in known])
    split = folds(len(known), n_folds=5, rng=0, train="one", groups=groups)[-given.folds :]
    split = [(train, test[: given.images]) for train, test in split]
    priors = [declump.learn_prior([known[index] for index in train], copies=False, reach=False) for train, _ in split]
    bins = "(0, 1/4) | [1/4, 1/2) | [1/2, 3/4) | [3/4, 1]"
    text = [f"| | overlapping cells | {bins} | TPR |", "|---" * 7 + "|"]
    for method in choose_methods(list(METHODS), rays=False):
        scores: list[Score] = []
        for (_, test), prior in zip(split, priors, strict=True):
            for image in (known[index] for index in test):
                found = method.segment(image.image, true_regions(image), prior)
                scores.append(declump.score(image.cells, found.masks, matching="order"))
        overall = pool(scores)
        figures = [overall.dice_overlapping, *overall.dice_by_overlap, overall.tpr]
        text.append(f"| {METHODS[method.name]} | {' | '.join(f'{value:.3f}' for value in figures)} |")
        print(text[-1], flush=True)
    cells = sum(len(known[index].cells) for _, test in split for index in test)
    how = f"--folds {given.folds} --images {given.images}"
    text += [
        "",
        f"Dice, no importance, {cells} tested cells, each fold counted. Measured by "
        f"`python paper/benchmarks/level_sets.py {how} --write` at commit {commit()}.",
    ]
    if given.write:
        replace_part("paper/docs/results.md", "level sets", "\n".join(text))
