from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import declump
from declump.shapes.off_centre import widen_for_offset


def covariance(prior: declump.ShapePrior) -> np.ndarray:
    return (prior.modes * prior.variances) @ prior.modes.T


@pytest.mark.parametrize("name", ["nucleus", "round"])
@given(share=st.floats(0, 0.5))
@settings(max_examples=6)
def test_the_covariances_of_shape_and_offset_add_up(name, share):
    prior = declump.ShapePrior.load(name)
    loose = widen_for_offset(prior, share)
    angles = 2 * np.pi * (np.arange(prior.rays)[:, None] - np.arange(prior.rays)) / prior.rays
    offset = (share * prior.mean.mean()) ** 2 * np.cos(angles)
    np.testing.assert_allclose(covariance(loose), covariance(prior) + offset, atol=1e-6 * prior.mean.mean() ** 2)
    np.testing.assert_allclose(loose.modes.T @ loose.modes, np.eye(len(loose.variances)), atol=1e-9)
    np.testing.assert_array_equal(loose.mean, prior.mean)


@settings(max_examples=8)
@given(st.floats(0, 0.3), st.floats(0, 2 * np.pi))
def test_an_outline_moves_off_a_seed_that_is_no_centre(off, angle):
    rows, columns = np.indices((70, 70))
    mask = np.hypot(rows - 35, columns - 35) < 18
    seed = 35 + 18 * off * np.array([[np.sin(angle), np.cos(angle)]])
    result = declump.evolve(mask, seed, prior=widen_for_offset(declump.ShapePrior.load("nucleus")))
    assert declump.score(mask[None], result.masks).dice_all > 0.97


def test_a_share_below_0_is_refused():
    with pytest.raises(ValueError, match="a number >= 0; given was"):
        widen_for_offset(declump.ShapePrior.load("nucleus"), -0.1)
