from __future__ import annotations

import numpy as np
import pytest

from declump.evolution.polar import make_polar_table


@pytest.mark.parametrize(("rays", "reach"), [(16, 5), (17, 16), (90, 32), (360, 20)])
def test_the_polar_table_holds_every_pixel_within_reach_once(rays, reach):
    table = make_polar_table(rays, reach)
    pixels = set(zip(table.rows.tolist(), table.columns.tolist(), strict=True))
    span = range(-reach, reach + 1)
    assert pixels == {(row, column) for row in span for column in span if np.hypot(row, column) <= reach}
    assert len(table.rows) == len(pixels)
    assert table.starts[0] == 0
    assert table.starts[-1] == len(pixels)


@pytest.mark.parametrize(("rays", "reach"), [(16, 12), (37, 20), (360, 20)])
def test_the_polar_table_runs_sector_by_sector_from_near_to_far(rays, reach):
    table = make_polar_table(rays, reach)
    np.testing.assert_allclose(table.distances, np.hypot(table.rows, table.columns))
    assert table.fractions.min() >= 0
    assert table.fractions.max() <= 1
    for sector in range(rays):
        own = slice(table.starts[sector], table.starts[sector + 1])
        assert np.all(np.diff(table.distances[own]) >= 0)
        angles = (sector + table.fractions[own]) * 2 * np.pi / rays
        np.testing.assert_allclose(table.rows[own], table.distances[own] * np.sin(angles), atol=1e-9)
        np.testing.assert_allclose(table.columns[own], table.distances[own] * np.cos(angles), atol=1e-9)
