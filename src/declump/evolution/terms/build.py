"""Which terms the energy of a clump has: the one place that tells which evidence becomes which term."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump.evolution.settings import Settings
from declump.evolution.terms.discrepancy import Discrepancy
from declump.evolution.terms.rays import (
    ExpectedRadii,
    RayMisfit,
    expect_drawn,
    expect_nothing,
    expect_proposals,
    expect_reach,
)
from declump.evolution.terms.shape import ShapePrice
from declump.evolution.terms.term import Term
from declump.records.clump import Clump
from declump.records.evidence import DrawnRadii, Evidence, ProposedRadii
from declump.shapes.prior import ShapePrior

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EnergyTerms:
    """The terms of a clump's energy.

    Attributes
    ----------
    discrepancy : Discrepancy
        The clump itself, by which the evolution is told that it is done.
    shape : ShapePrice
        What shapes cost, also those to start from.
    expected : ExpectedRadii
        What the evolution starts from.
    every : tuple of Term
        All terms, in the order in which they are added up.
    """

    discrepancy: Discrepancy
    shape: ShapePrice
    expected: ExpectedRadii
    every: tuple[Term, ...]


def build_terms(
    clump: Clump, prior: ShapePrior, settings: Settings, exits: Floats, mean_radius: float, evidence: Evidence | None
) -> EnergyTerms:
    """Build the terms of a clump's energy that the settings give any weight.

    Parameters
    ----------
    clump : Clump
    prior : ShapePrior
    settings : Settings
    exits : (N, K)
        First-exit distances of the clump from each seed.
    mean_radius : float
        Of the prior's shapes in pixels.
    evidence : Evidence, optional
        Of this clump.
    """
    evidence = Evidence() if evidence is None else evidence
    discrepancy, shape = Discrepancy(clump.mask, prior.rays), ShapePrice(prior.variances.size, mean_radius, settings)

    expected = expect_nothing(*exits.shape)
    if prior.reach is not None and settings.reach_weight > 0:
        expected = expect_reach(prior.reach, exits, clump.seeds, mean_radius, settings)
    radii = evidence.find(ProposedRadii)
    if radii is not None and settings.ray_weight > 0:
        expected = expect_proposals(expected, radii.resample(prior.rays), mean_radius, settings)
    drawn = evidence.find(DrawnRadii)
    if drawn is not None and settings.ray_weight > 0:
        expected = expect_drawn(expected, drawn.resample(prior.rays), mean_radius, settings)
    return EnergyTerms(discrepancy, shape, expected, (discrepancy, shape, RayMisfit(expected)))
