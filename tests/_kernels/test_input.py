"""Arrays of another type, order or number of axes never reach C; read-only masks and slices are as good as any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from declump import _kernels
from declump.shapes.contours import directions

RAYS = directions(16)
RADII = np.full(16, 2.0)


@pytest.mark.parametrize(
    "mask", [np.ones((5, 5)), np.ones(25, np.bool_), np.ones((5, 5, 5), np.bool_), np.ones((5, 5), int)]
)
@pytest.mark.parametrize(
    "kernel", [_kernels.fill_holes, _kernels.inner_rim, _kernels.convex_area, _kernels.measure_clearance]
)
def test_what_is_no_mask_is_refused(kernel, mask) -> None:
    with pytest.raises(ValueError, match="Buffer"):
        kernel(mask)


@pytest.mark.parametrize("radii", [RADII.astype(np.float32), np.full(32, 2.0)[::2], np.full((1, 16), 2.0)])
def test_radii_of_another_type_or_order_are_refused(radii: np.ndarray) -> None:
    mask = np.zeros((9, 9), np.bool_)
    with pytest.raises(ValueError, match=r"Buffer|contiguous"):
        _kernels.fill_contour(mask, 4.0, 4.0, radii, *RAYS)
    assert not mask.any()


def test_what_cannot_be_written_into_is_refused() -> None:
    mask = np.zeros((9, 9), np.bool_)
    mask.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        _kernels.fill_contour(mask, 4.0, 4.0, RADII, *RAYS)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 12))
def test_slices_and_read_only_masks_give_what_their_copies_give(seed: int, height: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    whole = rng.random((2 * height, 2 * width)) < 0.6
    whole.flags.writeable = False
    for part in (whole[::2, 1::2], whole[:height].T, whole[::-1]):
        copy = np.ascontiguousarray(part)
        for kernel in (_kernels.fill_holes, _kernels.inner_rim, _kernels.measure_clearance):
            np.testing.assert_array_equal(kernel(part), kernel(copy))
        assert _kernels.convex_area(part) == _kernels.convex_area(copy)
        np.testing.assert_array_equal(_kernels.grow_diamond(part, 2), _kernels.grow_diamond(copy, 2))
        for one, two in zip(_kernels.find_runs(part, True), _kernels.find_runs(copy, True), strict=True):
            np.testing.assert_array_equal(one, two)
