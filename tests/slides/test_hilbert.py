from __future__ import annotations

import numpy as np

from declump.slides.hilbert import ORDER, hilbert_index


def test_the_curve_visits_each_pixel_once_and_steps_to_a_neighbour() -> None:
    rows, columns = (axis.ravel() for axis in np.mgrid[:32, :32])
    index = hilbert_index(rows, columns)
    assert sorted(index.tolist()) == list(range(32 * 32))
    order = np.argsort(index)
    steps = np.abs(np.diff(rows[order])) + np.abs(np.diff(columns[order]))
    assert (steps == 1).all()


def test_the_far_corner_is_within_the_curve() -> None:
    far = np.array([2**ORDER - 1])
    assert 0 <= hilbert_index(far, far)[0] < 4**ORDER
