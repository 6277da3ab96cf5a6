"""Importance learning on against off, and whether its outcome depends on order and step, by the paper's five folds.

    python benchmarks/importance.py --data ../shared/data --write

True clump masks and nuclei; one fifth trains, four fifths test. Takes about a quarter of an hour on two cores.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import declump
from accuracy import READERS, TITLES
from declump.datasets import AnnotatedImage, isbi2015
from declump.evaluation import bootstrap_interval, folds
from declump.importance import Importance, held_out_importance, learn_importance
from pages import ROOT, commit, replace_part

SETTINGS = {"paper": {"copies": False, "reach": False}, "joint": {"copies": True, "reach": True}}
"""What the prior is learnt with in each setting, as in benchmarks/accuracy.py."""
ORDERS, STEPS, MANY_CYCLES = (0, 1, 2), (0.25, 4.0), 4
"""Orders that are compared with a step of 1, other steps that are compared in the first order, and the bound then."""
COMPARED_FOLD = 3
"""Fold on which orders and steps are compared: the smallest of ISBI 2015."""


@dataclass(frozen=True)
class Measured:
    """Images under one prior: E and size of all clumps in pixels, and Dice of overlapping cells by image."""

    energy: int
    size: int
    dice: list[np.ndarray]

    @property
    def share(self) -> float:
        """Share of the clumps that is left unexplained."""
        return self.energy / self.size

    @property
    def mean_dice(self) -> float:
        """Mean over all overlapping cells."""
        return float(np.concatenate(self.dice).mean())


def measured(images: list[AnnotatedImage], prior: declump.ShapePrior, setting: str, jobs: int) -> Measured:
    def one(image: AnnotatedImage) -> tuple[int, int, np.ndarray]:
        result = declump.evolve(image.clump, image.seeds, prior=prior, setting=setting)
        score = declump.score(image.cells, result.masks, matching="order")
        return int(result.energy.sum()), int(image.clump.sum()), score.dice[score.overlap_degree > 0]

    with ThreadPoolExecutor(jobs) as threads:
        energies, sizes, dice = zip(*threads.map(one, images), strict=True)
    print(".", end="", file=sys.stderr, flush=True)
    return Measured(sum(energies), sum(sizes), list(dice))


def learnt(images: list[AnnotatedImage], setting: str, jobs: int, **how: float) -> Importance:
    """Importance as printed, with its defaults unless others are given."""
    found = learn_importance(images, setting=setting, workers=jobs, **SETTINGS[setting], **how)
    print("+", end="", file=sys.stderr, flush=True)
    return found


def on_against_off(name: str, images: list[AnnotatedImage], split: list, jobs: int) -> tuple[list[str], float]:
    """Rows of the table, and the longest time of learning a fold."""
    rows, longest = [], 0.0
    groups = isbi2015.fields([image.name for image in images]) if name == "isbi2015" else range(len(images))
    for setting, options in SETTINGS.items():
        differences: dict[str, dict[int, list]] = {method: defaultdict(list) for method in ("printed", "held-out")}
        figures, raises, seconds = defaultdict(list), [], []
        for train, test in split:
            taught, asked = [images[index] for index in train], [images[index] for index in test]
            start = time.perf_counter()
            importance = {"off": None, "printed": learnt(taught, setting, jobs)}
            seconds.append(time.perf_counter() - start)
            importance["held-out"] = held_out_importance(taught, copies=options["copies"])
            raises.append(len(importance["printed"].steps))
            for method, weights in importance.items():
                prior = declump.learn_prior(taught, importance=weights, **options)
                figures[method].append(measured(asked, prior, setting, jobs))
                if method != "off":
                    pairs = zip(test, figures[method][-1].dice, figures["off"][-1].dice, strict=True)
                    for index, on, off in pairs:
                        differences[method][groups[index]].append(on - off)
        longest = max(longest, *seconds)
        for method, parts in figures.items():
            dice = np.mean(np.concatenate([values for part in parts for values in part.dice]))
            share = np.sum([part.energy for part in parts]) / np.sum([part.size for part in parts])
            change = (
                ""
                if method == "off"
                else str(bootstrap_interval([np.concatenate(values) for values in differences[method].values()]))
            )
            more = f"{np.mean(raises):.0f} a fold, {np.mean(seconds):.0f} s" if method == "printed" else ""
            rows.append(f"| `{setting}` | {method} | {dice:.4f} | {change} | {100 * share:.2f} % | {more} |")
    return rows, longest


def orders_and_steps(images: list[AnnotatedImage], train: np.ndarray, test: np.ndarray, jobs: int) -> list[str]:
    """Rows for several orders and steps in the setting "paper", and how far the learnt means agree."""
    taught, asked = [images[index] for index in train], [images[index] for index in test]

    def row(label: str, weights: np.ndarray | None, ends: str) -> tuple[str, np.ndarray]:
        prior = declump.learn_prior(taught, importance=weights, **SETTINGS["paper"])
        own, others = (measured(part, prior, "paper", jobs) for part in (taught, asked))
        moved = 100 * np.linalg.norm(prior.mean - plain) / np.linalg.norm(plain)
        figures = f"{moved:.2f} % | {100 * own.share:.2f} % | {100 * others.share:.2f} % | {others.mean_dice:.4f}"
        return f"| {label} | {ends} | {figures} |", prior.mean

    plain = declump.learn_prior(taught, **SETTINGS["paper"]).mean
    rows, means, shuffled = [row("all weights 1", None, "| |")[0]], [], []
    runs = [(order, 1.0) for order in ORDERS] + [(ORDERS[0], step) for step in STEPS]
    for order, step in runs:
        found = learnt(taught, "paper", jobs, rng=order, step=step, cycles=MANY_CYCLES)
        ends = f"{len(found.steps)} | {found.cycles} | {found.ended}"
        text, mean = row(f"order {order}, l = {step:g}", found.weights, ends)
        rows.append(text)
        means.append(mean - plain)
        if step == 1.0:
            control = np.random.default_rng(order).permutation(found.weights)
            shuffled.append(row(f"weights of order {order}, shuffled among the examples", control, "| |")[0])
    orders = means[: len(ORDERS)]
    apart = [np.linalg.norm(one - two) for one, two in itertools.combinations(orders, 2)]
    ratio = np.mean(apart) / np.mean([np.linalg.norm(mean) for mean in orders])
    angles = [one @ two / np.linalg.norm(one) / np.linalg.norm(two) for one, two in itertools.combinations(orders, 2)]
    agreement = (
        f"Two orders move the mean to places that are {ratio:.2f} times as far apart as each is from where it began "
        f"(0 if they agreed, 1.41 if they had nothing to do with each other; cosines of the moves "
        f"{', '.join(f'{value:.2f}' for value in angles)})."
    )
    return [*rows, *shuffled, "", agreement]


ON_OFF = (
    "setting",
    "importance",
    "Dice, overlapping cells",
    "difference from off (95 % interval)",
    "E / clump",
    "raises, time",
)
ORDERED = (
    "",
    "raises",
    "cycles",
    "ended",
    "mean moved by",
    "E / clump, training",
    "E / clump, test",
    "Dice, test",
)


def header(columns: tuple[str, ...]) -> str:
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--folds", type=int, default=5, choices=range(1, 6), help="number of folds that train")
    parser.add_argument("--only", choices=list(READERS), help="measure one data set alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="threads")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/results.md")
    options = parser.parse_args()
    if not options.data.is_dir():
        sys.exit(f"there is no folder {options.data}: give the one that holds isbi2014 and isbi2015 with --data")
    how = f"{options.folds} of 5 folds, {options.jobs} threads"
    text = [f"Measured by `python benchmarks/importance.py --write` at commit {commit()} ({how}).", ""]
    for name in [options.only] if options.only else READERS:
        images = list(READERS[name].read(options.data / name))
        groups = isbi2015.fields([image.name for image in images]) if name == "isbi2015" else None
        split = folds(len(images), groups=groups)
        rows, longest = on_against_off(name, images, split[: options.folds], options.jobs)
        text += [f"### {TITLES[name]}", "", header(ON_OFF), *rows, ""]
        text += [f"Learning the importance of one fold as printed took at most {longest:.0f} s (target: 300).", ""]
        text += [f"Orders and steps, fold {COMPARED_FOLD}, setting `paper`, at most {MANY_CYCLES} cycles:", ""]
        text += [header(ORDERED), *orders_and_steps(images, *split[COMPARED_FOLD], options.jobs), ""]
    print("\n".join(text))
    if options.write:
        replace_part("docs/results.md", "importance", "\n".join(text))


if __name__ == "__main__":
    main()
