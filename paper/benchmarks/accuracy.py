"""Accuracy with true clump masks and nuclei, by the paper's five folds (one fifth trains, four fifths test).

    python paper/benchmarks/accuracy.py --data ../shared/data --write

Every figure is over cells of images that the prior did not see. Rows with "prior of ..." use a prior learnt on the
whole of the other data set.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import declump
from declump.datasets import AnnotatedImage, isbi2014, isbi2015
from declump.evaluation import Score, pool
from declump.evolution.settings import SETTINGS, Settings
from declump_paper.folds import folds

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from pages import ROOT, commit, replace_part

READERS = {"isbi2015": isbi2015, "isbi2014": isbi2014}
TITLES = {"isbi2015": "ISBI 2015 (8 frames, 320 cells)", "isbi2014": "ISBI 2014 train (45 images, 270 cells)"}


@dataclass(frozen=True)
class Row:
    """One way to learn and to evolve."""

    label: str
    setting: Settings
    copies: bool = True
    reach: bool = True
    scale: float | None = None


JOINT, PAPER = SETTINGS["joint"], SETTINGS["paper"]
ROWS = (
    Row("`joint` (default)", JOINT),
    Row("`joint`, scale not estimated but 1", JOINT, scale=1.0),
    Row("`joint`, without reach", JOINT, reach=False),
    Row("`joint`, without reach and copies", JOINT, copies=False, reach=False),
    Row("`joint`, stopped at E <= 5 %", replace(JOINT, explained=0.05)),
    Row("`joint`, outlines stay in the hypothesis set", replace(JOINT, snap=0.0)),
    Row("`paper`, no importance", PAPER, copies=False, reach=False),
)


def measure(images: list[AnnotatedImage], priors: list[declump.ShapePrior], tests: list[np.ndarray], row: Row) -> tuple:
    scores, seconds, cells, shares = [], 0.0, 0, []
    for prior, test in zip(priors, tests, strict=True):
        for index in test:
            image = images[index]
            clump = image.clump
            start = time.perf_counter()
            result = declump.evolve(clump, image.seeds, prior=prior, setting=row.setting, scale=row.scale)
            seconds, cells = seconds + time.perf_counter() - start, cells + len(result)
            scores.append([declump.score(image.cells, result.masks, matching=way) for way in ("order", "greedy")])
            shares.append(result.energy.sum() / clump.sum())
        print(".", end="", file=sys.stderr, flush=True)
    by_nucleus, greedy = (pool(part) for part in zip(*scores, strict=True))
    return by_nucleus, greedy.dice_overlapping, 1e3 * seconds / cells, float(np.mean(shares))


def line(label: str, score: Score, greedy: float, milliseconds: float, share: float) -> str:
    hidden = score.overlap_degree > 0
    spread, bad = score.dice[hidden].std(), 100 * np.mean(score.dice[hidden] <= 0.7)
    bins = " | ".join(f"{value:.3f}" for value in score.dice_by_overlap)
    return (
        f"| {label} | {score.dice_overlapping:.3f} ± {spread:.3f} | {greedy:.3f} | {score.dice_all:.3f} | {bins} "
        f"| {bad:.1f} % | {score.aji:.3f} | {100 * share:.1f} % | {milliseconds:.1f} |"
    )


COLUMNS = (
    "",
    "overlapping cells",
    "the same, greedy",
    "all cells",
    "(0, 1/4)",
    "[1/4, 1/2)",
    "[1/2, 3/4)",
    "[3/4, 1]",
    "Dice <= 0.7",
    "AJI",
    "E / clump",
    "ms a cell",
)
HEADER = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


def table(name: str, folder: Path, other: declump.ShapePrior, other_name: str) -> tuple[list[str], Score]:
    """Rows for one data set, and the score of the first."""
    images = list(READERS[name].read(folder / name))
    groups = isbi2015.fields([image.name for image in images]) if name == "isbi2015" else None
    split = folds(len(images), groups=groups)
    tests = [test for _, test in split]
    lines, scores = [f"### {TITLES[name]}", "", HEADER], []
    for row in ROWS:
        priors = [
            declump.learn_prior([images[index] for index in train], copies=row.copies, reach=row.reach)
            for train, _ in split
        ]
        modes = sorted(prior.variances.size for prior in priors)
        result = measure(images, priors, tests, row)
        scores.append(result[0])
        lines.append(line(f"{row.label} (t = {modes[0]} to {modes[-1]})", *result))
    result = measure(images, [other], [np.arange(len(images))], ROWS[0])
    lines.append(line(f"`joint`, prior of all of {other_name}, each image once", *result))
    return [*lines, ""], scores[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--write", action="store_true", help="put the figures into paper/docs/results.md")
    options = parser.parse_args()
    if not options.data.is_dir():
        sys.exit(f"there is no folder {options.data}: give the one that holds isbi2014 and isbi2015 with --data")
    whole = {name: declump.learn_prior(reader.read(options.data / name)) for name, reader in READERS.items()}
    origin = f"Measured by `python paper/benchmarks/accuracy.py --write` at commit {commit()}."
    text, headline = (
        [origin, ""],
        ["| | overlapping cells | all cells | mostly hidden (3/4 or more) |", "|---|---|---|---|"],
    )
    for name, other in (("isbi2015", "isbi2014"), ("isbi2014", "isbi2015")):
        lines, score = table(name, options.data, whole[other], other.replace("isbi", "ISBI "))
        text += lines
        figures = (score.dice_overlapping, score.dice_all, score.dice_by_overlap[-1])
        headline.append(f"| {TITLES[name]} | {' | '.join(f'{value:.3f}' for value in figures)} |")
    print("\n".join(text))
    if options.write:
        replace_part("paper/docs/results.md", "accuracy", "\n".join(text))
        replace_part("docs/results.md", "headline", "\n".join([*headline, "", origin]))


if __name__ == "__main__":
    main()
