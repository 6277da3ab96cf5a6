"""Importance learning on against off, and whether its outcome depends on order and step, by the paper's five folds.

    python paper/benchmarks/importance.py --data ../shared/data --write

True clump masks and nuclei, E of a clump; one fifth trains, four fifths test. Takes about a quarter of an hour on two
cores. E of an image, and found clumps: importance_units.py.
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
from declump.datasets import AnnotatedImage, isbi2015
from declump.evaluation import bootstrap_interval
from declump.training.prior import collect_clumps
from declump_paper.folds import folds
from declump_paper.importance import Importance, held_out_importance, learn_importance
from declump_paper.importance.held_out import energy_of_new_shapes
from declump_paper.importance.printed import Training

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from accuracy import READERS, TITLES
from pages import ROOT, commit, replace_part

SETTINGS = {"paper": {"copies": False, "reach": False}, "joint": {"copies": True, "reach": True}}
"""What the prior is learnt with in each setting, as in paper/benchmarks/accuracy.py."""
ORDERS, STEPS, MANY_CYCLES = (0, 1, 2), (0.25, 4.0), 3
"""Orders that are compared with a step of 1, other steps that are compared in the first order, and the bound then."""
COMPARED_FOLD = 3
"""Fold on which orders and steps are compared: the smallest of ISBI 2015."""
RAISES, DRAWN = (0.001, 0.1, 1.0), 5
"""By how much, and on how many examples one at a time, the answer of E to a raise is measured."""


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


def measure(images: list[AnnotatedImage], prior: declump.ShapePrior, setting: str, jobs: int) -> Measured:
    def one(image: AnnotatedImage) -> tuple[int, int, np.ndarray]:
        result = declump.evolve(image.clump, image.seeds, prior=prior, setting=setting)
        score = declump.score(image.cells, result.masks, matching="order")
        return int(result.energy.sum()), int(image.clump.sum()), score.dice[score.overlap_degree > 0]

    with ThreadPoolExecutor(jobs) as threads:
        energies, sizes, dice = zip(*threads.map(one, images), strict=True)
    print(".", end="", file=sys.stderr, flush=True)
    return Measured(sum(energies), sum(sizes), list(dice))


def examples(images: list[AnnotatedImage]) -> np.ndarray:
    """Whole shapes (N, K) of images."""
    return np.concatenate([known.radii for clumps in collect_clumps(images) for known in clumps])


def learn(images: list[AnnotatedImage], setting: str, jobs: int, **how: float) -> Importance:
    """Importance as printed, with its defaults unless others are given."""
    found = learn_importance(images, setting=setting, workers=jobs, **SETTINGS[setting], **how)
    print("+", end="", file=sys.stderr, flush=True)
    return found


@dataclass
class Comparison:
    """What one setting came to with each kind of importance, over the folds."""

    figures: dict[str, list[Measured]]
    energies: dict[str, list[float]]
    differences: dict[str, dict[int, list[np.ndarray]]]
    raises: list[int]
    seconds: list[float]

    def rows(self, setting: str) -> list[str]:
        """One line of the table a kind."""
        found = []
        for method, parts in self.figures.items():
            dice = np.mean(np.concatenate([values for part in parts for values in part.dice]))
            share = sum(part.energy for part in parts) / sum(part.size for part in parts)
            by_image = [np.concatenate(values) for values in self.differences[method].values()]
            cells = [
                f"`{setting}`",
                method,
                f"{dice:.4f}",
                str(bootstrap_interval(by_image)) if by_image else "",
                f"{100 * share:.2f} %",
                f"{np.mean(self.energies[method]):.4f}" if self.energies[method] else "",
                f"{np.mean(self.raises):.0f} a fold, {np.mean(self.seconds):.0f} s" if method == "printed" else "",
            ]
            found.append(f"| {' | '.join(cells)} |")
        return found


def on_against_off(images: list[AnnotatedImage], groups: list[int], split: list, setting: str, jobs: int) -> Comparison:
    """Learn and measure with each kind of importance; cells of a group of images are drawn together."""
    options, shapes = SETTINGS[setting], [examples([image]) for image in images]
    result = Comparison(defaultdict(list), defaultdict(list), defaultdict(lambda: defaultdict(list)), [], [])
    for train, test in split:
        taught, asked = [images[index] for index in train], [images[index] for index in test]
        known, new = (np.concatenate([shapes[index] for index in part]) for part in (train, test))
        start = time.perf_counter()
        printed = learn(taught, setting, jobs)
        result.seconds.append(time.perf_counter() - start)
        result.raises.append(len(printed.steps))
        held_out = held_out_importance(taught, copies=options["copies"])
        for method, weights in (("off", np.ones(len(known))), ("held-out", held_out.weights)):
            result.energies[method].append(energy_of_new_shapes(new, known, weights, copies=options["copies"]))
        for method, importance in (("off", None), ("printed", printed), ("held-out", held_out)):
            weights = {} if importance is None else importance.to_weights()
            prior = declump.learn_prior(taught, **weights, **options)
            result.figures[method].append(measure(asked, prior, setting, jobs))
            if importance is not None:
                pairs = zip(test, result.figures[method][-1].dice, result.figures["off"][-1].dice, strict=True)
                for index, on, off in pairs:
                    result.differences[method][groups[index]].append(on - off)
    return result


def orders_and_steps(images: list[AnnotatedImage], train: np.ndarray, test: np.ndarray, jobs: int) -> list[str]:
    """Rows for several orders and steps in the setting "paper", and how far the learnt means agree."""
    taught, asked = [images[index] for index in train], [images[index] for index in test]

    def row(label: str, weights: np.ndarray | None, ends: str) -> tuple[str, np.ndarray]:
        prior = declump.learn_prior(taught, weights=weights, **SETTINGS["paper"])
        own, others = (measure(part, prior, "paper", jobs) for part in (taught, asked))
        # An evolution estimates the size itself: only what is left at equal size makes a difference.
        shape = prior.mean / prior.mean.mean()
        moved = 100 * np.linalg.norm(shape - plain) / np.linalg.norm(plain)
        figures = f"{moved:.2f} % | {100 * own.share:.2f} % | {100 * others.share:.2f} % | {others.mean_dice:.4f}"
        return f"| {label} | {ends} | {figures} |", shape

    plain = declump.learn_prior(taught, **SETTINGS["paper"]).mean
    plain = plain / plain.mean()
    rows, means, shuffled = [row("all weights 1", None, "| |")[0]], [], []
    runs = [(order, 1.0) for order in ORDERS] + [(ORDERS[0], step) for step in STEPS]
    for order, step in runs:
        found = learn(taught, "paper", jobs, rng=order, step=step, cycles=MANY_CYCLES)
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
        f"Two orders move the mean, at equal size, to places that are {ratio:.2f} times as far apart as each is from "
        f"where it began (0 if they agreed, 1.41 if they had nothing to do with each other; cosines of the moves "
        f"{', '.join(f'{value:.2f}' for value in angles)})."
    )
    return [*rows, *shuffled, "", agreement]


def answers_to_a_raise(images: list[AnnotatedImage], train: np.ndarray, jobs: int) -> list[str]:
    """Rows of how the terminated E of training clumps answers when the weight of any one example is raised."""
    rows, known = [], collect_clumps([images[index] for index in train])
    for setting, options in SETTINGS.items():
        training = Training(known, setting, modes=None, **options)
        plain, count = training.shapes.plain.mean, training.shapes.count

        def energies(weights: np.ndarray, training: Training = training) -> np.ndarray:
            with ThreadPoolExecutor(jobs) as threads:
                return np.array(
                    list(threads.map(lambda clump: training.energy(clump, weights), range(len(training.groups))))
                )

        before = energies(np.ones(count))
        for step in RAISES:
            moved, changes = [], []
            for example in np.random.default_rng(0).choice(count, DRAWN, replace=False):
                weights = np.ones(count)
                weights[example] += step
                moved.append(np.linalg.norm(training.shapes.prior(weights).mean - plain) / np.linalg.norm(plain))
                changes.append(energies(weights) / before - 1)
            size, fell = np.sqrt(np.mean(np.square(changes))), np.mean(np.array(changes) < 0)
            cells = (
                f"`{setting}`",
                f"{step:g}",
                f"{100 * np.mean(moved):.4f} %",
                f"{100 * size:.1f} %",
                f"{100 * fell:.0f} %",
            )
            rows.append(f"| {' | '.join(cells)} |")
    return rows


ON_OFF = (
    "setting",
    "importance",
    "Dice, overlapping cells",
    "difference from off (95 % interval)",
    "E / clump",
    "energy of test shapes",
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
RAISED = ("setting", "raise of one weight by", "mean moves by", "E of a clump changes by (r.m.s.)", "E falls in")


def header(columns: tuple[str, ...]) -> str:
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--folds", type=int, default=5, choices=range(1, 6), help="number of folds that train")
    parser.add_argument("--only", choices=list(READERS), help="measure one data set alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="threads")
    parser.add_argument("--write", action="store_true", help="put the figures into paper/docs/results.md")
    options = parser.parse_args()
    if not options.data.is_dir():
        sys.exit(f"there is no folder {options.data}: give the one that holds isbi2014 and isbi2015 with --data")
    how = f"{options.folds} of 5 folds, {options.jobs} threads"
    only = f" --only {options.only}" if options.only else ""
    text = [f"Measured by `python paper/benchmarks/importance.py{only} --write` at commit {commit()} ({how}).", ""]
    for name in [options.only] if options.only else READERS:
        images = list(READERS[name].read(options.data / name))
        fields = isbi2015.fields([image.name for image in images]) if name == "isbi2015" else None
        split = folds(len(images), groups=fields)
        text += [f"### {TITLES[name]}", "", header(ON_OFF)]
        longest = 0.0
        for setting in SETTINGS:
            groups = list(range(len(images))) if fields is None else list(fields)
            compared = on_against_off(images, groups, split[: options.folds], setting, options.jobs)
            text += compared.rows(setting)
            longest = max(longest, *compared.seconds)
        text += ["", f"Learning the importance of one fold as printed took at most {longest:.0f} s (target: 300).", ""]
        text += [f"Orders and steps, fold {COMPARED_FOLD}, setting `paper`, at most {MANY_CYCLES} cycles:", ""]
        text += [header(ORDERED), *orders_and_steps(images, *split[COMPARED_FOLD], options.jobs), ""]
        text += [f"How E of the training clumps of fold {COMPARED_FOLD} answers to the raise of any one weight:", ""]
        text += [header(RAISED), *answers_to_a_raise(images, split[COMPARED_FOLD][0], options.jobs), ""]
    print("\n".join(text))
    if options.write:
        replace_part("paper/docs/results.md", "importance", "\n".join(text))


if __name__ == "__main__":
    main()
