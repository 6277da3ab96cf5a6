"""Learns how far to trust a cell, and measures on held-out images whether the probabilities hold.

    python benchmarks/confidence.py --data ../shared/data --write

The cells come end to end from images that the models of benchmarks/models did not see; a false cell reaches no Dice. A
confidence is learnt on the cells of four fifths of these images and tested on those of the last fifth. What is kept is
learnt on all of them.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import declump
from declump.measurements import Calibration, Confidence, calibration_curve, confidence_features, fit_confidence
from declump.measurements.confidence import GOOD_DICE
from evidence import READERS, Case, cases_of
from pages import ROOT, commit, replace_part

FOLDS = 5
RIDGE = 20.0
"""Price of the weights: of 1, 3, 10, 20, 40 and 80 the best Brier score of images that are left out one by one."""
SHIPPED = ROOT / "src" / "declump" / "data" / "confidence.json"


@dataclass(frozen=True)
class Cells:
    """Features of cells, whether each reached the Dice, and the fold in which it was held out."""

    features: dict[str, np.ndarray]
    reached: np.ndarray
    fold: np.ndarray

    def part(self, which: np.ndarray) -> Cells:
        """Some of the cells."""
        features = {name: values[which] for name, values in self.features.items()}
        return Cells(features, self.reached[which], self.fold[which])


def join_cells(parts: list[Cells]) -> Cells:
    names = parts[0].features
    features = {name: np.concatenate([part.features[name] for part in parts]) for name in names}
    return Cells(
        features, np.concatenate([part.reached for part in parts]), np.concatenate([part.fold for part in parts])
    )


def find_cells(case: Case, fold: int) -> Cells:
    """Cells of one image, from the image alone."""
    image = case.image
    result = declump.segment(image.image, regions=case.found, rays=case.rays, prior=case.prior)
    score, dice = declump.score(image.cells, result.masks), np.zeros(len(result))
    met = score.matched >= 0
    dice[score.matched[met]] = score.dice[met]
    features = confidence_features(declump.measure(result, image.image, prior=case.prior).cells)
    return Cells(features, dice >= GOOD_DICE, np.full(len(result), fold))


def held_out_probability(cells: Cells) -> np.ndarray:
    """Probability of each cell by the confidence learnt on the other folds."""
    probability = np.empty(len(cells.reached))
    for fold in np.unique(cells.fold):
        learnt, tested = cells.part(cells.fold != fold), cells.fold == fold
        confidence = fit_confidence(learnt.features, learnt.reached, ridge=RIDGE)
        probability[tested] = confidence.probability(cells.part(tested).features)
    return probability


def ranking(probability: np.ndarray, reached: np.ndarray) -> float:
    """Share of pairs of a good and another cell in which the good one has the greater probability (area under ROC)."""
    difference = probability[reached][:, None] - probability[~reached]
    return float(np.mean((difference > 0) + 0.5 * (difference == 0)))


def report(cells: Cells, probability: np.ndarray, curve: Calibration, kept: Confidence, source: str) -> str:
    share = cells.reached.mean()
    lines = [
        f"Measured by `{kept.card['command']}` at commit {commit()} on {source}: {len(cells.reached)} "
        f"cells, of which {100 * share:.1f} % reach a Dice of {GOOD_DICE}.",
        "",
        f"Expected calibration error {curve.error:.3f}; Brier score {curve.brier:.3f}, against "
        f"{share * (1 - share):.3f} for the mean share alone; a good cell ranks above another in "
        f"{100 * ranking(probability, cells.reached):.0f} % of pairs.",
        "",
        "| probability | promised | observed | cells |",
        "|---|---|---|---|",
    ]
    for index, count in enumerate(curve.count):
        low, high = index / len(curve.count), (index + 1) / len(curve.count)
        shares = f"{curve.predicted[index]:.2f} | {curve.observed[index]:.2f}" if count else " | "
        lines.append(f"| {low:.1f} to {high:.1f} | {shares} | {count} |")
    lines += ["", "| feature | weight a standard deviation |", "|---|---|"]
    order = np.argsort(-np.abs(kept.weights))
    lines += [f"| `{kept.names[index]}` | {kept.weights[index]:+.2f} |" for index in order]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / "benchmarks" / "models")
    parser.add_argument("--write", action="store_true", help="keep the confidence, and put the figures into docs")
    options = parser.parse_args()
    cases = [case for name in READERS for case in cases_of(name, options.data, options.models)]
    cells = join_cells([find_cells(case, index % FOLDS) for index, case in enumerate(cases)])
    source = f"{len(cases)} images of {' and '.join(READERS)}, end to end"
    probability = held_out_probability(cells)
    curve = calibration_curve(probability, cells.reached)
    card = {
        "dice": GOOD_DICE,
        "cells": len(cells.reached),
        "reached": int(cells.reached.sum()),
        "data": source,
        "held-out calibration error": round(curve.error, 4),
        "command": " ".join(["python", "benchmarks/confidence.py", *sys.argv[1:]]),
    }
    kept = fit_confidence(cells.features, cells.reached, ridge=RIDGE, card=card)
    text = report(cells, probability, curve, kept, source)
    print(text)
    if options.write:
        kept.save(SHIPPED)
        replace_part("docs/measurements.md", "calibration", text)


if __name__ == "__main__":
    main()
