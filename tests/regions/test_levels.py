from __future__ import annotations

import numpy as np
import pytest

from declump.regions.levels import find_level_spots


def disc(shape: tuple[int, int], row: float, column: float, radius: float) -> np.ndarray:
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    return np.hypot(rows - row, columns - column) < radius


@pytest.fixture(scope="module")
def plane() -> np.ndarray:
    """Nuclei on thin and on thick cytoplasm, and a fold."""
    density = np.full((160, 240), 0.1, np.float32)
    density[:, 120:] = 0.7
    density[disc(density.shape, 60, 50, 11)] = 0.5
    density[disc(density.shape, 60, 190, 11)] = 1.1
    density[120:126, 20:100] = 0.8
    return density


def test_round_spots_are_found_whatever_they_lie_on(plane: np.ndarray) -> None:
    found = find_level_spots(plane, np.linspace(0.15, 1.3, 13).tolist(), 22.0, np.ones(plane.shape, bool))
    numbers = {int(found[60, 50]), int(found[60, 190])}
    assert len(numbers) == 2 and 0 not in numbers
    assert not found[118:128].any()
    for number, column in ((found[60, 50], 50), (found[60, 190], 190)):
        true, own = disc(plane.shape, 60, column, 11), found == number
        assert 2 * (true & own).sum() / (true.sum() + own.sum()) > 0.9


@pytest.mark.parametrize("radius", [6, 11, 20, 24])
def test_nuclei_are_found_from_small_ones_to_those_of_twice_the_usual_size(radius: int) -> None:
    true = disc((160, 160), 80, 80, radius)
    found = find_level_spots(np.where(true, 0.6, 0.1).astype(np.float32), (0.25, 0.45), 22.0, np.ones((160, 160), bool))
    assert 2 * (true & (found == 1)).sum() / (true.sum() + (found > 0).sum()) > 0.85


def test_nothing_is_looked_for_where_it_is_not_free(plane: np.ndarray) -> None:
    free = np.ones(plane.shape, bool)
    free[:, 120:] = False
    found = find_level_spots(plane, np.linspace(0.15, 1.3, 13).tolist(), 22.0, free)
    assert found[60, 50] and not found[:, 122:].any()
    assert not find_level_spots(np.zeros((31, 33), np.float32), (0.2, 0.4), 22.0, np.ones((31, 33), bool)).any()
