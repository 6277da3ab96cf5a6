from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from skimage.measure import regionprops

from declump.measurements.outlines import distance_to_outline, outline_geometry, quotient
from declump.shapes import contours

RAYS = 360


def ellipse_radii(major: float, minor: float, turn: float = 0.0, rays: int = RAYS) -> np.ndarray:
    """Radii from the centre of an ellipse with these full axes."""
    angles = 2 * np.pi * np.arange(rays) / rays - turn
    return major * minor / 2 / np.hypot(minor * np.cos(angles), major * np.sin(angles))


def measured(seed, radii):
    return outline_geometry(contours.polygon(seed, radii)[None])


shapes = arrays(np.float64, 48, elements=st.floats(5, 50))


def test_a_disc():
    disc = measured((40.0, 30.0), np.full(RAYS, 20.0))
    assert disc.area[0] == pytest.approx(np.pi * 400, rel=1e-4)
    assert disc.perimeter[0] == pytest.approx(40 * np.pi, rel=1e-4)
    assert disc.equivalent_diameter[0] == pytest.approx(40, rel=1e-4)
    np.testing.assert_allclose(disc.axes, [[40, 40]], rtol=1e-4)
    np.testing.assert_allclose(disc.centroid, [[40, 30]], atol=1e-9)
    assert disc.eccentricity[0] == pytest.approx(0, abs=1e-5)
    assert disc.circularity[0] == pytest.approx(1, abs=1e-4)
    assert disc.solidity[0] == disc.convexity[0] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("turn", [0.0, 0.4, np.pi / 2, 2.0])
def test_an_ellipse(turn):
    ellipse = measured((5.0, 7.0), ellipse_radii(60, 36, turn))
    np.testing.assert_allclose(ellipse.axes, [[60, 36]], rtol=1e-3)
    assert ellipse.area[0] == pytest.approx(np.pi * 30 * 18, rel=1e-3)
    assert ellipse.eccentricity[0] == pytest.approx(0.8, abs=1e-3)
    assert ellipse.solidity[0] == pytest.approx(1, abs=1e-9)


def test_a_square_of_which_a_quarter_is_missing():
    """An L of three unit squares, scaled: every figure is known exactly."""
    corners = np.array([(0, 0), (0, 2), (1, 2), (1, 1), (2, 1), (2, 0)], dtype=float)
    shape = outline_geometry(10 * corners[None])
    assert shape.area[0] == pytest.approx(300)
    assert shape.perimeter[0] == pytest.approx(80)
    assert shape.hull_area[0] == pytest.approx(350)
    assert shape.solidity[0] == pytest.approx(300 / 350)
    assert shape.convexity[0] == pytest.approx((60 + 10 * np.sqrt(2)) / 80)
    assert shape.circularity[0] == pytest.approx(4 * np.pi * 300 / 80**2)
    np.testing.assert_allclose(shape.centroid, [[25 / 3, 25 / 3]])


def test_axes_and_centroid_are_those_of_regionprops():
    radii = 40 * (
        1 + 0.25 * np.cos(2 * np.pi * np.arange(RAYS) / RAYS) + 0.15 * np.sin(6 * np.pi * np.arange(RAYS) / RAYS)
    )
    seed = (80.3, 90.6)
    own = measured(seed, radii)
    (region,) = regionprops(contours.to_mask(seed, radii, (170, 180)).astype(int))
    assert own.area[0] == pytest.approx(region.area, rel=2e-3)
    np.testing.assert_allclose(own.centroid[0], region.centroid, atol=0.05)
    np.testing.assert_allclose(own.axes[0], [region.axis_major_length, region.axis_minor_length], rtol=3e-3)
    assert own.eccentricity[0] == pytest.approx(region.eccentricity, abs=5e-3)
    # Pixels on the rim of the hull count whole for regionprops, by as much as lies in it for a polygon.
    assert own.solidity[0] == pytest.approx(region.solidity, abs=0.02)
    assert own.perimeter[0] == pytest.approx(region.perimeter_crofton, rel=0.02)


@pytest.mark.parametrize("radii", [np.zeros(36), np.eye(36)[3] * 9], ids=["point", "line"])
def test_what_encloses_nothing_has_no_shape(radii):
    nothing = measured((3.0, 4.0), radii)
    assert nothing.area[0] == 0
    assert not nothing.filled[0]
    for ratio in (nothing.eccentricity, nothing.solidity, nothing.circularity, nothing.convexity):
        assert np.isnan(ratio[0])
    assert np.isnan(nothing.centroid).all()


def test_no_outlines():
    none = outline_geometry(np.empty((0, 36, 2)))
    assert none.area.shape == none.solidity.shape == (0,)
    assert none.axes.shape == none.centroid.shape == (0, 2)


@given(shapes, st.floats(-1000, 1000), st.floats(-1000, 1000), st.integers(0, 47))
def test_moving_and_turning_and_mirroring_change_no_size(radii, row, column, shift):
    here, there = measured((0, 0), radii), measured((row, column), np.roll(radii, shift))
    mirrored = measured((0, 0), np.roll(radii[::-1], 1))
    for name in ("area", "perimeter", "axes", "solidity", "circularity", "convexity"):
        for other in (there, mirrored):
            np.testing.assert_allclose(getattr(other, name), getattr(here, name), rtol=1e-7, err_msg=name)


@given(shapes, st.floats(0.1, 10))
def test_lengths_grow_with_the_scale_and_areas_with_its_square(radii, scale):
    one, other = measured((0, 0), radii), measured((0, 0), scale * radii)
    for name, power in (
        ("area", 2),
        ("perimeter", 1),
        ("axes", 1),
        ("hull_area", 2),
        ("solidity", 0),
        ("circularity", 0),
    ):
        np.testing.assert_allclose(getattr(other, name), scale**power * getattr(one, name), rtol=1e-7, err_msg=name)


@given(shapes)
def test_ratios_keep_within_their_bounds(radii):
    shape = measured((0, 0), radii)
    for ratio in (shape.eccentricity, shape.solidity, shape.circularity, shape.convexity):
        assert 0 <= ratio[0] <= 1
    assert shape.axes[0, 0] >= shape.axes[0, 1] > 0
    assert shape.area[0] == pytest.approx(contours.area(radii))


def test_distance_to_the_nearest_point_of_an_outline():
    square = np.array([[(0, 0), (0, 10), (10, 10), (10, 0)]], dtype=float)
    points = np.array([(5, 5), (5, 2), (-3, 5), (-3, -4)], dtype=float)
    np.testing.assert_allclose(distance_to_outline(points, np.repeat(square, 4, axis=0)), [5, 2, 3, 5])


def test_a_quotient_by_nothing_is_not_known():
    np.testing.assert_array_equal(quotient([1.0, 2.0, 3.0], [2.0, 0.0, np.nan]), [0.5, np.nan, np.nan])
