from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from declump.shapes import contours
from declump.shapes import round as roundness
from declump.shapes.prior import ShapePrior
from declump.shapes.round import describe_round_shapes, make_off_centre_ellipses


def test_it_is_what_a_fit_to_turned_copies_of_the_shapes_comes_to(monkeypatch):
    monkeypatch.setattr(roundness, "BUMPS", 0.0)
    shapes = make_off_centre_ellipses(48)
    fitted = ShapePrior.fit(np.concatenate([np.roll(shapes, turn, axis=1) for turn in range(48)]), explained=0.999)
    made = describe_round_shapes(48)
    np.testing.assert_allclose(made.mean, fitted.mean)
    np.testing.assert_allclose(made.variances, fitted.variances[: made.variances.size], rtol=1e-9)
    covariances = [(prior.modes * prior.variances) @ prior.modes.T for prior in (made, fitted)]
    np.testing.assert_allclose(*covariances, atol=2e-3 * covariances[0].max())


def test_modes_are_orthonormal_and_the_card_says_what_it_is():
    prior = ShapePrior.load("round")
    np.testing.assert_allclose(prior.modes.T @ prior.modes, np.eye(prior.variances.size), atol=1e-12)
    assert prior.reach is None and prior.card["made from"] == "ellipses" and prior.rays == 360
    assert np.all(np.diff(prior.variances) <= 0)


def test_all_ellipses_have_one_area():
    np.testing.assert_allclose(contours.area(make_off_centre_ellipses(720)), np.pi * roundness.RADIUS**2, rtol=1e-3)


@given(st.floats(1, 3), st.floats(0, 2 * np.pi), st.floats(0.2, 5))
def test_it_knows_ellipses_of_any_direction_within_three_standard_deviations(aspect, angle, size):
    prior = ShapePrior.load("round")
    angles = 2 * np.pi * np.arange(360) / 360 - angle
    radii = roundness.RADIUS / np.hypot(np.cos(angles) / np.sqrt(aspect), np.sin(angles) * np.sqrt(aspect))
    coefficients = prior.project(radii)
    np.testing.assert_array_less(np.abs(coefficients) / np.sqrt(prior.variances), 3)
    assert np.abs(prior.instance(coefficients) - radii).mean() < 0.01 * roundness.RADIUS
