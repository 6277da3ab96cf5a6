from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage
from skimage.measure import regionprops

from declump._kernels import convex_area, fill_holes, grow_diamond, inner_rim, measure_clearance

MASKS = st.tuples(st.integers(1, 14), st.integers(1, 14)).flatmap(lambda shape: arrays(np.bool_, shape))


@settings(max_examples=200, deadline=None)
@given(MASKS)
def test_the_hull_has_the_area_that_scikit_image_counts(mask: np.ndarray) -> None:
    expected = regionprops(mask.astype(np.uint8))[0].area_convex if mask.any() else 0
    assert convex_area(mask) == expected


def test_the_hull_of_smooth_pieces_has_the_area_that_scikit_image_counts() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        blurred = ndimage.gaussian_filter(rng.normal(size=(60, 70)), rng.uniform(1, 8))
        labels, count = ndimage.label(blurred > np.quantile(blurred, 0.8))
        for piece in regionprops(labels):
            assert convex_area(np.ascontiguousarray(piece.image)) == piece.area_convex
        assert count > 0


@settings(max_examples=100, deadline=None)
@given(MASKS, st.integers(1, 9))
def test_a_mask_grows_as_scipy_dilates_it(mask: np.ndarray, width: int) -> None:
    np.testing.assert_array_equal(grow_diamond(mask, width), ndimage.binary_dilation(mask, iterations=width))


@settings(max_examples=200, deadline=None)
@given(MASKS)
def test_clearance_is_the_chessboard_distance_to_what_is_not_of_the_mask(mask: np.ndarray) -> None:
    framed = ndimage.distance_transform_cdt(np.pad(mask, 1), metric="chessboard")
    np.testing.assert_array_equal(measure_clearance(mask), framed[1:-1, 1:-1])


@settings(max_examples=200, deadline=None)
@given(MASKS)
def test_holes_are_filled_as_scipy_does(mask: np.ndarray) -> None:
    np.testing.assert_array_equal(fill_holes(mask), ndimage.binary_fill_holes(mask))


@settings(max_examples=100, deadline=None)
@given(MASKS)
def test_the_rim_is_what_an_erosion_takes(mask: np.ndarray) -> None:
    np.testing.assert_array_equal(inner_rim(mask), mask & ~ndimage.binary_erosion(mask))
