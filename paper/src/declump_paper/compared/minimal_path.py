"""The cheapest closed outline round a seed: dynamic programming over rays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STEEP = 3.0
"""Changes by more levels than this from one ray to the next cost in proportion, not by their square: jumps happen."""


def closed_path(costs: Floats, bending: float) -> NDArray[np.int64]:
    """Levels (K,) of the cheapest closed path through a table of costs.

    A change by s levels between two rays costs ``bending * s ** 2``, or, where s exceeds ``STEEP``, what goes on from
    there in a straight line.

    Parameters
    ----------
    costs : (K, L) float64
        Of each level on each ray; infinite where the path must not run. Each ray has a level that is allowed.
    bending : float

    Returns
    -------
    (K,) int64
        Exact if any ray has a single level that is allowed; otherwise the path is closed where a first one, that need
        not close, runs on the ray opposite to where it began.
    """
    levels = np.arange(costs.shape[1])
    change = np.abs(levels[:, None] - levels)
    prices = bending * np.where(change <= STEEP, change**2, STEEP * (2 * change - STEEP))
    single = np.flatnonzero(np.isfinite(costs).sum(axis=1) == 1)
    if single.size:
        start = int(single[0])
    else:
        start = len(costs) // 2
        middle = _open_path(costs, prices)[start]
        costs = costs.copy()
        costs[start, levels != middle] = np.inf
    turned = np.roll(costs, -start, axis=0)
    path = _open_path(np.vstack([turned, turned[:1]]), prices)[:-1]
    return np.roll(path, start)


def _open_path(costs: Floats, prices: Floats) -> NDArray[np.int64]:
    """Levels (K,) of the cheapest path from the first ray to the last, with prices (L, L) of changes."""
    count, levels = costs.shape
    came, everywhere = np.zeros((count, levels), dtype=np.int64), np.arange(levels)
    total = costs[0]
    for ray in range(1, count):
        options = prices + total
        came[ray] = options.argmin(axis=1)
        total = options[everywhere, came[ray]] + costs[ray]
    path = np.empty(count, dtype=np.int64)
    path[-1] = total.argmin()
    for ray in range(count - 1, 0, -1):
        path[ray - 1] = came[ray, path[ray]]
    return path
