"""Tiles of a slide show what its pixels are, at any zoom."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from declump.records.boxes import Box
from declump.review.server.slide_tiles import SlidePyramid
from declump.review.server.tiles import SIDE
from declump.slides.readers import ArraySlide

ROWS, COLUMNS = np.mgrid[:1500, :2300]
SMOOTH = np.stack([ROWS // 8, COLUMNS // 12, (ROWS + COLUMNS) // 20], axis=-1).astype(np.uint8)


def slide(pixels: np.ndarray) -> ArraySlide:
    return ArraySlide(Path("slide.tif"), pixels)


def decode(tile: bytes | None) -> np.ndarray:
    assert tile is not None
    return np.asarray(Image.open(io.BytesIO(tile))).astype(int)


def test_the_deepest_tiles_are_the_pixels() -> None:
    pyramid = SlidePyramid([slide(SMOOTH)])
    for column, row in ((0, 0), (4, 2), (2, 1)):
        part = SMOOTH[row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE]
        shown = decode(pyramid.tile(pyramid.deepest, column, row))
        assert shown.shape == part.shape and np.abs(shown - part).max() < 12
    assert pyramid.tile(pyramid.deepest, 5, 0) is None and pyramid.tile(pyramid.deepest + 1, 0, 0) is None


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_smaller_tiles_show_the_same_place(levels: int) -> None:
    pyramid = SlidePyramid([slide(SMOOTH[:: 2**k, :: 2**k]) for k in range(levels)])
    assert pyramid.describe() == {"shape": [1500, 2300], "tiles": {"deepest": 12, "shallowest": 9}}
    for level in range(pyramid.shallowest, pyramid.deepest + 1):
        step = 2 ** (pyramid.deepest - level)
        height, width = (-(-side // step) for side in pyramid.shape)
        shown = decode(pyramid.tile(level, 0, 0))
        assert shown.shape[:2] == (min(height, SIDE), min(width, SIDE))
        expected = SMOOTH[step // 2 :: step, step // 2 :: step][: shown.shape[0], : shown.shape[1]]
        seen = shown[: expected.shape[0], : expected.shape[1]]
        assert np.abs(seen - expected).mean() < 2 and np.abs(seen - expected).max() < 16


def test_where_levels_are_far_apart_the_smaller_one_is_shown_larger() -> None:
    large = np.zeros((40_000, 64), np.uint8)
    large[20_000:] = 200

    class Watched(ArraySlide):
        def read(self, box: Box) -> np.ndarray:
            read.append(box)
            return super().read(box)

    read: list[Box] = []
    pyramid = SlidePyramid([Watched(Path("slide.tif"), large)])
    read.clear()
    shown = decode(pyramid.tile(pyramid.shallowest, 0, 0))
    assert not read  # by the thumbnail
    assert shown[: len(shown) // 2 - 2].max() < 20 and shown[len(shown) // 2 + 2 :].min() > 180


def test_sixteen_bits_are_shown_alike_in_all_tiles() -> None:
    deep = (ROWS * 20 + 1000).astype(np.uint16)
    pyramid = SlidePyramid([slide(deep)])
    top, bottom = (decode(pyramid.tile(pyramid.deepest, 0, row)) for row in (0, 2))
    assert top[0].mean() < 5 and bottom[-1].mean() > 250
    assert abs(top[-1].mean() - decode(pyramid.tile(pyramid.deepest, 0, 1))[0].mean()) < 4


def test_parts_are_cut_out_and_kept_small() -> None:
    pyramid = SlidePyramid([slide(SMOOTH)])
    assert decode(pyramid.crop(100, 200, 140, 260)).shape == (40, 60, 3)
    assert max(decode(pyramid.crop(0, 0, 1500, 2300)).shape) <= SIDE
    assert pyramid.crop(1500, 0, 1600, 50) is None
