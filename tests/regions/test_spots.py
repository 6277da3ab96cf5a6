from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage
from skimage.morphology import h_maxima

from declump._kernels import outstanding_peaks
from declump.regions.nuclei import RULES, NucleusReader
from declump.regions.spots import find_spots

NOWHERE = np.zeros((160, 200), np.bool_)


def paint(*discs: tuple[float, float, float, float], shape: tuple[int, int] = (160, 200)) -> tuple[np.ndarray, ...]:
    """Probability, centre map and luminance of discs: row, column, radius, and how sure the network is of each."""
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    probability, centre, luminance = np.zeros(shape), np.zeros(shape), np.ones(shape)
    for row, column, radius, sure in discs:
        distance = np.hypot(rows - row, columns - column)
        probability = np.maximum(probability, sure * (distance < radius))
        centre = np.maximum(centre, sure * np.clip(1 - distance / (1.5 * radius), 0, 1))
        luminance = np.where(distance < radius, 1 - 0.6 * sure, luminance)
    return tuple(array.astype(np.float32) for array in (probability, centre, luminance))


def test_faint_spots_come_after_sure_ones_and_change_none_of_them() -> None:
    maps = paint((40, 40, 11, 0.95), (110, 60, 11, 0.3), (60, 140, 11, 0.9), (120, 150, 9, 0.2))
    spots, sure = find_spots(*maps, 22.0, clump=NOWHERE), NucleusReader(*maps, 22.0).separate(RULES)
    assert sure.max() == 2 and spots.max() == 4
    assert (spots[sure > 0] == sure[sure > 0]).all()
    assert spots[110, 60] > 2 and spots[120, 150] > 2


def test_an_empty_image_has_no_spots() -> None:
    for clump in (NOWHERE, ~NOWHERE):
        assert not find_spots(*paint(), 22.0, clump=clump).any()


def test_dark_spots_that_the_network_does_not_see_are_offered_in_clumps() -> None:
    probability, centre, luminance = paint((40, 40, 11, 0.95), (110, 60, 11, 0.9), (60, 140, 11, 0.8))
    probability[:, 100:], probability[80:] = 0, 0
    clump = np.ones(luminance.shape, bool)
    clump[80:] = False
    assert find_spots(probability, centre, luminance, 22.0, clump=NOWHERE).max() == 1
    spots = find_spots(probability, centre, luminance, 22.0, clump=clump)
    assert spots.max() == 2 and spots[60, 140] == 2 and not spots[110, 60]


def test_a_fragment_becomes_the_round_spot_that_it_is_of_and_sure_spots_stay() -> None:
    probability, centre, luminance = paint((40, 40, 11, 0.95), (60, 140, 11, 0.9))
    rows, columns = np.mgrid[:160, :200]
    probability[(columns > 136) & (rows < 80)] = 0
    before = find_spots(probability, centre, luminance, 22.0, clump=NOWHERE)
    after = find_spots(probability, centre, luminance, 22.0, clump=~NOWHERE)
    assert before.max() == after.max() == 2
    assert ((after == after[40, 40]) == (before == before[40, 40])).all()
    true = np.hypot(rows - 60, columns - 140) < 11
    own = after == after[60, 145]
    assert after[60, 145] and 2 * (true & own).sum() / (true.sum() + own.sum()) > 0.9


def test_a_spot_that_the_border_cuts_is_not_offered() -> None:
    probability, centre, luminance = paint((2, 100, 11, 0.9), (80, 100, 11, 0.9))
    probability[:] = 0
    assert find_spots(probability, centre, luminance, 22.0, clump=~NOWHERE).max() == 1
    assert find_spots(probability, centre, luminance, 22.0, clump=~NOWHERE, cut=True).max() == 2


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.integers(1, 25), st.integers(1, 25), st.integers(1, 150), st.floats(0, 2))
def test_outstanding_peaks_are_h_maxima(seed: int, height: int, width: int, dip: int, smoothing: float) -> None:
    rng = np.random.default_rng(seed)
    values = ndimage.gaussian_filter(rng.random((height, width)), smoothing)
    values = (values - values.min()) / max(np.ptp(values), 1e-9)
    levels = np.pad(np.round(values * rng.uniform(2, 255)).astype(np.uint8), 1)
    np.testing.assert_array_equal(outstanding_peaks(levels, dip), h_maxima(levels, dip).astype(bool))
