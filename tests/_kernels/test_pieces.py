from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage

from declump._kernels import find_runs, measure_runs, paint_runs

MASKS = st.tuples(st.integers(1, 14), st.integers(1, 14)).flatmap(lambda shape: arrays(np.bool_, shape))


def check(mask: np.ndarray, corners: bool) -> None:
    labels, count = ndimage.label(mask, structure=ndimage.generate_binary_structure(2, 2 if corners else 1))
    runs, pieces, number = find_runs(mask, corners)
    assert number == count
    painted = np.zeros(mask.shape, np.int64)
    paint_runs(painted, runs, pieces, np.arange(1, count + 1))
    np.testing.assert_array_equal(painted, labels)
    areas, firsts, boxes, edges = measure_runs(runs, pieces, count, *mask.shape)
    assert areas.tolist() == np.bincount(labels.ravel(), minlength=count + 1)[1:].tolist()
    assert firsts.tolist() == [np.argwhere(labels == piece)[0].tolist() for piece in range(1, count + 1)]
    found = ndimage.find_objects(labels)
    assert boxes.tolist() == [[rows.start, columns.start, rows.stop, columns.stop] for rows, columns in found]
    for line, edge in zip((labels[0], labels[:, 0], labels[-1], labels[:, -1]), edges, strict=True):
        assert edge.tolist() == [*line.tolist(), *[0] * (max(mask.shape) - len(line))]


@settings(max_examples=300, deadline=None)
@given(MASKS, st.booleans())
def test_pieces_are_those_that_scipy_labels(mask: np.ndarray, corners: bool) -> None:
    check(mask, corners)


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.59, 0.7])
def test_pieces_that_wind_are_those_that_scipy_labels(share: float, corners: bool) -> None:
    check(np.random.default_rng(0).random((90, 110)) < share, corners)
