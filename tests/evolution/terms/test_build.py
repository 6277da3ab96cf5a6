from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from declump.evidence import Evidence
from declump.evolution.settings import SETTINGS, Settings
from declump.evolution.terms.build import EnergyTerms, build_terms
from declump.records.clump import split_clumps
from declump.shapes.contours import first_exits
from declump.shapes.prior import ShapePrior

JOINT, MEAN_RADIUS = SETTINGS["joint"], 20.0


@pytest.fixture(scope="module")
def default() -> ShapePrior:
    return ShapePrior.load("default")


def terms_of(prior: ShapePrior, settings: Settings, evidence: Evidence | None = None) -> EnergyTerms:
    rows, columns = np.indices((64, 72))
    (clump,) = split_clumps(np.hypot(rows - 30, columns - 35) < 25, [(30, 25), (30, 45)])
    exits = np.stack([first_exits(clump.mask, seed, prior.rays) for seed in clump.seeds])
    return build_terms(clump, prior, settings, exits, MEAN_RADIUS, evidence)


def everything(rays: int = 360) -> Evidence:
    return Evidence(np.full((2, rays), 33.0), np.ones((2, rays)))


def names(terms: EnergyTerms) -> list[str]:
    return [type(term).__name__ for term in terms.every]


def test_which_evidence_becomes_which_term(default):
    assert names(terms_of(default, JOINT)) == ["Discrepancy", "ShapePrice", "RayMisfit"]
    told = terms_of(default, JOINT, everything())
    assert names(told) == ["Discrepancy", "ShapePrice", "RayMisfit"]
    assert told.every[0] is told.discrepancy and told.every[1] is told.shape
    assert told.expected.proposed.all() and told.expected.by_reach


def test_evidence_without_weight_is_not_heeded(default):
    terms = terms_of(default, replace(JOINT, ray_weight=0.0), everything())
    assert names(terms) == ["Discrepancy", "ShapePrice", "RayMisfit"]
    assert np.isinf(terms.expected.tolerances).all()
    assert not terms.expected.proposed.any()


def test_without_reach_and_proposals_no_ray_costs_anything(default):
    for prior, settings in ((default, replace(JOINT, reach_weight=0.0)), (replace(default, reach=None), JOINT)):
        expected = terms_of(prior, settings).expected
        assert not expected.precisions.any() and not expected.by_reach


def test_proposals_go_before_the_reach_where_they_know_something(default):
    radii, std = np.full((2, 360), 33.0), np.full((2, 360), np.inf)
    std[0, :90] = 4.0
    known = np.isfinite(std)
    settings = replace(JOINT, ray_weight=0.5, ray_floor=0.1, robustness=2.0)
    without = terms_of(default, settings).expected
    told = terms_of(default, settings, Evidence(radii, std)).expected
    spread = np.hypot(4.0, 0.1 * MEAN_RADIUS)
    np.testing.assert_array_equal(told.targets, np.where(known, 33, without.targets))
    np.testing.assert_array_equal(told.precisions[~known], without.precisions[~known])
    np.testing.assert_allclose(told.precisions[known] * 360 * spread**2, 0.5 * np.pi * MEAN_RADIUS**2)
    np.testing.assert_allclose(told.tolerances, np.where(known, 2 * spread, np.inf))
    assert told.proposed.tolist() == [True, False]


@pytest.mark.parametrize("rays", [16, 90, 360])
def test_what_a_cell_one_deviation_off_costs_does_not_depend_on_the_number_of_rays(rays):
    rigid = ShapePrior(np.full(rays, 20.0), np.empty((rays, 0)), np.empty(0))
    settings = replace(JOINT, ray_floor=0.0, robustness=np.inf)
    terms = terms_of(rigid, settings, Evidence(np.full((2, 64), 25.0), np.full((2, 64), 3.0)))
    cost = np.sum(terms.expected.precisions * 3.0**2, axis=1)
    np.testing.assert_allclose(cost, settings.ray_weight * np.pi * MEAN_RADIUS**2)
