from __future__ import annotations

import numpy as np

from declump.pipelines.missing_seeds import find_missing_seeds
from declump.records.segmentation import Segmentation


def discs(*cells: tuple[float, float, float], shape: tuple[int, int] = (200, 300)) -> Segmentation:
    """Row, column and radius of each cell."""
    array = np.array(cells, float).reshape(-1, 3)
    radii = np.repeat(array[:, 2:], 90, axis=1)
    return Segmentation(shape, array[:, :2].copy(), radii, np.zeros(len(array), np.int64))


def test_a_large_part_that_no_cell_explains_asks_for_a_seed() -> None:
    rows, columns = np.mgrid[:200, :300]
    clump = (np.hypot(rows - 100, columns - 80) < 42) | (np.hypot(rows - 100, columns - 170) < 40)
    (seed,) = find_missing_seeds(discs((100, 80, 40)), clump)
    assert np.hypot(*(seed - (100, 170))) < 8
    assert len(find_missing_seeds(discs((100, 80, 40), (100, 170, 39)), clump)) == 0


def test_what_the_border_cuts_asks_for_none() -> None:
    rows, columns = np.mgrid[:200, :300]
    clump = (np.hypot(rows - 100, columns - 80) < 42) | (np.hypot(rows - 0, columns - 200) < 60)
    assert len(find_missing_seeds(discs((100, 80, 40)), clump)) == 0
    assert len(find_missing_seeds(discs(), clump)) == 0
