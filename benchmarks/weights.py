"""Learns the weights of the evidence on images that the networks did not see.

    python benchmarks/weights.py --data ../shared/data

Weights are chosen on the held-out images of one fold of benchmarks/models and measured on those of the other, which
tells what choosing them is worth; the settings of the package are what is chosen on all of them together. Half of the
merit is Dice over overlapping cells with true regions, half end to end over all cells, missed ones counting 0.

Everything counts twice: with the proposals as they are, and with every twentieth replaced by that of another cell of
the image, as sure as it was there. What is chosen has to bear proposals that are wrong and do not know it, of which
images like those learnt from have too few. The weights of the shape (``penalty``, ``scale_penalty``) stay as they are:
they also serve where there is no evidence.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

import declump
from choosing import choose_best
from declump.evaluation import Score, pool
from declump.evidence import Evidence
from declump.evolution.settings import SETTINGS, Settings
from evidence import READERS, Case, cases_of
from pages import ROOT

CHOICES = {
    "ray_weight": (0.01, 0.02, 0.03, 0.05, 0.08, 0.15),
    "ray_floor": (0.0, 0.03, 0.06),
    "robustness": (2.0, 3.0, 6.0, np.inf),
}
MIN_GAIN = 5e-4
WRONG = 20
"""Every so manieth proposal is replaced by a wrong one."""
Ready = tuple[Case, list[tuple]]


def prepare_cases(cases: list[Case]) -> list[Ready]:
    """Cases with their evidence, which does not depend on the weights."""
    result = []
    for case in cases:
        parts = []
        for matching, regions in (("order", case.true), ("greedy", case.found)):
            evidence = case.propose(regions)
            parts += [(matching, regions, evidence), (matching, regions, with_wrong(evidence))]
        result.append((case, parts))
    return result


def with_wrong(evidence: Evidence | None) -> Evidence | None:
    """Every twentieth proposal is that of the cell ten further on."""
    if evidence is None or evidence.radii is None or evidence.radii_std is None:
        return evidence
    count = len(evidence.radii)
    which = np.arange(count)
    which[::WRONG] = (which[::WRONG] + WRONG // 2) % count
    return replace(evidence, radii=evidence.radii[which], radii_std=evidence.radii_std[which])


def merit(sets: list[list[Ready]], settings: Settings) -> float:
    """Mean over data sets of Dice with true regions and end to end."""
    pixel_scores = []
    for cases in sets:
        scores: dict[str, list[Score]] = {"order": [], "greedy": []}
        for case, parts in cases:
            for matching, regions, evidence in parts:
                found = declump.evolve(
                    regions.clump, regions.seeds, evidence=evidence, prior=case.prior, setting=settings
                )
                scores[matching].append(declump.score(case.image.cells, found.masks, matching=matching))
        pixel_scores.append((pool(scores["order"]).dice_overlapping + pool(scores["greedy"]).dice_all) / 2)
    return float(np.mean(pixel_scores))


def difference(settings: Settings) -> dict[str, float]:
    return {name: getattr(settings, name) for name in CHOICES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / "benchmarks" / "models")
    options = parser.parse_args()
    sets = [prepare_cases(cases_of(name, options.data, options.models)) for name in READERS]
    folds = sorted({case.rays for cases in sets for case, _ in cases})
    start = replace(SETTINGS["joint"])
    for fold in folds:
        own = [[part for part in cases if part[0].rays == fold] for cases in sets]
        others = [[part for part in cases if part[0].rays != fold] for cases in sets]
        if all(others):
            learnt = choose_best(
                start, CHOICES, lambda settings, others=others: merit(others, settings), min_gain=MIN_GAIN
            )
            print(
                f"{fold.stem}: {merit(own, start):.4f} with the present weights, {merit(own, learnt):.4f} with those "
                f"learnt on the other folds, {difference(learnt)}",
                flush=True,
            )
    learnt = choose_best(start, CHOICES, lambda settings: merit(sets, settings), min_gain=MIN_GAIN)
    print(f"on all folds: {merit(sets, start):.4f} with the present weights, {merit(sets, learnt):.4f} with")
    print(difference(learnt))


if __name__ == "__main__":
    main()
