from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from declump.evaluation import overlap_degree

ROOT2 = np.sqrt(2)


def disc(row: float, column: float, radius: float, size: int) -> np.ndarray:
    rows, columns = np.indices((size, size))
    return (rows - row) ** 2 + (columns - column) ** 2 <= radius**2


@pytest.mark.parametrize("distance", [20.0, 60.0, 100.0, 140.0])
@pytest.mark.parametrize("angle", [0.0, 0.4, np.pi / 4])
def test_two_equal_discs_have_the_analytic_share(distance, angle):
    radius, middle = 80.0, 160.0
    offset = distance / 2 * np.array([np.sin(angle), np.cos(angle)])
    masks = np.stack([disc(*(middle + offset), radius, 321), disc(*(middle - offset), radius, 321)])
    # Of a circle of radius R the arc within acos(d / 2R) of the line of centres lies in the other.
    np.testing.assert_allclose(overlap_degree(masks), np.arccos(distance / 2 / radius) / np.pi, atol=0.015)


def test_hand_counted_squares():
    masks = np.zeros((2, 9, 12), bool)
    masks[0, 2:7, 1:6] = True
    masks[1, 2:7, 4:9] = True
    outline = 12 + 4 * ROOT2
    covered = 3 + 2 * ROOT2 + 2
    np.testing.assert_allclose(overlap_degree(masks), covered / outline)


def test_cells_side_by_side_do_not_overlap_and_a_cell_inside_another_is_all_covered():
    masks = np.zeros((3, 20, 20), bool)
    masks[0, 1:10, 1:10] = True
    masks[1, 1:10, 10:19] = True
    masks[2, 3:6, 3:6] = True
    np.testing.assert_array_equal(overlap_degree(masks), [0, 0, 1])


def test_the_image_border_is_no_boundary():
    masks = np.zeros((2, 6, 10), bool)
    masks[0, :, :4] = True
    masks[1, :3, 3:] = True
    # The first cell is open only along column 3, of which the second covers rows 0 to 2. Of the second, 3 pixels are
    # open to the left (one of them a corner) and 7 below (the same corner); column 3 lies in the first.
    np.testing.assert_allclose(overlap_degree(masks), [0.5, (2 + ROOT2) / (2 + ROOT2 + 6)])


def test_cells_without_boundary_have_degree_zero():
    masks = np.zeros((2, 5, 5), bool)
    masks[0] = True
    np.testing.assert_array_equal(overlap_degree(masks), [0, 0])
    assert overlap_degree(masks[:0]).shape == (0,)


def test_thin_cells_count_both_sides_of_their_outline():
    masks = np.zeros((2, 5, 9), bool)
    masks[0, 2, 1:8] = True
    masks[1, 0:5, 4:9] = True
    middle, end = 2.0, np.hypot(2, 1)
    assert overlap_degree(masks)[0] == pytest.approx((3 * middle + end) / (5 * middle + 2 * end))


@given(st.integers(0, 5).flatmap(lambda n: arrays.arrays(bool, (n, 7, 8))), st.randoms(use_true_random=False))
def test_degree_is_a_share_and_follows_its_cell(masks, random):
    degree = overlap_degree(masks)
    assert ((degree >= 0) & (degree <= 1)).all()
    order = random.sample(range(len(masks)), len(masks))
    np.testing.assert_allclose(overlap_degree(masks[order]), degree[order])
    np.testing.assert_allclose(overlap_degree(masks.transpose(0, 2, 1)), degree)
    np.testing.assert_allclose(overlap_degree(masks[:, ::-1, ::-1]), degree)


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match=r"masks must be an \(N, H, W\) bool array"):
        overlap_degree(np.zeros((2, 3, 3)))
