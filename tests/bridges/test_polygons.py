from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import LineString, Polygon

from declump.bridges.polygons import simplify_outline
from support.segmentations import SHAPE, segmentations


@given(segmentations(), st.floats(0, 4))
def test_fewer_vertices_stay_within_the_tolerance_and_the_image(result, tolerance):
    for outline, radii in zip(result.polygons, result.radii, strict=True):
        ring = simplify_outline(outline, SHAPE, tolerance)
        if ring is None:
            assert not radii.any() or Polygon(np.clip(outline[:, ::-1] + 0.5, 0, SHAPE[::-1])).area < 200
            continue
        assert (ring >= 0).all() and (ring <= SHAPE[::-1]).all()
        whole = np.clip(outline[:, ::-1] + 0.5, 0, SHAPE[::-1])
        drawn = LineString([*ring, ring[0]])
        assert max(drawn.distance(LineString([point, point])) for point in whole) <= tolerance + 1e-6


def test_a_usual_cell_keeps_a_tenth_of_its_vertices_and_nearly_all_of_its_area():
    angles = np.linspace(0, 2 * np.pi, 360, endpoint=False)
    radii = 60 + 8 * np.sin(3 * angles) + 3 * np.cos(7 * angles)
    outline = np.column_stack([100 + radii * np.sin(angles), 100 + radii * np.cos(angles)])
    ring = simplify_outline(outline, (200, 200))
    assert ring is not None and len(ring) <= 40
    assert Polygon(ring).area == pytest.approx(Polygon(outline).area, rel=0.01)
