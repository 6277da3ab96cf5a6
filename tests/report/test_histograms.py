from __future__ import annotations

import numpy as np

from declump.report.histograms import BINS, _figure, _limits


def test_an_outlier_does_not_flatten_a_histogram() -> None:
    values = np.append(np.random.default_rng(0).normal(100, 10, 200), 1e6)
    low, high = _limits(values, share=False)
    assert 60 < low < 90 and 110 < high < 200
    drawn = _figure({"label": "area", "meaning": "area [px2]"}, values)
    assert drawn.count("<rect") > BINS / 2 and "≥ " in drawn and "≤ " not in drawn


def test_without_outliers_the_axis_ends_with_the_values() -> None:
    assert _limits(np.array([1.0, 2.0, 3.0, 4.0]), share=False) == (1.0, 4.0)
    assert _limits(np.array([2.0, 2.0, 2.0]), share=False) == (1.5, 2.5)
