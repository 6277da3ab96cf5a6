from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from declump.io.formats.parts.rebuilding import MAX_RAYS, _find_crossings, from_outlines
from declump.shapes import contours

OUTLINES = st.integers(3, 40).flatmap(
    lambda points: arrays(np.float64, (points, 2), elements=st.floats(-50, 50, width=16) | st.integers(-4, 4))
)


def cross_all(outline: np.ndarray, rays: int) -> np.ndarray:
    """Every ray with every edge."""
    rows, columns = (part[:, None] for part in contours.directions(rays))
    edge_rows, edge_columns = (np.roll(outline, -1, axis=0) - outline).T
    start_rows, start_columns = outline.T
    with np.errstate(divide="ignore", invalid="ignore"):
        slant = rows * edge_columns - columns * edge_rows
        distance = (start_rows * edge_columns - start_columns * edge_rows) / slant
        share = (start_rows * columns - start_columns * rows) / slant
    crosses = (slant != 0) & (share > -1e-9) & (share < 1 + 1e-9) & (distance > 1e-6)
    return np.where(crosses, distance, 0.0).max(axis=1)


@given(OUTLINES, st.integers(16, 90))
def test_only_rays_that_an_edge_can_meet_are_left_out(outline: np.ndarray, rays: int) -> None:
    found = _find_crossings(outline, rays)
    np.testing.assert_allclose(np.where(found > 1e-6, found, 0), cross_all(outline, rays), rtol=1e-6, atol=1e-6)


def test_an_outline_of_very_many_points_is_measured_soon() -> None:
    """The product of its points and as many rays would take minutes, and gigabytes."""
    angles = np.linspace(0, 2 * np.pi, 30_000, endpoint=False)
    outline = 200 + np.column_stack([np.sin(angles), np.cos(angles)]) * (100 + 5 * np.sin(7 * angles))[:, None]
    rebuilt = from_outlines([outline], (400, 400))
    assert rebuilt.radii.shape == (1, MAX_RAYS) and 94 < rebuilt.radii.min() < rebuilt.radii.max() < 106
