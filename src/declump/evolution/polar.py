"""Tables of the pixels round a seed, so that a kernel walks straight to the pixels that an outline can change."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from declump._kernels.types import PolarTable
from declump.evolution.energy import polar_coordinates


@lru_cache(maxsize=4)
def make_polar_table(rays: int, reach: int) -> PolarTable:
    """Table of all pixels within ``reach`` pixels of a seed, for K rays."""
    rows, columns = (part.ravel() for part in np.mgrid[-reach : reach + 1, -reach : reach + 1])
    distances, sectors, fractions = polar_coordinates(rows, columns, rays)
    order = np.lexsort((distances, sectors))
    order = order[distances[order] <= reach]
    starts = np.searchsorted(sectors[order], np.arange(rays + 1))
    offsets = rows[order].astype(np.int32), columns[order].astype(np.int32)
    return PolarTable(starts, *offsets, distances[order], fractions[order])
