from __future__ import annotations

import numpy as np
import pytest

from declump.correction import doubled, likeness, missing_seeds
from declump.segmentation import Segmentation


def discs(*cells: tuple[float, float, float], shape: tuple[int, int] = (200, 300)) -> Segmentation:
    """Row, column and radius of each cell."""
    array = np.array(cells, float).reshape(-1, 3)
    radii = np.repeat(array[:, 2:], 90, axis=1)
    return Segmentation(shape, array[:, :2].copy(), radii, np.zeros(len(array), np.int64))


def test_likeness_of_known_shapes() -> None:
    assert likeness(discs((100, 100, 40), (100, 100, 40)), 0, 1) == 1
    assert likeness(discs((100, 100, 40), (100, 100, 20)), 0, 1) == pytest.approx(0.25, abs=0.01)
    assert likeness(discs((50, 60, 20), (150, 200, 30)), 0, 1) == 0
    assert likeness(discs((0, 0, 20), (0, 0, 20)), 0, 1) == 1


def test_of_two_alike_the_surer_stays() -> None:
    cells = discs((100, 100, 40), (104, 103, 41), (100, 150, 40))
    assert doubled(cells, np.array([5.0, 9.0, 1.0])).tolist() == [0]
    assert doubled(cells, np.array([9.0, 5.0, 1.0])).tolist() == [1]
    assert doubled(cells, np.array([5.0, 5.0, 5.0])).tolist() == [1]


def test_three_alike_leave_one_and_cells_apart_all_stay() -> None:
    assert doubled(discs((100, 100, 40), (102, 100, 40), (100, 102, 40)), np.array([1.0, 3.0, 2.0])).tolist() == [0, 2]
    assert doubled(discs((100, 60, 40), (100, 120, 40), (100, 180, 40)), np.ones(3)).size == 0
    assert doubled(discs((100, 60, 40), (100, 62, 0)), np.ones(2)).size == 0
    assert doubled(discs(), np.ones(0)).size == 0


def test_a_large_part_that_no_cell_explains_asks_for_a_seed() -> None:
    rows, columns = np.mgrid[:200, :300]
    clump = (np.hypot(rows - 100, columns - 80) < 42) | (np.hypot(rows - 100, columns - 170) < 40)
    (seed,) = missing_seeds(discs((100, 80, 40)), clump)
    assert np.hypot(*(seed - (100, 170))) < 8
    assert len(missing_seeds(discs((100, 80, 40), (100, 170, 39)), clump)) == 0


def test_what_the_border_cuts_asks_for_none() -> None:
    rows, columns = np.mgrid[:200, :300]
    clump = (np.hypot(rows - 100, columns - 80) < 42) | (np.hypot(rows - 0, columns - 200) < 60)
    assert len(missing_seeds(discs((100, 80, 40)), clump)) == 0
    assert len(missing_seeds(discs(), clump)) == 0
