from __future__ import annotations

import numpy as np

from declump.regions.nuclei import RULES, NucleusReader, NucleusRules

SHAPE = (90, 120)
ROWS, COLUMNS = np.mgrid[: SHAPE[0], : SHAPE[1]]


def separate_nuclei(*maps: np.ndarray, diameter: float, rules: NucleusRules = RULES, cut: bool = False) -> np.ndarray:
    return NucleusReader(*maps, diameter).separate(rules, cut=cut)


def maps_of(nuclei: list[tuple[float, float, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probability, nearness and luminance of discs (row, column, radius) as a perfect network would give them."""
    mask, centre_map = np.zeros(SHAPE, bool), np.zeros(SHAPE, np.float32)
    for row, column, radius in nuclei:
        distance = np.hypot(ROWS - row, COLUMNS - column)
        mask |= distance <= radius
        centre_map = np.maximum(centre_map, 1 - distance / (1.5 * radius)).astype(np.float32)
    return mask.astype(np.float32), centre_map, np.where(mask, 0.4, 0.8).astype(np.float32)


def count(nuclei: list[tuple[float, float, float]]) -> int:
    return int(separate_nuclei(*maps_of(nuclei), diameter=20).max())


def test_every_nucleus_is_found_whole() -> None:
    mask, centre_map, luminance = maps_of([(20, 20, 9), (50, 80, 11)])
    labels = separate_nuclei(mask, centre_map, luminance, diameter=20)
    assert labels.max() == 2
    np.testing.assert_array_equal(labels > 0, mask > 0)


def test_touching_and_overlapping_nuclei_are_one_each() -> None:
    assert count([(40, 40, 10), (40, 59, 10)]) == 2
    assert count([(40, 40, 10), (40, 54, 10)]) == 2
    assert count([(40, 40, 10), (40, 56, 10), (53, 48, 10)]) == 3


def test_specks_are_no_nuclei() -> None:
    assert count([(40, 40, 10), (70, 90, 2)]) == 1


def test_what_is_not_darker_than_its_surroundings_is_no_nucleus() -> None:
    mask, centre_map, luminance = maps_of([(40, 40, 10)])
    assert separate_nuclei(mask, centre_map, np.full_like(luminance, 0.6), diameter=20).max() == 0


def test_a_doubtful_nucleus_keeps_its_whole_outline() -> None:
    probability, centre_map, luminance = maps_of([(40, 40, 10)])
    doubtful = separate_nuclei(0.4 * probability, centre_map, luminance, diameter=20)
    np.testing.assert_array_equal(doubtful > 0, probability > 0)
    strict = NucleusRules(min_probability=0.5)
    assert separate_nuclei(0.4 * probability, centre_map, luminance, diameter=20, rules=strict).max() == 0


def test_two_nuclei_with_one_peak_between_them_are_cut_at_the_waist() -> None:
    probability, _, luminance = maps_of([(40, 40, 12), (40, 62, 12)])
    single_peak = np.maximum(1 - np.hypot(ROWS - 40, COLUMNS - 51) / 40, 0).astype(np.float32)
    labels = separate_nuclei(probability, single_peak, luminance, diameter=24)
    assert labels.max() == 2
    assert labels[40, 40] != labels[40, 62] and labels[40, 40] > 0 and labels[40, 62] > 0


def test_a_nucleus_on_the_border_counts_only_if_asked_for() -> None:
    maps = maps_of([(4, 40, 10), (60, 60, 10)])
    assert separate_nuclei(*maps, diameter=20).max() == 1
    assert separate_nuclei(*maps, diameter=20, cut=True).max() == 2


def test_what_is_small_beside_the_other_nuclei_is_a_leukocyte_or_debris() -> None:
    large = [(25, 25, 14), (25, 70, 14), (65, 40, 14)]
    assert count([*large, (65, 90, 8)]) == 4
    assert count([*large, (65, 90, 6.5)]) == 3


def test_nothing_gives_nothing() -> None:
    assert count([]) == 0
