"""What goes through the kernels: names for arrays, and records of arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[Any]
Mask = NDArray[np.bool_]
Meetings = tuple[Ints, Ints, Floats, Floats, Ints]
"""Visits of pixels by the bands round outlines: cell, sector, fraction and slope of each, and the visit of the same
pixel by an earlier cell, or -1."""
Visits = tuple[Ints, Ints, Floats, Floats, Ints]
"""Pixels in the bands round outlines: cell, sector, how far through the sector, depth below the outline as a share of
the softness (-1 to 1), and flat index of the pixel."""


class PolarTable(NamedTuple):
    """Pixels round a seed that sits on a pixel centre: sector by sector, in each from near to far.

    ``starts`` (K + 1,) int64 tells where each sector begins; ``rows`` and ``columns`` are offsets from the seed, int32,
    ``distances`` in pixels, ``fractions`` how far through its sector a pixel lies, from 0 to 1.
    """

    starts: Ints
    rows: Ints
    columns: Ints
    distances: Floats
    fractions: Floats
