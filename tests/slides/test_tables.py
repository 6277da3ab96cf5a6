"""Polygons of cells: few vertices, near the outline, and never crossing themselves."""

from __future__ import annotations

import numpy as np
import pytest

from declump.shapes import contours
from declump.slides.tables import SIMPLIFIED, to_polygons

shapely = pytest.importorskip("shapely")
ANGLES = np.arange(360) * np.pi / 180


def draw_radii(count: int, roughness: float) -> np.ndarray:
    """Wavy outlines; rough ones have spikes, and parts that come near the seed."""
    rng = np.random.default_rng(0)
    waves = [rng.normal(0, 0.3 / k, (count, 1)) * np.sin(k * ANGLES + rng.uniform(0, 6, (count, 1))) for k in (2, 3, 5)]
    radii = 30 * (1 + sum(waves)) * rng.uniform(1 - roughness, 1, (count, 360)) ** 4
    return np.clip(radii * 16, 8, 60_000).astype(np.uint16)


@pytest.mark.parametrize("roughness", [0.0, 1.0])
def test_polygons_are_valid_and_an_eighth_of_a_pixel_off_at_most(roughness: float) -> None:
    seeds, radii = np.array([[90_000, 80_000]] * 20), draw_radii(20, roughness)
    polygons = to_polygons(seeds, radii)
    assert shapely.is_valid(polygons).all() and (shapely.area(polygons) > 0).all()
    rows, columns = contours.directions(360)
    reach = radii / 16
    outlines = shapely.polygons(np.stack([80_000.5 + reach * columns, 90_000.5 + reach * rows], axis=-1))
    assert shapely.hausdorff_distance(shapely.boundary(outlines), shapely.boundary(polygons)).max() <= 2 * SIMPLIFIED
    if not roughness:
        assert (shapely.get_num_coordinates(polygons) < 120).all()


def test_a_cell_of_no_extent_is_a_polygon_still() -> None:
    assert shapely.get_type_id(to_polygons(np.array([[5, 5]]), np.zeros((1, 360), np.uint16))).tolist() == [3]
