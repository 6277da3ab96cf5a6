"""Expected radii: how far each cell reaches along each ray, by the prior's reach and by proposals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from declump.evolution.energy import ray_misfit, robust_weights
from declump.evolution.settings import Settings
from declump.evolution.terms.term import RadiusDerivatives, SoftOutlines, Term
from declump.records.evidence import DrawnRadii, ProposedRadii
from declump.shapes.reach import ReachModel

Floats = NDArray[np.float64]


class ExpectedRadii(NamedTuple):
    """What is expected of the radii of N cells, K rays each; a ray of precision 0 may end anywhere.

    Attributes
    ----------
    targets, precisions, tolerances : (N, K) float64
        See :func:`declump.evolution.energy.ray_misfit`.
    by_reach : bool
        Whether the reach tells of every ray that nothing else tells of.
    proposed : (N,) bool
        Which cells have a proposal of their own.
    """

    targets: Floats
    precisions: Floats
    tolerances: Floats
    by_reach: bool
    proposed: NDArray[np.bool_]


def expect_nothing(cells: int, rays: int) -> ExpectedRadii:
    """Expect nothing of any ray."""
    zeros = np.zeros((cells, rays))
    return ExpectedRadii(zeros, zeros, np.full((cells, rays), np.inf), False, np.zeros(cells, dtype=np.bool_))


def expect_reach(
    reach: ReachModel, exits: Floats, seeds: NDArray[np.int64], mean_radius: float, settings: Settings
) -> ExpectedRadii:
    """Expect of every ray what the prior's reach tells by the first exits (N, K) and seeds (N, 2) of a clump."""
    precision = settings.reach_weight * np.pi / (exits.shape[1] * reach.spread**2)
    return expect_nothing(*exits.shape)._replace(
        targets=reach.expected(exits, seeds, mean_radius), precisions=np.full(exits.shape, precision), by_reach=True
    )


def expect_proposals(
    expected: ExpectedRadii, proposals: ProposedRadii, mean_radius: float, settings: Settings
) -> ExpectedRadii:
    """Put proposals, where they know anything, before what else is expected of the same rays."""
    known = np.isfinite(proposals.radii_std)
    spread = np.hypot(proposals.radii_std, settings.ray_floor * mean_radius)
    weight = settings.ray_weight * np.pi * mean_radius**2 / known.shape[1]
    return expected._replace(
        targets=np.where(known, proposals.radii, expected.targets),
        precisions=np.where(known, weight / spread**2, expected.precisions),
        tolerances=np.where(known, settings.robustness * spread, np.inf),
        proposed=np.asarray(known.any(axis=1)),
    )


def expect_drawn(expected: ExpectedRadii, drawn: DrawnRadii, mean_radius: float, settings: Settings) -> ExpectedRadii:
    """Put what a person drew before all else: it is taken at its word, however far off it is."""
    known = np.isfinite(drawn.drawn_std)
    weight = settings.ray_weight * np.pi * mean_radius**2 / known.shape[1]
    return expected._replace(
        targets=np.where(known, drawn.drawn, expected.targets),
        precisions=np.where(known, weight / drawn.drawn_std**2, expected.precisions),
        tolerances=np.where(known, np.inf, expected.tolerances),
        proposed=np.asarray(expected.proposed | known.any(axis=1)),
    )


class RayMisfit(Term):
    """How far radii are from expected ones, by a robust loss; see :func:`declump.evolution.energy.ray_misfit`."""

    def __init__(self, expected: ExpectedRadii) -> None:
        self.targets, self.precisions, self.tolerances = expected[:3]
        # Without proposals, in most clumps, the loss is the square.
        self.robust = bool(np.isfinite(self.tolerances).any())

    def value(self, parameters: Floats, outlines: SoftOutlines) -> float:
        """Sum over cells and rays of ``precision loss(radius - target)``."""
        return ray_misfit(outlines.radii, self.targets, self.precisions, self.tolerances)

    def add_by_radius(self, outlines: SoftOutlines, derivatives: RadiusDerivatives) -> None:
        """Add to each ray's own derivatives, with the weights of the robust loss at these radii."""
        residuals = outlines.radii - self.targets
        curvatures = 2 * self.precisions
        if self.robust:
            curvatures *= robust_weights(residuals, self.tolerances)
        derivatives.by_radius[...] += curvatures * residuals
        derivatives.diagonal[...] += curvatures
