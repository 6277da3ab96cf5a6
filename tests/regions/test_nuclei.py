from __future__ import annotations

import numpy as np

from declump.regions.inference import Maps
from declump.regions.nuclei import nuclei_from_maps

SHAPE = (90, 120)
ROWS, COLUMNS = np.mgrid[: SHAPE[0], : SHAPE[1]]


def maps_of(nuclei: list[tuple[float, float, float]]) -> tuple[Maps, np.ndarray, np.ndarray]:
    """What a perfect network would say of discs (row, column, radius) in a clump that fills the image."""
    mask, nearness = np.zeros(SHAPE, bool), np.zeros(SHAPE, np.float32)
    for row, column, radius in nuclei:
        distance = np.hypot(ROWS - row, COLUMNS - column)
        mask |= distance <= radius
        nearness = np.maximum(nearness, 1 - distance / (1.5 * radius)).astype(np.float32)
    classes = np.stack([np.zeros(SHAPE), ~mask, mask]).astype(np.float32)
    luminance = np.where(mask, 0.4, 0.8).astype(np.float32)
    return Maps(classes, nearness, np.zeros((4, *SHAPE), np.float32)), luminance, np.ones(SHAPE, bool)


def count(nuclei: list[tuple[float, float, float]]) -> int:
    return int(nuclei_from_maps(*maps_of(nuclei), diameter=20).max())


def test_every_nucleus_is_found_whole() -> None:
    maps, luminance, clump = maps_of([(20, 20, 9), (50, 80, 11)])
    labels = nuclei_from_maps(maps, luminance, clump, diameter=20)
    assert labels.max() == 2
    np.testing.assert_array_equal(labels > 0, maps.classes[2] > 0.5)


def test_touching_and_overlapping_nuclei_are_one_each() -> None:
    assert count([(40, 40, 10), (40, 59, 10)]) == 2
    assert count([(40, 40, 10), (40, 54, 10)]) == 2
    assert count([(40, 40, 10), (40, 56, 10), (53, 48, 10)]) == 3


def test_specks_are_no_nuclei() -> None:
    assert count([(40, 40, 10), (70, 90, 2)]) == 1


def test_what_is_not_darker_than_its_surroundings_is_no_nucleus() -> None:
    maps, luminance, clump = maps_of([(40, 40, 10)])
    assert nuclei_from_maps(maps, np.full_like(luminance, 0.6), clump, diameter=20).max() == 0


def test_a_nucleus_outside_every_clump_is_no_cell() -> None:
    maps, luminance, clump = maps_of([(40, 40, 10), (40, 90, 10)])
    clump[:, 70:] = False
    assert nuclei_from_maps(maps, luminance, clump, diameter=20).max() == 1


def test_nothing_gives_nothing() -> None:
    assert count([]) == 0
