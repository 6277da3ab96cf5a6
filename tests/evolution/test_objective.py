from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from declump.evidence import Evidence
from declump.evolution.objective import POSE_UNITS, ClumpObjective
from declump.evolution.settings import SETTINGS
from declump.evolution.terms.term import RadiusDerivatives, SoftOutlines, Term
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
    start, expected, prices = objective.start(), objective.terms.expected, objective.terms.shape.prices

    def cost(parameters: np.ndarray) -> np.ndarray:
        off = objective.evaluate(parameters).radii - expected.targets
        return np.sum(expected.precisions * off**2, axis=1) + np.sum(prices * parameters**2, axis=1)

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


def test_a_cell_without_a_proposal_starts_as_if_there_were_none(default):
    std = np.full((2, 360), np.inf)
    std[0, :90] = 4.0
    without = ClumpObjective(a_clump(), default, JOINT, 0.5).start()
    told = ClumpObjective(a_clump(), default, JOINT, 0.5, Evidence(np.full((2, 360), 33.0), std)).start()
    np.testing.assert_array_equal(told.parameters[1], without.parameters[1])
    assert np.any(told.parameters[0] != without.parameters[0])


# The sum of the terms


class Marker(Term):
    """A term of everything: the sum of radii and of parameters, squared."""

    def __init__(self) -> None:
        self.followed: list[np.ndarray] = []

    def follow(self, outlines: SoftOutlines) -> None:
        self.followed.append(outlines.radii)

    def value(self, parameters: np.ndarray, outlines: SoftOutlines) -> float:
        assert self.followed[-1] is outlines.radii
        return float(np.sum(outlines.radii**2) + np.sum(parameters**2))

    def add_by_radius(self, outlines: SoftOutlines, derivatives: RadiusDerivatives) -> None:
        derivatives.by_radius[...] += 2 * outlines.radii
        derivatives.diagonal[...] += 2

    def add_by_parameter(self, parameters: np.ndarray, gradient: np.ndarray, blocks: np.ndarray) -> None:
        gradient += 2 * parameters
        blocks += 2 * np.eye(parameters.shape[1])


def test_a_term_more_is_a_summand_more_in_value_gradient_and_hessian(default):
    plain, more = (ClumpObjective(a_clump(), default, JOINT, 0.5) for _ in range(2))
    marker = Marker()
    more.terms = replace(more.terms, every=(*more.terms.every, marker))
    parameters = np.random.default_rng(0).uniform(-1, 1, plain.start().parameters.shape)
    one, two = plain.evaluate(parameters), more.evaluate(parameters)
    assert two.energy - one.energy == pytest.approx(np.sum(one.radii**2) + np.sum(parameters**2))
    models = plain.build_model(one), more.build_model(two)
    by_radius = np.einsum("nk,nkp->np", 2 * one.radii, one.basis)
    np.testing.assert_allclose(models[1].gradient - models[0].gradient, by_radius + 2 * parameters, rtol=1e-6)
    cells, rays, count = one.basis.shape
    kept = one.basis[:, ::2]  # between two of these lies one more
    between = np.stack([kept, (kept + np.roll(kept, -1, axis=1)) / 2], axis=2).reshape(cells, rays, count)
    squares = np.einsum("nkp,nkq->npq", 2 * between, between) + 2 * np.eye(count)
    np.testing.assert_allclose(models[1].blocks - models[0].blocks, squares, rtol=1e-6, atol=1e-6)
    assert len(marker.followed) == 1
    other = more.evaluate(1.1 * parameters)
    more.build_model(two)
    assert [radii is own for radii, own in zip(marker.followed, (two.radii, other.radii, two.radii), strict=True)] == [
        True
    ] * 3
