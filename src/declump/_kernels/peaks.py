"""Peaks of a map that stand out from what lies between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump._kernels.compiling import compiled


@compiled
def _root(parent: NDArray[np.int32], pixel: int) -> int:
    while parent[pixel] != pixel:
        parent[pixel] = parent[parent[pixel]]
        pixel = parent[pixel]
    return pixel


@compiled
def outstanding_peaks(levels: NDArray[np.uint8], height: int) -> NDArray[np.bool_]:
    """Where (H, W) a map of levels from 0 to 255 has peaks from which every way to a higher place falls by a height.

    Twin of :func:`skimage.morphology.h_maxima`, for a height of at least 1. Pixels are added level by level from the
    highest, and pieces that meet (8-neighbours) become one: a pixel is a peak if no piece in which it lies has anything
    higher until the height below it.
    """
    rows, columns = levels.shape
    flat = levels.ravel()
    starts = np.zeros(257, np.int64)
    for value in flat:
        starts[value + 1] += 1
    starts = np.cumsum(starts)
    order, filled = np.empty(flat.size, np.int32), starts[:-1].copy()
    for pixel in range(flat.size):
        order[filled[flat[pixel]]] = pixel
        filled[flat[pixel]] += 1
    parent, highest = np.full(flat.size, -1, np.int32), flat.copy()
    peaks = np.zeros(flat.size, np.bool_)
    for level in range(255, -1, -1):
        for entry in range(starts[level], starts[level + 1]):
            pixel = order[entry]
            parent[pixel] = pixel
            row, column = pixel // columns, pixel % columns
            for near_row in range(max(row - 1, 0), min(row + 2, rows)):
                for near_column in range(max(column - 1, 0), min(column + 2, columns)):
                    near = near_row * columns + near_column
                    if parent[near] < 0:
                        continue
                    one, two = _root(parent, pixel), _root(parent, near)
                    if one != two:
                        parent[one] = two
                        highest[two] = max(highest[one], highest[two])
        above = level + height - 1
        if above <= 255 and level > 0:
            for entry in range(starts[above], starts[above + 1]):
                pixel = order[entry]
                peaks[pixel] = highest[_root(parent, pixel)] == above
    return peaks.reshape(rows, columns)
