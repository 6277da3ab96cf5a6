from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from declump.evaluation import bootstrap_interval


def test_two_images_are_drawn_in_four_ways():
    """Of two images with means 0 and 1 a draw has both twice, or one of each: quantiles are 0, 1 and the half."""
    found = bootstrap_interval([[0.0, 0.0], [1.0, 1.0]], level=0.9)
    assert (found.estimate, found.low, found.high) == (0.5, 0.0, 1.0)
    assert bootstrap_interval([[0.0, 0.0], [1.0, 1.0]], level=0.4) == type(found)(0.5, 0.5, 0.5, 0.4)


def test_many_images_of_one_cell_agree_with_the_normal_theory():
    values = np.random.default_rng(1).normal(0.02, 0.1, 400)
    found = bootstrap_interval(values[:, None])
    half = 1.96 * values.std(ddof=1) / np.sqrt(values.size)
    assert found.estimate == pytest.approx(values.mean())
    assert found.high - found.estimate == pytest.approx(half, rel=0.05)
    assert found.estimate - found.low == pytest.approx(half, rel=0.05)


def test_cells_of_an_image_count_together():
    """Ten equal cells an image know no more than one, whereas ten times the images know more."""
    values = np.random.default_rng(2).normal(0, 0.1, 30)
    one, ten = (bootstrap_interval([np.full(times, value) for value in values]) for times in (1, 10))
    apart = bootstrap_interval([[value] for value in values for _ in range(10)])
    assert (ten.low, ten.high) == pytest.approx((one.low, one.high))
    assert apart.high - apart.low < 0.5 * (one.high - one.low)


@given(st.lists(st.lists(st.floats(-1, 1), max_size=4), min_size=1, max_size=6), st.integers(0, 99))
def test_the_interval_lies_within_the_images_and_does_not_change(entries, seed):
    filled = [entry for entry in entries if entry]
    if len(filled) < 2:
        with pytest.raises(ValueError, match="two images"):
            bootstrap_interval(entries)
        return
    found = bootstrap_interval(entries, repetitions=200, rng=seed)
    means = [np.mean(entry) for entry in filled]
    assert min(means) - 1e-12 <= found.low <= found.high <= max(means) + 1e-12
    assert found.estimate == pytest.approx(np.mean(np.concatenate(filled)))
    assert found == bootstrap_interval(entries, repetitions=200, rng=seed)


def test_whether_the_sign_is_known():
    assert bootstrap_interval([[0.1], [0.2], [0.3]]).clear
    assert bootstrap_interval([[-0.1], [-0.2]]).clear
    assert not bootstrap_interval([[-0.1], [0.2], [0.1]]).clear
    assert str(bootstrap_interval([[0.25], [0.25]])) == "+0.2500 (+0.2500 to +0.2500)"


@pytest.mark.parametrize(
    ("entries", "options", "message"),
    [
        ([], {}, "got 0"),
        ([[1.0], []], {}, "got 1"),
        ([[1.0], [np.nan]], {}, "finite"),
        ([[1.0], [2.0]], {"level": 1.0}, "level"),
        ([[1.0], [2.0]], {"repetitions": 0}, "repetitions"),
    ],
)
def test_what_cannot_be_measured_is_refused(entries, options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(entries, **options)
