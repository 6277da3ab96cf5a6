from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from declump.shapes.reach import (
    FARTHEST,
    MEAN_WINDOWS,
    MINIMUM_WINDOWS,
    SHRINKAGE,
    ReachModel,
    fit_reach,
    half_way_distances,
    reach_features,
)

numbers = st.integers(0, 2**32 - 1)
WINDOWS = len(MEAN_WINDOWS) + len(MINIMUM_WINDOWS)


def scene(number: int, cells: int = 3, rays: int = 48) -> tuple[np.ndarray, np.ndarray]:
    """Exits of an imagined clump, some rays open, and whole-pixel seeds."""
    rng = np.random.default_rng(number)
    exits = rng.uniform(2, 60, (cells, rays))
    exits[rng.random(exits.shape) < 0.1] = np.inf
    return exits, rng.permutation(40 * 40)[:cells, None] // (40, 1) % 40


def model(weights: np.ndarray | None = None, intercept: float = 0.0) -> ReachModel:
    return ReachModel(np.zeros(3 * WINDOWS) if weights is None else weights, intercept, 0.2)


# Half way to other seeds


def test_half_way_to_one_other_seed():
    distances = half_way_distances(np.array([[0.0, 0.0], [0.0, 2.0]]), 72)
    angles = 2 * np.pi * np.arange(72) / 72
    for towards, own in zip((1, -1), distances, strict=True):
        cosines = towards * np.cos(angles)
        expected = np.minimum(1 / np.where(cosines > 1e-9, cosines, 1e-9), FARTHEST)
        np.testing.assert_allclose(own, expected, atol=1e-9)


def test_the_nearest_of_several_bisectors_counts():
    seeds = np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 4.0], [1.0, 0.0]])
    distances = half_way_distances(seeds, 16)[0]
    np.testing.assert_allclose(distances[[0, 4, 8, 12]], [1, 0.5, FARTHEST, FARTHEST])


def test_seeds_beyond_the_farthest_distance_do_not_count():
    np.testing.assert_array_equal(half_way_distances(np.array([[0.0, 0.0], [0.0, 2 * FARTHEST]]), 16), FARTHEST)


def test_a_lonely_seed_and_no_seed():
    np.testing.assert_array_equal(half_way_distances(np.array([[3.0, 4.0]]), 16), FARTHEST)
    assert half_way_distances(np.empty((0, 2)), 16).shape == (0, 16)


@given(numbers, st.integers(1, 8), st.integers(16, 40))
def test_the_compiled_bisectors_are_the_readable_ones(number, cells, rays):
    seeds = np.random.default_rng(number).uniform(0, 4 * FARTHEST, (cells, 2))
    angles = 2 * np.pi * np.arange(rays) / rays
    for index, found in enumerate(half_way_distances(seeds, rays)):
        offsets = np.delete(seeds, index, axis=0) - seeds[index]
        along = offsets @ np.stack([np.sin(angles), np.cos(angles)])
        crossed = np.where(along > 1e-12, np.sum(offsets**2, axis=1)[:, None] / np.maximum(2 * along, 1e-12), np.inf)
        expected = np.minimum(crossed.min(axis=0, initial=np.inf), FARTHEST)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@given(numbers)
def test_points_half_way_are_as_far_from_the_other_seed(number):
    seeds = np.random.default_rng(number).uniform(0, 3, (4, 2))
    distances = half_way_distances(seeds, 24)
    angles = 2 * np.pi * np.arange(24) / 24
    ends = seeds[:, None] + distances[..., None] * np.column_stack([np.sin(angles), np.cos(angles)])
    to_all = np.linalg.norm(ends[:, :, None] - seeds, axis=-1)
    for index in range(4):
        nearest_other = np.delete(to_all[index], index, axis=1).min(axis=1)
        inner = distances[index] < FARTHEST
        np.testing.assert_allclose(nearest_other[inner], distances[index][inner], rtol=1e-6)
        assert np.all(nearest_other[~inner] >= FARTHEST - 1e-9)


# Features


def test_features_are_three_profiles_through_windows():
    exits, seeds = scene(0)
    size = 12.0
    features = reach_features(exits, seeds, size)
    assert features.shape == (3, 48, 3 * WINDOWS)
    outline = np.minimum(exits / size, FARTHEST)
    half_way = half_way_distances(seeds / size, 48)
    for place, profile in enumerate((outline, half_way, np.minimum(outline, half_way))):
        own = features[..., place * WINDOWS : (place + 1) * WINDOWS]
        np.testing.assert_allclose(own[..., 0], profile, atol=1e-12)
        np.testing.assert_allclose(own[..., len(MEAN_WINDOWS) - 1], profile.mean(axis=1)[:, None] + np.zeros(48))
        np.testing.assert_allclose(own[..., -1], profile.min(axis=1)[:, None] + np.zeros(48))
        # A quarter of a turn at 48 rays is 11 rays: five to either side.
        around = np.stack([np.roll(profile, shift, axis=1) for shift in range(-5, 6)])
        np.testing.assert_allclose(own[..., MEAN_WINDOWS.index(1 / 4)], around.mean(axis=0), atol=1e-9)
        np.testing.assert_allclose(own[..., len(MEAN_WINDOWS) + MINIMUM_WINDOWS.index(1 / 4)], around.min(axis=0))


@given(numbers, st.floats(0.2, 5))
def test_features_do_not_depend_on_the_unit_of_length(number, factor):
    exits, seeds = scene(number)
    np.testing.assert_allclose(
        reach_features(factor * exits, factor * seeds, factor * 12), reach_features(exits, seeds, 12)
    )


@given(numbers, st.integers(1, 47))
def test_features_of_a_lonely_cell_turn_with_its_clump(number, shift):
    exits, seeds = scene(number, cells=1)
    turned = reach_features(np.roll(exits, shift, axis=1), seeds, 12)
    np.testing.assert_allclose(turned, np.roll(reach_features(exits, seeds, 12), shift, axis=1), atol=1e-12)


@pytest.mark.parametrize("rays", [16, 17, 90])
def test_features_are_finite_at_any_number_of_rays(rays):
    exits, seeds = scene(4, rays=rays)
    assert np.isfinite(reach_features(exits, seeds, 12)).all()
    assert np.isfinite(reach_features(np.full_like(exits, np.inf), seeds, 12)).all()


# The model


def test_expected_radii_are_linear_in_the_features():
    exits, seeds = scene(1)
    weights = np.zeros(3 * WINDOWS)
    weights[0], weights[WINDOWS] = 0.5, 0.25
    expected = 0.1 + 0.5 * np.minimum(exits / 12, FARTHEST) + 0.25 * half_way_distances(seeds / 12, 48)
    radii = model(weights, 0.1).expected(exits, seeds, 12.0)
    np.testing.assert_allclose(radii, 12 * np.clip(expected, 0.1, FARTHEST), atol=1e-9)


def test_expected_radii_stay_within_sensible_bounds():
    exits, seeds = scene(1)
    np.testing.assert_allclose(model(intercept=-5.0).expected(exits, seeds, 12.0), 1.2)
    np.testing.assert_allclose(model(intercept=50.0).expected(exits, seeds, 12.0), 36.0)


def test_fit_is_ridge_regression_on_standardised_features():
    exits, seeds = scene(2, cells=6)
    features = reach_features(exits, seeds, 12.0)
    radii = np.random.default_rng(0).uniform(5, 20, exits.shape)
    fitted = fit_reach(features, radii, 12.0)
    design, targets = features.reshape(-1, features.shape[-1]), radii.ravel() / 12
    standard = (design - design.mean(axis=0)) / design.std(axis=0)
    # Ridge as ordinary least squares with one more equation a weight.
    penalty = np.sqrt(SHRINKAGE * len(targets)) * np.eye(standard.shape[1])
    weights = np.linalg.lstsq(
        np.concatenate([standard, penalty]),
        np.concatenate([targets - targets.mean(), np.zeros(len(penalty))]),
        rcond=None,
    )[0]
    np.testing.assert_allclose(fitted.weights, weights / design.std(axis=0), rtol=1e-6, atol=1e-9)
    predicted = targets.mean() + standard @ weights
    np.testing.assert_allclose(design @ fitted.weights + fitted.intercept, predicted, atol=1e-9)
    assert fitted.spread == pytest.approx(np.sqrt(np.mean((predicted - targets) ** 2)))


def test_fit_finds_a_rule_that_holds():
    exits, seeds = scene(3, cells=20)
    features = reach_features(exits, seeds, 12.0)
    radii = 12 * (0.2 + 0.6 * features[..., 2 * WINDOWS])
    fitted = fit_reach(features, radii, 12.0)
    predicted = 12 * (features @ fitted.weights + fitted.intercept)
    assert np.sqrt(np.mean((predicted - radii) ** 2)) < 0.1 * radii.std()
    assert fitted.spread < 0.1 * (radii / 12).std()


def test_fit_survives_features_that_do_not_vary():
    exits, seeds = np.full((1, 16), 10.0), np.array([[5, 5]])
    fitted = fit_reach(reach_features(exits, seeds, 10.0), np.full((1, 16), 9.0), 10.0)
    np.testing.assert_allclose(fitted.expected(exits, seeds, 10.0), 9.0)
    assert fitted.spread > 0


@pytest.mark.parametrize(
    ("weights", "intercept", "spread"),
    [
        (np.zeros(26), 0.0, 0.2),
        (np.full(27, np.nan), 0.0, 0.2),
        (np.zeros(27), np.inf, 0.2),
        (np.zeros(27), 0.0, 0.0),
        (np.zeros(27), 0.0, -1.0),
        (np.zeros(27), 0.0, np.nan),
    ],
)
def test_numbers_that_are_no_model_are_refused(weights, intercept, spread):
    with pytest.raises(ValueError, match="27 finite weights"):
        ReachModel(weights, intercept, spread)
