"""Nuclei read from maps that are drawn by hand."""

import numpy as np
import pytest

from declump.regions.inference import CENTRES, Maps
from declump.regions.objects import find_objects, find_peaks

SHAPE = (120, 160)
PLACES = np.array([[40, 40], [40, 62], [90, 120]])
RADIUS = 11.0


def draw_maps(places=PLACES, radius=RADIUS):
    rows, columns = np.indices(SHAPE)
    away = np.array([np.hypot(rows - row, columns - column) for row, column in places])
    nucleus = np.clip(radius + 0.5 - away, 0, 1).max(axis=0).astype(np.float32)
    clump = np.ones(SHAPE, np.float32)
    classes = np.stack([1 - clump, clump - nucleus, nucleus])
    centres = np.zeros((CENTRES, *SHAPE), np.float32)
    centres[0] = (np.exp(-(away**2) / 30) * np.array([0.9, 0.6, 0.3])[: len(places), None, None]).max(axis=0)
    centres[4] = 0.5 * centres[0]
    nearness = np.clip(1 - away / (1.5 * radius), 0, 1).max(axis=0).astype(np.float32)
    layers = np.zeros((4, *SHAPE), np.float32)
    layers[1] = 1
    return Maps(classes, nearness, layers, centres)


def test_touching_nuclei_are_parted_and_outlined():
    found = find_objects(draw_maps(), 22.0)
    assert found.labels.max() == 3
    for row, column in PLACES:
        own = found.labels == found.labels[row, column]
        rows, columns = np.nonzero(own)
        assert np.hypot(rows.mean() - row, columns.mean() - column) < 1.5
        assert own.sum() == pytest.approx(np.pi * RADIUS**2, rel=0.12)


def test_probabilities_and_grades_are_those_of_the_peaks():
    found = find_objects(draw_maps(), 22.0)
    order = [int(found.labels[row, column]) - 1 for row, column in PLACES]
    np.testing.assert_allclose(found.kinds[order, 0], [0.9, 0.6, 0.3], atol=1e-6)
    np.testing.assert_allclose(found.grades[order, 0], [0.45, 0.3, 0.15], atol=1e-6)


def test_a_part_shows_the_same_objects_as_the_whole():
    maps = draw_maps()
    window = np.s_[:, 16:, 16:]
    part = find_objects(maps.change(lambda planes: np.ascontiguousarray(planes[window])), 22.0)
    np.testing.assert_array_equal(part.labels > 0, find_objects(maps, 22.0).labels[16:, 16:] > 0)


def test_a_centre_without_a_nucleus_is_a_small_object():
    maps = draw_maps()
    maps.classes[1] += maps.classes[2]
    maps.classes[2] = 0
    found = find_objects(maps, 22.0)
    assert found.labels.max() == 3
    assert np.bincount(found.labels.ravel())[1:].max() < 60


def test_objects_that_the_border_cuts_are_left_out():
    maps = draw_maps(np.array([[0, 50], [60, 60]]))
    assert find_objects(maps, 22.0).labels.max() == 1
    assert find_objects(maps, 22.0, cut=True).labels.max() == 2


def test_equal_neighbours_are_one_peak():
    heat = np.zeros((40, 40), np.float32)
    heat[10:12, 10:12] = 0.5
    assert len(find_peaks(heat, 22.0)) == 1
    assert len(find_peaks(heat, 22.0, least=0.6)) == 0
