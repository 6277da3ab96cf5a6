"""Names for the arrays that go through the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[Any]
Mask = NDArray[np.bool_]
Table = tuple[Ints, Ints, Ints, Floats, Floats]
LayerMaps = tuple[Floats, Floats, Floats, Floats]
Meetings = tuple[Ints, Ints, Floats, Floats, Ints]
TAU = 2 * np.pi
ON_EDGE = 1e-9
"""Twice the area in square pixels of a triangle that counts as none: a point on an edge is not inside."""
