from __future__ import annotations

import numpy as np
import pytest

from declump.measurements import calibration_curve


def test_a_curve_by_hand():
    curve = calibration_curve([0.05, 0.15, 0.55, 0.65, 1.0], [False, True, True, False, True], bins=2)
    np.testing.assert_allclose(curve.predicted, [0.1, 2.2 / 3])
    np.testing.assert_allclose(curve.observed, [1 / 2, 2 / 3])
    np.testing.assert_array_equal(curve.count, [2, 3])
    assert curve.error == pytest.approx((2 * 0.4 + 3 * (2.2 - 2) / 3) / 5)
    assert curve.brier == pytest.approx((0.05**2 + 0.85**2 + 0.45**2 + 0.65**2) / 5)


def test_promises_that_are_kept():
    rng = np.random.default_rng(0)
    promised = rng.random(20000)
    curve = calibration_curve(promised, rng.random(20000) < promised)
    assert curve.error < 0.02
    assert curve.brier == pytest.approx(1 / 6, abs=0.01)


def test_empty_bins_and_no_cells():
    curve = calibration_curve([0.95], [True])
    assert np.isnan(curve.predicted[:9]).all()
    assert curve.count.tolist() == [0] * 9 + [1]
    nothing = calibration_curve([], [])
    assert nothing.count.sum() == 0
    assert np.isnan([nothing.error, nothing.brier]).all()


@pytest.mark.parametrize(
    ("probability", "reached", "bins", "message"),
    [
        ([0.5, 0.5], [True], 10, "one outcome"),
        ([[0.5]], [[True]], 10, "one outcome"),
        ([1.5], [True], 10, "between 0 and 1"),
        ([np.nan], [True], 10, "between 0 and 1"),
        ([0.5], [True], 0, "at least one bin"),
    ],
)
def test_what_is_no_probability_is_refused(probability, reached, bins, message):
    with pytest.raises(ValueError, match=message):
        calibration_curve(probability, reached, bins=bins)
