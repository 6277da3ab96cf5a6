"""Simulated smears to learn from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from declump.simulate import Smear, smear
from declump.simulate.stains import STAINS


def simulate_smears(count: int, seed: int) -> Iterator[Smear]:
    """Make smears of all stains, sparse and crowded."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        yield smear(
            cells=int(rng.integers(5, 21)),
            overlap=float(rng.uniform(0.1, 0.8)),
            stain=STAINS[index % len(STAINS)],
            rng=rng,
        )
