"""Traced outlines, planes and rebuilt cells."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import ndimage
from shapely.geometry import Polygon

from declump.io.formats.parts import planes
from declump.io.formats.parts.rebuilding import from_outlines, from_pixels
from declump.io.formats.parts.result import Result
from declump.io.formats.parts.tracing import trace
from declump.records.crops import Crop, crop_polygon
from declump.shapes import contours
from support.segmentations import SHAPE, overlap, pasted, segmentation, segmentations

MASKS = arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=14))


@given(MASKS.filter(np.any))
def test_traced_outlines_enclose_their_pixels(mask):
    outline = trace(Crop.of(mask))
    shape = Polygon(outline[:, ::-1])
    assert shape.is_valid and shape.exterior.is_ccw
    inside = pasted(crop_polygon(outline, mask.shape), mask.shape)
    assert inside.sum() == shape.area
    pieces, count = ndimage.label(mask)
    largest = max(range(1, count + 1), key=lambda piece: ((pieces == piece).sum(), -piece))
    assert np.array_equal(inside, ndimage.binary_fill_holes(pieces == largest))


def fewest(neighbours):
    """The number of planes by trying all."""
    count = len(neighbours)
    for number in range(1, count + 1):
        for planes_ in product(range(number), repeat=count):
            if all(planes_[a] != planes_[b] for a in range(count) for b in neighbours[a]):
                return number
    return 0


@st.composite
def graphs(draw, largest):
    count = draw(st.integers(0, largest))
    edges = draw(st.sets(st.sampled_from(list(combinations(range(count), 2))))) if count > 1 else set()
    neighbours = [set() for _ in range(count)]
    for first, second in edges:
        neighbours[first].add(second)
        neighbours[second].add(first)
    return neighbours


@settings(max_examples=60)
@given(graphs(6))
def test_as_few_planes_as_possible(neighbours):
    found = planes.fewest_planes(neighbours)
    assert all(found[cell] != found[other] for cell in range(len(found)) for other in neighbours[cell])
    assert max(found, default=-1) + 1 == fewest(neighbours)


@settings(max_examples=40)
@given(graphs(30))
def test_planes_of_larger_groups(neighbours):
    found = planes.fewest_planes(neighbours)
    assert all(found[cell] != found[other] for cell in range(len(found)) for other in neighbours[cell])
    assert max(found, default=0) <= max(map(len, neighbours), default=0)


def test_search_improves_on_the_greedy_rule():
    # A graph on which DSATUR takes 4 planes, found by trying random ones; 3 suffice.
    for seed in range(3000):
        generator = np.random.default_rng(seed)
        matrix = np.triu(generator.random((10, 10)) < 0.45, 1)
        neighbours = [set(np.flatnonzero(row).tolist()) for row in matrix | matrix.T]
        for group in planes._groups(neighbours):
            greedy = planes._greedy(group, neighbours)
            searched = planes._search(group, neighbours, greedy)
            if max(searched.values()) < max(greedy.values()):
                return
    pytest.fail("the search never helped")


@given(segmentations())
def test_label_planes_hold_every_cell_whole(given):
    labels = planes.label_planes(given)
    assert labels.dtype == np.uint16 and labels.shape[1:] == given.shape
    for index, mask in enumerate(given.masks):
        assert np.array_equal((labels == index + 1).any(axis=0), mask)


@settings(max_examples=20)
@given(st.integers(2, 9), st.integers(0, 1000))
def test_rebuilt_cells_are_the_same(count, rng):
    given = Result(segmentation(count, rng)).segmentation
    seen = [index for index in range(count) if given.mask(index).any()]
    nuclei = [given.nucleus_crops[index] for index in seen]
    for nuclei_ in (None, nuclei):
        by_pixels = from_pixels([given.crops[index] for index in seen], SHAPE, nuclei_)
        by_outlines = from_outlines([given.polygons[index] for index in seen], SHAPE, nuclei_)
        for back in (by_pixels, by_outlines):
            assert len(back) == len(seen)
            for index, mask in zip(seen, back.masks, strict=True):
                assert overlap(mask, given.mask(index)) > 0.93
            touching = (np.array(back.clump)[:, None] == back.clump)[np.triu_indices(len(seen), 1)]
            shared = [(given.mask(a) & given.mask(b)).any() for a, b in combinations(seen, 2)]
            assert (touching | ~np.array(shared, bool)).all()
            assert (back.nuclei is None) == (nuclei_ is None)


@settings(max_examples=30)
@given(st.integers(2, 9), st.integers(0, 1000))
def test_radii_in_a_window_are_those_in_the_image(count, rng):
    given = segmentation(count, rng)
    cells = [crop for crop in given.crops if crop.area]
    back = from_pixels(cells, SHAPE, [Crop(57, 2, np.ones((2, 2), bool))] * len(cells) if rng % 2 else None)
    for cell, seed, radii in zip(cells, back.seeds, back.radii, strict=True):
        np.testing.assert_allclose(radii, contours.outermost_crossings(pasted(cell), seed)[0], atol=1e-9)


def test_results_that_do_not_belong_together():
    given = segmentation()
    with pytest.raises(ValueError, match="give the image that was segmented"):
        Result(given, np.zeros((5, 5)))
    with pytest.raises(ValueError, match="give the image that was segmented"):
        Result(given, np.zeros(5))
    with pytest.raises(ValueError, match="one value for each of the 6 cells"):
        Result(given, measurements={"id": range(6), "area": [1.0]})
    fewer = replace(given, seeds=given.seeds[:2], radii=given.radii[:2], clump=given.clump[:2])
    with pytest.raises(ValueError, match="numbered from 0 to 5, but there are 2 cells"):
        Result(fewer)
