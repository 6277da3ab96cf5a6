from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from skimage.measure import regionprops

from declump.measurements.nuclei import MEASURED, nucleus_geometry
from declump.records.crops import Crop, crop_labels


def test_a_disc_and_an_ellipse():
    rows, columns = np.mgrid[:80, :140]
    labels = np.zeros((80, 140), dtype=np.int32)
    labels[np.hypot(rows - 40, columns - 30) <= 15] = 1
    labels[np.hypot((rows - 40) / 12, (columns - 100) / 20) <= 1] = 2
    found = nucleus_geometry(crop_labels(labels, 2))
    np.testing.assert_allclose(found["area"], np.pi * np.array([225, 240]), rtol=0.01)
    np.testing.assert_allclose(found["row"], 40, atol=1e-9)
    np.testing.assert_allclose(found["column"], [30, 100], atol=1e-9)
    np.testing.assert_allclose(found["major"], [30, 40], rtol=0.01)
    np.testing.assert_allclose(found["minor"], [30, 24], rtol=0.01)
    np.testing.assert_allclose(found["eccentricity"], [0, 0.8], atol=0.01)
    np.testing.assert_allclose(found["perimeter"][0], 30 * np.pi, rtol=0.03)
    assert found["circularity"][0] == pytest.approx(1, abs=0.06)
    assert (found["solidity"] > 0.95).all()


@given(arrays(np.int32, (14, 17), elements=st.integers(0, 3)))
def test_the_figures_are_those_of_regionprops(labels):
    found = nucleus_geometry(crop_labels(labels, 3))
    regions = {region.label: region for region in regionprops(labels)}
    for label in (1, 2, 3):
        own = [found[name][label - 1] for name in MEASURED[:-1]]
        if label not in regions:
            assert np.isnan(own).all()
            continue
        region = regions[label]
        expected = (
            region.area,
            region.perimeter_crofton,
            *region.centroid,
            region.axis_major_length,
            region.axis_minor_length,
            region.eccentricity,
            region.solidity,
        )
        np.testing.assert_allclose(own, expected, atol=1e-5)
        assert 0 < found["circularity"][label - 1] <= 1


def test_unknown_nuclei_and_labels_beyond_the_cells():
    assert all(
        np.isnan(values).all() and values.shape == (3,) for values in nucleus_geometry([Crop.nothing()] * 3).values()
    )
    labels = np.zeros((9, 9), dtype=np.int32)
    labels[2:4, 2:4], labels[6, 6] = 2, 7
    found = nucleus_geometry(crop_labels(labels, 3))
    np.testing.assert_array_equal(found["area"], [np.nan, 4, np.nan])
    assert all(values.shape == (0,) for values in nucleus_geometry([]).values())
