from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from declump.evolution.terms.rays import RayMisfit, expect_nothing
from declump.evolution.terms.term import RadiusDerivatives, SoftOutlines


def outlines(radii: np.ndarray) -> SoftOutlines:
    return SoftOutlines(None, None, radii, 1.0, None)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_derivatives_are_those_of_the_value(number, robust):
    rng = np.random.default_rng(number)
    targets, precisions, tolerances, radii = rng.uniform(1, 9, (4, 2, 20))
    expected = expect_nothing(2, 20)._replace(targets=targets, precisions=precisions)
    term = RayMisfit(expected._replace(tolerances=tolerances) if robust else expected)
    derivatives = RadiusDerivatives.zeros(np.empty((2, 20, 3)))
    term.add_by_radius(outlines(radii), derivatives)
    step = 1e-5 * rng.normal(size=radii.shape)
    ahead, behind = (term.value(None, outlines(radii + change)) for change in (step, -step))
    assert ahead - behind == pytest.approx(2 * np.sum(derivatives.by_radius * step), rel=1e-4, abs=1e-9)
    assert np.all(derivatives.diagonal >= 0) and not derivatives.adjacent.any()
    if not robust:
        np.testing.assert_allclose(derivatives.diagonal, 2 * precisions)


def test_nothing_expected_costs_nothing():
    assert RayMisfit(expect_nothing(2, 20)).value(None, outlines(np.full((2, 20), 5.0))) == 0
