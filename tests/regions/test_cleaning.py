"""Clumps without specks and pinholes."""

from __future__ import annotations

import numpy as np
import pytest

from declump.regions.cleaning import clean_clump


@pytest.mark.parametrize(("hole", "clump"), [(0, 0), (1, 1), (3.7, 2.2), (10, 9), (40, 400)])
def test_small_holes_are_filled_and_small_clumps_dropped(hole: float, clump: float) -> None:
    mask = np.random.default_rng(1).random((60, 70)) < 0.55
    expected = mask.copy()
    for value, keeps in ((False, lambda size: size > hole), (True, lambda size: size >= clump)):
        for piece in _pieces(expected == value):
            if not keeps(len(piece)):
                expected[tuple(np.transpose(piece))] = not value
    np.testing.assert_array_equal(clean_clump(mask, hole, clump), expected)


def _pieces(mask: np.ndarray) -> list[list[tuple[int, int]]]:
    """Pixels of the pieces of a mask (4-neighbours), found one pixel after the other."""
    left, pieces = set(zip(*np.nonzero(mask), strict=True)), []
    while left:
        piece = [left.pop()]
        for row, column in piece:
            for neighbour in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if neighbour in left:
                    left.remove(neighbour)
                    piece.append(neighbour)
        pieces.append(piece)
    return pieces
