"""Pieces over all tiles are the pieces of the whole, whatever the tiles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import ndimage

from declump.slides.grid import Grid
from declump.slides.stitching import CORNERS, SIDES, TilePieces, find_pieces, find_runs, stitch


@given(
    arrays(np.bool_, st.tuples(st.integers(1, 25), st.integers(1, 25))),
    st.integers(1, 11),
    st.sampled_from([SIDES, CORNERS]),
)
def test_stitched_pieces_are_those_of_the_whole(
    mask: NDArray[np.bool_], tile: int, structure: NDArray[np.int_]
) -> None:
    grid = Grid(mask.shape, tile)

    def load(number: int) -> TilePieces:
        box = grid.box(number)
        return find_pieces(mask[box.slices], (box.top, box.left), structure)

    found = stitch(grid, load, structure)
    joined = np.zeros(mask.shape, np.int64)
    for number in range(len(grid)):
        box = grid.box(number).slices
        joined[box] = find_runs(mask[box], structure).paint(found.of_tile(number) + 1)
    whole, count = ndimage.label(mask, structure=structure)
    np.testing.assert_array_equal(joined, whole)  # numbered as they are met along the rows, too
    assert found.areas.tolist() == np.bincount(whole.ravel(), minlength=count + 1)[1:].tolist()
    boxes = [(r.start, c.start, r.stop, c.stop) for r, c in ndimage.find_objects(whole)]
    assert found.boxes.tolist() == [list(box) for box in boxes]


def test_a_diagonal_across_the_corner_of_four_tiles_is_one_piece() -> None:
    mask = np.zeros((8, 8), bool)
    mask[3, 3] = mask[4, 4] = True
    grid = Grid((8, 8), 4)
    tiles = [find_pieces(mask[grid.box(n).slices], grid.box(n)[:2], CORNERS) for n in range(4)]
    assert len(stitch(grid, tiles.__getitem__, CORNERS).areas) == 1
    assert len(stitch(grid, tiles.__getitem__, SIDES).areas) == 2


@pytest.mark.parametrize("shape", [(10, 10), (1, 30), (33, 2)])
def test_tiles_cover_the_slide_once(shape: tuple[int, int]) -> None:
    grid, seen = Grid(shape, 4), np.zeros(shape, int)
    for number in range(len(grid)):
        seen[grid.box(number).slices] += 1
        assert number in grid.find_meeting(grid.box(number))
    assert (seen == 1).all()
