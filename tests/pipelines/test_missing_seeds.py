from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage
from skimage.morphology import disk

from declump.pipelines.missing_seeds import _open, find_missing_nuclei, find_missing_seeds
from declump.records.regions import Regions
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


def judged(probability: list[float], *, at: tuple[tuple[int, int], ...]) -> Regions:
    """Two discs, a nucleus in the first, and candidates."""
    rows, columns = np.mgrid[:200, :300]
    clump = (np.hypot(rows - 100, columns - 80) < 42) | (np.hypot(rows - 100, columns - 170) < 40)
    candidates = np.zeros(clump.shape, np.int32)
    for number, (row, column) in enumerate(at, start=1):
        candidates[np.hypot(rows - row, columns - column) < 6] = number
    return Regions(
        clump,
        (np.hypot(rows - 100, columns - 80) < 8).astype(np.int32),
        candidates=candidates,
        nucleus_probability=np.array([0.9]),
        candidate_probability=np.array(probability),
    )


def test_the_most_probable_spot_of_an_unexplained_part_is_its_nucleus() -> None:
    regions = judged([0.2, 0.3, 0.4], at=((90, 160), (105, 175), (90, 95)))
    found = find_missing_nuclei(discs((100, 80, 40)), regions, min_nucleus=0.5)
    assert len(found.seeds) == 2 and np.hypot(*(found.seeds[1] - (105, 175))) < 1
    assert found.nucleus_probability is not None and found.nucleus_probability.tolist() == [0.9, 0.3]
    assert found.candidate_probability is not None and found.candidate_probability.tolist() == [0.2, 0.4]
    assert found.candidates is not None and found.candidates.max() == 2


def test_a_part_without_any_spot_gets_no_cell() -> None:
    cells = discs((100, 80, 40))
    for regions in (judged([0.01], at=((105, 175),)), judged([], at=())):
        assert len(find_missing_nuclei(cells, regions, min_nucleus=0.5).seeds) == 1


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.floats(0.5, 3))
def test_opening_by_distances_is_that_by_discs(seed: int, radius: int, grain: float) -> None:
    noise = np.random.default_rng(seed).normal(size=(31, 37))
    mask = ndimage.gaussian_filter(noise, grain) > -0.05
    np.testing.assert_array_equal(_open(mask, radius), ndimage.binary_opening(mask, disk(radius)))
