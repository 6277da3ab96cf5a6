from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from declump.evidence import Evidence
from declump.evolution.objective import POSE_UNITS, ClumpObjective
from declump.evolution.settings import SETTINGS
from declump.records.clump import Clump, split_clumps
from declump.shapes.prior import ShapePrior

JOINT = SETTINGS["joint"]


@pytest.fixture(scope="module")
def default() -> ShapePrior:
    return ShapePrior.load("default")


def a_clump() -> Clump:
    rows, columns = np.indices((100, 140))
    discs = [np.hypot(rows - 50, columns - column) <= 30 for column in (50, 88)]
    (clump,) = split_clumps(discs[0] | discs[1], [(50, 50), (50, 88)])
    return clump


def hypothesis(prior: ShapePrior, scale: float, coefficients: np.ndarray, log_scale: float) -> np.ndarray:
    return scale * np.exp(log_scale) * prior.instance(coefficients * np.sqrt(prior.variances))


# How proposals are taken in


def test_proposals_go_before_the_reach_where_they_know_something(default):
    radii, std = np.full((2, 360), 33.0), np.full((2, 360), np.inf)
    std[0, :90] = 4.0
    known = np.isfinite(std)
    settings = replace(JOINT, ray_weight=0.5, ray_floor=0.1, robustness=2.0)
    without = ClumpObjective(a_clump(), default, settings, 0.5)
    told = ClumpObjective(a_clump(), default, settings, 0.5, Evidence(radii, std))
    mean_radius = 0.5 * default.mean.mean()
    spread = np.hypot(4.0, 0.1 * mean_radius)
    np.testing.assert_array_equal(told.targets, np.where(known, 33, without.targets))
    np.testing.assert_array_equal(told.precisions[~known], without.precisions[~known])
    np.testing.assert_allclose(told.precisions[known] * 360 * spread**2, 0.5 * np.pi * mean_radius**2)
    np.testing.assert_allclose(told.tolerances, np.where(known, 2 * spread, np.inf))
    assert told.proposed.tolist() == [True, False]
    np.testing.assert_array_equal(told.start().parameters[1], without.start().parameters[1])


@pytest.mark.parametrize("rays", [16, 90, 360])
def test_what_a_cell_one_deviation_off_costs_does_not_depend_on_the_number_of_rays(rays):
    rigid = ShapePrior(np.full(rays, 20.0), np.empty((rays, 0)), np.empty(0))
    settings = replace(JOINT, ray_floor=0.0, robustness=np.inf)
    evidence = Evidence(np.full((2, rays), 25.0), np.full((2, rays), 3.0))
    objective = ClumpObjective(a_clump(), rigid, settings, 1.0, evidence)
    cost = np.sum(objective.precisions * 3.0**2, axis=1)
    np.testing.assert_allclose(cost, settings.ray_weight * np.pi * 20.0**2)


def test_evidence_without_weight_is_not_heeded(default):
    evidence = Evidence(np.full((2, 360), 33.0), np.ones((2, 360)), np.ones((64, 72)), np.ones((64, 72)))
    objective = ClumpObjective(a_clump(), default, replace(JOINT, ray_weight=0.0, layer_weight=0.0), 0.5, evidence)
    assert objective.tolerances is None
    assert objective.layering is None
    assert not objective.proposed.any()


# Where the evolution starts


@pytest.mark.parametrize("log_scale", [-0.4, 0.0, 0.3])
def test_a_proposal_that_is_a_hypothesis_is_the_start(default, log_scale):
    rng = np.random.default_rng(3)
    coefficients = rng.uniform(-1, 1, (2, default.variances.size))
    radii = np.stack([hypothesis(default, 0.5, own, log_scale) for own in coefficients])
    free = replace(JOINT, penalty=1e-9)
    start = ClumpObjective(a_clump(), default, free, 0.5, Evidence(radii, np.ones((2, 360)))).start()
    np.testing.assert_allclose(start.radii, radii, atol=0.05)
    np.testing.assert_array_equal(start.parameters[:, -1], 0)


def test_the_start_costs_least_of_all_hypotheses_near_it(default):
    # At the scale of the prior the penalties of the start are those of the energy, to first order.
    rng = np.random.default_rng(4)
    radii = np.maximum(0.5 * default.mean * rng.uniform(0.9, 1.1, (2, 360)), 1)
    std = rng.uniform(0.5, 6, radii.shape)
    objective = ClumpObjective(a_clump(), default, replace(JOINT, robustness=np.inf), 0.5, Evidence(radii, std))
    start = objective.start()

    def cost(parameters: np.ndarray) -> np.ndarray:
        off = objective.state(parameters).radii - objective.targets
        return np.sum(objective.precisions * off**2, axis=1) + np.sum(objective.penalties * parameters**2, axis=1)

    lowest = cost(start.parameters)
    for index in range(start.parameters.shape[1] - 1):
        for step in (-0.3, 0.3):
            changed = start.parameters.copy()
            changed[:, index] += step
            assert np.all(cost(changed) > lowest)


def test_the_start_stays_inside_the_box_and_near_the_size_of_the_prior(default):
    rng = np.random.default_rng(5)
    for radii in (np.full((2, 360), 1e4), np.zeros((2, 360)), rng.uniform(1, 90, (2, 360))):
        start = ClumpObjective(a_clump(), default, JOINT, 0.5, Evidence(radii, np.full((2, 360), 1e-6))).start()
        assert np.abs(start.parameters[:, :-2]).max() <= JOINT.box - 0.5
        assert np.abs(start.parameters[:, -2] * POSE_UNITS[0]).max() <= 1 + 1e-9
        assert np.isfinite(start.radii).all()


def test_a_single_known_ray_without_prices_gives_a_finite_start(default):
    std = np.full((2, 360), np.inf)
    std[0, 17] = 1.0
    free = replace(JOINT, penalty=0.0, reach_weight=0.0)
    start = ClumpObjective(a_clump(), default, free, 0.5, Evidence(np.full((2, 360), 33.0), std)).start()
    assert np.isfinite(start.radii).all()
    assert start.radii[0, 17] == pytest.approx(33, abs=0.5)


def test_a_prior_without_modes_starts_at_the_size_of_its_proposal():
    rigid = ShapePrior(np.full(72, 20.0), np.empty((72, 0)), np.empty(0))
    evidence = Evidence(np.full((2, 72), 30.0), np.full((2, 72), 0.1))
    start = ClumpObjective(a_clump(), rigid, JOINT, 1.0, evidence).start()
    np.testing.assert_allclose(start.radii, 30, atol=0.5)
