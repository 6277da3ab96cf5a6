from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from declump.measurements.shapes import shape_coefficients
from declump.shapes.prior import ShapePrior, add_turned_copies


@pytest.fixture(scope="module")
def prior() -> ShapePrior:
    return ShapePrior.load("default")


def sizes_only() -> ShapePrior:
    return ShapePrior.fit(np.array([20.0, 22.0, 24.0, 26.0])[:, None] * np.ones(36))


def test_coefficients_are_those_the_shape_was_made_of(prior):
    """Mean shapes set the scale, so that the last cell is measured at the prior's own."""
    wanted = np.zeros(prior.variances.size)
    wanted[[1, 4, 6]] = 1.5, -1.0, 0.5
    radii = np.stack([prior.mean, prior.mean, prior.mean, prior.instance(wanted * np.sqrt(prior.variances))])
    found = shape_coefficients(radii, prior)
    np.testing.assert_allclose(found[:3], 0, atol=1e-9)
    np.testing.assert_allclose(found[3], wanted, atol=1e-9)


@given(st.floats(0.05, 20))
def test_magnification_does_not_count(scale):
    prior = sizes_only()
    radii = np.array([18.0, 23.0, 30.0])[:, None] * np.ones(36)
    np.testing.assert_allclose(
        shape_coefficients(scale * radii, prior), shape_coefficients(radii, prior), rtol=1e-9, atol=1e-9
    )


def test_a_large_cell_among_others_is_unusual():
    found = shape_coefficients(np.array([20.0, 20.0, 20.0, 30.0])[:, None] * np.ones(36), sizes_only())
    # One and a half times the mean of 23, in standard deviations of the sizes 20, 22, 24, 26.
    assert abs(found[3, 0]) == pytest.approx(23 / 2 / np.sqrt(5), rel=1e-9)
    np.testing.assert_allclose(found[:3], 0, atol=1e-9)


def test_the_distance_does_not_depend_on_how_a_cell_lies(prior):
    """Modes of a prior with turned copies come in pairs; the default prior ends within one, here they are complete."""
    prior = replace(prior, modes=prior.modes[:, :9], variances=prior.variances[:9])
    rng = np.random.default_rng(3)
    shape = prior.instance(rng.normal(size=prior.variances.size) * np.sqrt(prior.variances))
    lengths = np.linalg.norm(shape_coefficients(add_turned_copies(shape[None]), prior), axis=1)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-6)


def test_another_number_of_rays_is_interpolated(prior):
    radii = np.stack([prior.mean, 1.1 * prior.mean, prior.instance(np.sqrt(prior.variances) * np.eye(24)[3])])
    np.testing.assert_allclose(
        shape_coefficients(radii[:, ::3], prior)[:, :5], shape_coefficients(radii, prior)[:, :5], atol=0.02
    )


def test_a_cell_without_an_outline_has_no_shape(prior):
    found = shape_coefficients(np.stack([prior.mean, np.zeros(prior.rays)]), prior)
    np.testing.assert_allclose(found[0], 0, atol=1e-9)
    assert np.isnan(found[1]).all()
    assert np.isnan(shape_coefficients(np.zeros((2, 360)), prior)).all()
    assert shape_coefficients(np.empty((0, 360)), prior).shape == (0, 24)
