from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from declump.measurements.cover import TOUCHING, cover, neighbours
from declump.records.segmentation import Segmentation


def discs(*rows_columns_radii: tuple[float, float, float], shape=(100, 120), rays=180) -> Segmentation:
    row, column, radius = np.array(rows_columns_radii, dtype=float).reshape(-1, 3).T
    return Segmentation(
        shape, np.column_stack([row, column]), radius[:, None] * np.ones(rays), np.zeros(len(row), dtype=np.int64)
    )


def lens(first: float, second: float, apart: float) -> float:
    """Area common to two discs."""
    one = np.arccos((apart**2 + first**2 - second**2) / (2 * apart * first))
    two = np.arccos((apart**2 + second**2 - first**2) / (2 * apart * second))
    return first**2 * (one - np.sin(2 * one) / 2) + second**2 * (two - np.sin(2 * two) / 2)


def test_pixels_are_those_of_the_masks():
    cells = discs((30, 30, 20), (35, 50, 15), (2, 118, 12), (60, 60, 0))
    covered = cover(cells)
    np.testing.assert_array_equal(covered.layers, cells.masks.sum(axis=0))
    np.testing.assert_array_equal(covered.pixels, cells.masks.sum(axis=(1, 2)))
    for crop, whole in zip(covered.crops, cells.masks, strict=True):
        np.testing.assert_array_equal(crop.to_mask(cells.shape), whole)


def test_two_discs_share_a_lens():
    covered = cover(discs((50, 40, 30), (50, 70, 25)))
    assert covered.shared[0] == covered.shared[1] == pytest.approx(lens(30, 25, 30), rel=0.02)
    either, both, most = covered.union(np.array([0, 1]))
    assert both == covered.shared[0]
    assert either == covered.pixels.sum() - both
    assert most == 2


def test_a_disc_inside_another_leaves_a_ring():
    covered = cover(discs((50, 50, 40), (50, 50, 20)))
    assert covered.shared[1] == covered.pixels[1] == covered.shared[0]
    assert covered.pixels[0] - covered.shared[0] == pytest.approx(np.pi * (40**2 - 20**2), rel=0.01)


def test_cells_on_the_border():
    cells = discs((50, 50, 20), (10, 50, 20), (50, 5, 9), (90, 60, 15), (50, 112, 9), (19, 90, 19.5), (-40, 50, 10))
    np.testing.assert_array_equal(cover(cells).on_border, [False, True, True, True, True, True, False])


def test_neighbours_overlap_or_touch():
    gap = TOUCHING * 10
    cells = discs((50, 20, 10), (50, 35, 10), (50, 55 + 0.9 * gap, 10), (50, 76 + 2 * gap, 10), (5, 5, 0))
    overlapping, touching = neighbours(cells, cover(cells))
    np.testing.assert_array_equal(overlapping, [1, 1, 0, 0, 0])
    np.testing.assert_array_equal(touching, [1, 2, 1, 0, 0])


def test_a_cell_around_another_is_its_neighbour():
    cells = discs((50, 50, 40), (50, 50, 5))
    overlapping, touching = neighbours(cells, cover(cells))
    assert overlapping.tolist() == touching.tolist() == [1, 1]


def test_nothing_is_covered_by_no_cells():
    covered = cover(discs())
    assert covered.pixels.shape == covered.shared.shape == covered.on_border.shape == (0,)
    assert covered.union(np.array([], dtype=int)) == (0, 0, 0)
    assert [counts.shape for counts in neighbours(discs(), covered)] == [(0,), (0,)]


places = st.tuples(st.floats(-20, 120), st.floats(-20, 140), st.floats(0, 30))


@given(st.lists(places, min_size=1, max_size=6, unique_by=lambda place: place[:2]))
def test_overlapping_cells_touch_and_counts_agree_with_the_masks(found):
    cells = discs(*found)
    overlapping, touching = neighbours(cells, cover(cells))
    masks = cells.masks.reshape(len(cells), -1).astype(int)
    shared = masks @ masks.T > 0
    np.fill_diagonal(shared, False)
    np.testing.assert_array_equal(overlapping, shared.sum(axis=1))
    assert (touching >= overlapping).all()
