"""What was measured, by method: every tested image of every fold."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.evaluation import Score, pool
from declump_paper.research.fold_results import FoldResult, ImageScores
from declump_paper.research.methods import ExperimentMethod
from declump_paper.research.plan import Plan
from declump_paper.research.runs import Run

Floats = NDArray[np.float64]
FIGURES = ("tpr", "tnr", "fpr", "fnr_pixels", "fnr_objects", "dice_overlapping")
"""Figures of an image that methods are compared by."""


@dataclass(frozen=True, eq=False)
class Results:
    """Scores of all methods on the same images.

    Attributes
    ----------
    plan : Plan
    methods : tuple of ExperimentMethod
    tested : mapping of str to sequences of (fold, ImageScores)
        By method: each tested image of each fold.
    facts : mapping of str to sequences
        By method: what each fold's part tells beside.
    """

    plan: Plan
    methods: tuple[ExperimentMethod, ...]
    tested: Mapping[str, tuple[tuple[int, ImageScores], ...]]
    facts: Mapping[str, tuple[Mapping[str, Any], ...]]

    def restrict(self, images: Collection[int]) -> Results:
        """Give the same for some of the images alone."""
        tested = {
            name: tuple((fold, one) for fold, one in found if one.image in images)
            for name, found in self.tested.items()
        }
        return Results(self.plan, self.methods, tested, self.facts)

    def pooled(self, method: str) -> Score:
        """Score over all tested cells."""
        return pool(one.score for _, one in self.tested[method])

    def by_image(self, method: str, figure: str) -> dict[int, float]:
        """A figure of each image, the mean of all folds that tested it."""
        values: dict[int, list[float]] = {}
        for _, one in self.tested[method]:
            values.setdefault(one.image, []).append(float(getattr(one.score, figure)))
        return {image: float(np.mean(values[image])) for image in sorted(values)}

    def by_cell(self, method: str) -> dict[int, Floats]:
        """Dice of the overlapping cells of each image, the mean of all folds that tested it."""
        values: dict[int, list[Floats]] = {}
        for _, one in self.tested[method]:
            values.setdefault(one.image, []).append(one.score.dice[one.score.overlap_degree > 0])
        return {image: np.mean(values[image], axis=0) for image in sorted(values)}

    def every(self, method: str, figure: str) -> Floats:
        """A figure of every tested image of every fold, without those for which there is none."""
        values = np.array([getattr(one.score, figure) for _, one in self.tested[method]], dtype=np.float64)
        return values[np.isfinite(values)]


def collect_results(run: Run) -> Results:
    """Read the parts of a run; what is run on every image once counts in every fold that tests the image."""
    parts = run.fold_results()
    tested, facts = {}, {}
    for method in run.methods:
        of_fold = {fold.number: parts[fold.number, method.name] for fold in run.plan.folds}
        known = {one.image: one for part in of_fold.values() for one in part.tested} if run.runs_once(method) else {}
        tested[method.name] = tuple(
            (fold.number, known[image] if known else _of(of_fold[fold.number], image))
            for fold in run.plan.folds
            for image in fold.test
        )
        facts[method.name] = tuple(part.facts for part in of_fold.values())
    return Results(run.plan, run.methods, tested, facts)


def _of(part: FoldResult, image: int) -> ImageScores:
    return next(one for one in part.tested if one.image == image)
