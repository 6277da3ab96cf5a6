from __future__ import annotations

import numpy as np
import pytest

from declump.evolution import energy
from declump.evolution.polar import make_polar_table
from declump.evolution.terms.discrepancy import Discrepancy, count_discrepancy
from declump.evolution.terms.term import SoftOutlines
from declump.records.clump import split_clumps


def test_outlines_followed_before_are_forgotten():
    rng = np.random.default_rng(1)
    seeds, clump = np.array([[15, 20], [22, 30]]), rng.random((40, 50)) < 0.5
    term = Discrepancy(clump, 48)
    for size in (18.0, 6.0, 12.0):
        radii = rng.uniform(0.8, 1.2, (2, 48)) * size
        outlines = SoftOutlines(*np.ascontiguousarray(seeds.T), radii, 2.0, make_polar_table(48, 32))
        term.follow(outlines)
        expected = energy.soft_discrepancy(clump, seeds, radii, 2.0)
        assert term.value(np.empty((2, 0)), outlines) == pytest.approx(expected)
        assert term.count_pixels() == energy.hard_discrepancy(clump, seeds, radii)


@pytest.mark.parametrize("seed", range(12))
def test_the_count_is_that_of_the_masks_however_ragged_the_outlines(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[:90, :110]
    mask = np.hypot(rows - 45, columns - 50) < 38
    (clump,) = split_clumps(mask, [(40, 40), (50, 65), (47, 52)])
    radii = rng.uniform(0.5, rng.uniform(1, 60), (3, int(rng.choice([16, 64, 360]))))
    assert count_discrepancy(clump, radii) == clump.discrepancy(radii)
