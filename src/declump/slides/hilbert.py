"""Places of a slide along a Hilbert curve: what is near on the slide is near in a file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ORDER = 20
"""The curve visits every pixel of a square with sides of two to this power."""


def hilbert_index(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number (N,) along the curve of pixels at rows and columns (N,), which are taken into the square."""
    x, y = (np.clip(values, 0, 2**ORDER - 1).astype(np.int64) for values in (columns, rows))
    index = np.zeros(x.shape, np.int64)
    for level in range(ORDER - 1, -1, -1):
        side = np.int64(1) << level
        right, down = ((values & side) > 0 for values in (x, y))
        index += side * side * ((3 * right) ^ down)
        # Turn the quadrant so that the curve goes on where it left.
        mirrored = ~down & right
        x, y = (
            np.where(mirrored, side - 1 - (x & (side - 1)), x & (side - 1)),
            np.where(mirrored, side - 1 - (y & (side - 1)), y & (side - 1)),
        )
        x, y = np.where(down, x, y), np.where(down, y, x)
    return index
