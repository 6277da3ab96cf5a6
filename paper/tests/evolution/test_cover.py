from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from declump.evolution.energy import hard_discrepancy
from declump_paper.evolution.cover import ClumpCover

SHAPE, RAYS = (60, 70), 36


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_gains_are_differences_of_the_discrepancy(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    clump, seeds = rng.random(SHAPE) < 0.5, rng.integers(5, 55, (count, 2))
    radii, others = rng.uniform(2, 18, (count, RAYS)), rng.uniform(2, 18, (3, RAYS))
    cover = ClumpCover(clump, seeds, 18.0, RAYS)
    for cell in range(count):
        cover.put_in(cell, radii[cell])
    assert cover.discrepancy == hard_discrepancy(clump, seeds, radii)
    cover.take_out(0, radii[0])
    without = cover.discrepancy
    for outline, gain in zip(others, cover.count_gains(0, others), strict=True):
        cover.put_in(0, outline)
        assert cover.discrepancy == without - gain
        cover.take_out(0, outline)
