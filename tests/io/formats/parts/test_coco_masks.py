from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays
from pycocotools import mask as reference

from declump.io.formats.parts.coco_masks import decode_segmentation, encode_segmentation
from declump.records.crops import Crop

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
MASKS = arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=14))


@given(MASKS)
def test_run_lengths_go_to_pycocotools_and_come_back(mask):
    encoded = encode_segmentation(Crop.of(mask), mask.shape)
    np.testing.assert_array_equal(reference.decode(encoded), mask)
    theirs = reference.encode(np.asfortranarray(mask, dtype=np.uint8))
    told = {"size": theirs["size"], "counts": theirs["counts"].decode()}
    assert told == encoded
    np.testing.assert_array_equal(decode_segmentation(told, mask.shape).to_mask(mask.shape), mask)


def test_polygons_along_the_edges_of_pixels_are_filled_as_pycocotools_does():
    polygons = [[1, 1, 6, 1, 6, 4, 1, 4], [4, 3, 9, 3, 9, 8, 4, 8]]
    theirs = reference.decode(reference.merge(reference.frPyObjects(polygons, 10, 12)))
    np.testing.assert_array_equal(decode_segmentation(polygons, (10, 12)).to_mask((10, 12)), theirs)


@pytest.mark.parametrize(
    ("segmentation", "message"),
    [
        (None, "no segmentation"),
        ([], "no segmentation"),
        ([[1, 1, 2, 2]], "three points"),
        ([[1, 1, 2, 2, 3, "a"]], "list of numbers"),
        ({"size": [3, 4], "counts": "2"}, "has size|have size"),
        ({"size": [4, 3], "counts": [1.5]}, "whole numbers"),
        ({"size": [4, 3], "counts": [5]}, "12 pixels"),
        ({"size": [4, 3], "counts": "\x7f"}, "broken"),
    ],
)
def test_what_is_no_segmentation(segmentation, message):
    with pytest.raises(ValueError, match=message):
        decode_segmentation(segmentation, (4, 3))
