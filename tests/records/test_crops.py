from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from pycocotools import mask as reference
from skimage.draw import polygon2mask

from declump.records.crops import Crop, crop_contour, crop_nuclei, crop_polygon, crop_runs
from declump.shapes import contours
from support.segmentations import pasted, segmentation, segmentations

MASKS = arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=14))


@given(MASKS, st.integers(-3, 9), st.integers(-3, 9))
def test_crops_are_tight(mask, top, left):
    crop = Crop.of(mask, top, left)
    assert crop.area == mask.sum()
    if mask.any():
        assert crop.mask[[0, -1]].any(axis=1).all() and crop.mask[:, [0, -1]].any(axis=0).all()
        first = np.argwhere(mask).min(axis=0)
        assert (crop.top, crop.left) == (top + first[0], left + first[1])


@given(arrays(np.bool_, (2, 8, 9)))
def test_crops_meet_where_masks_do(masks):
    first, second = (Crop.of(mask) for mask in masks)
    assert first.meets(second) == second.meets(first) == (masks[0] & masks[1]).any()


@given(segmentations())
def test_crops_hold_all_pixels(given):
    nuclei = np.zeros(given.shape) if given.nuclei is None else given.nuclei
    own = [nuclei == index + 1 for index in range(len(given))]
    for crops, masks in ((given.crops, given.masks), (given.nucleus_crops, own)):
        for crop, mask in zip(crops, masks, strict=True):
            assert np.array_equal(pasted(crop), mask)


@given(arrays(np.bool_, (2, 9, 11)))
def test_joined_crops_hold_the_pixels_of_both(masks):
    joined = Crop.of(masks[0]).join(Crop.of(masks[1]))
    assert np.array_equal(pasted(joined, masks.shape[1:]), masks.any(axis=0))
    assert not joined.area or all(joined.mask.any(axis=axis)[[0, -1]].all() for axis in (0, 1))


@given(MASKS)
def test_run_lengths_are_those_of_pycocotools(mask):
    text = Crop.of(mask).encode(mask.shape)
    assert text == reference.encode(np.asfortranarray(mask, dtype=np.uint8))["counts"].decode()
    assert np.array_equal(crop_runs(text, mask.shape).to_mask(mask.shape), mask)


@pytest.mark.parametrize("size", [1, 40, 3000])
def test_long_runs(size):
    mask = np.zeros((size, 1000), bool)
    mask[size // 3 :, 100:900] = True
    mask[:, 950:] = True
    text = Crop.of(mask).encode(mask.shape)
    assert text == reference.encode(np.asfortranarray(mask, dtype=np.uint8))["counts"].decode()
    assert np.array_equal(crop_runs(text, mask.shape).to_mask(mask.shape), mask)


@pytest.mark.parametrize("text", ["", "x\x7f", "0", "5", "P", "o"])
def test_broken_run_lengths(text):
    with pytest.raises(ValueError, match="run lengths"):
        crop_runs(text, (2, 3))


@given(segmentations())
def test_a_contour_is_cropped_to_what_it_fills_in_the_whole_image(given):
    for seed, radii in zip(given.seeds, given.radii, strict=True):
        crop = crop_contour(seed, radii, given.shape)
        np.testing.assert_array_equal(pasted(crop), contours.to_mask(seed, radii, given.shape))


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(3, 12))
def test_a_pixel_belongs_to_a_polygon_if_its_centre_does(seed, n_points):
    points = np.random.default_rng(seed).uniform(-8, 24, (n_points, 2))
    np.testing.assert_array_equal(crop_polygon(points, (16, 20)).to_mask((16, 20)), polygon2mask((16, 20), points))


@given(*[st.integers(0, 20)] * 2)
def test_polygons_that_share_an_edge_share_no_pixel_though_centres_lie_on_it(top, bottom):
    corners, shape = np.array([[1, 1], [1, 11], [9, 11], [9, 1]]), (12, 14)
    ends = np.array([[1, 1 + top / 2], [9, 1 + bottom / 2]])
    left = crop_polygon(np.array([corners[0], ends[0], ends[1], corners[3]]), shape)
    right = crop_polygon(np.array([ends[0], corners[1], corners[2], ends[1]]), shape)
    assert not left.meets(right)
    np.testing.assert_array_equal(left.join(right).to_mask(shape), crop_polygon(corners, shape).to_mask(shape))


@given(arrays(np.int32, (2, 9, 11), elements=st.integers(0, 4)))
def test_a_whole_nucleus_is_what_both_label_images_say_of_it(layers):
    labels, second = layers[0], np.where(layers[0] > 0, layers[1], 0)
    for number, crop in enumerate(crop_nuclei(labels, second, 3), start=1):
        np.testing.assert_array_equal(crop.to_mask((9, 11)), (labels == number) | (second == number))


def test_without_nuclei_all_crops_are_empty():
    assert [crop.area for crop in crop_nuclei(None, None, 3)] == [0, 0, 0]
    assert crop_nuclei(np.ones((3, 3), np.int32), None, 0) == []


def test_a_crop_does_not_keep_the_image_in_memory():
    mask = np.zeros((100, 100), bool)
    mask[40:42, 40:42] = True
    assert Crop.of(mask).mask.base is None


def test_crops_are_made_once_for_each_segmentation():
    given = segmentation()
    assert given.crops is given.crops and given.nucleus_crops is given.nucleus_crops
    larger = replace(given, radii=given.radii + 1)
    assert larger.crops is not given.crops
    assert all(new.area > old.area for new, old in zip(larger.crops[:-1], given.crops[:-1], strict=True))


def test_an_outline_that_never_stops_is_refused():
    zigzag = np.column_stack([np.tile([0.0, 30_000.0], 500), np.linspace(0, 9, 1000)])
    with pytest.raises(ValueError, match="crosses rows of the image"):
        crop_polygon(zigzag, (30_000, 10))
