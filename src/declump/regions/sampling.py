"""Planes of an image at points between its pixels, and made smaller."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def interpolate(planes: NDArray[np.floating[Any]], rows: NDArray[np.float64], columns: NDArray[np.float64]) -> Floats:
    """Planes (C, H, W) at points (A, D), linearly between pixels; at the border as at its nearest pixel."""
    height, width = planes.shape[1:]
    rows, columns = np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)
    top, left = np.floor(rows).astype(int), np.floor(columns).astype(int)
    down, right = (rows - top).astype(np.float32), (columns - left).astype(np.float32)
    below, beside = np.minimum(top + 1, height - 1), np.minimum(left + 1, width - 1)
    above = planes[:, top, left] * (1 - right) + planes[:, top, beside] * right
    under = planes[:, below, left] * (1 - right) + planes[:, below, beside] * right
    return np.asarray(above * (1 - down) + under * down, dtype=np.float32)


def shrink(planes: NDArray[np.floating[Any]], size: int) -> NDArray[np.floating[Any]]:
    """Means of the squares of ``size`` by ``size`` pixels of planes (C, H, W); at the far borders of what is there."""
    if size == 1:
        return planes
    short = [(0, 0), *((0, -side % size) for side in planes.shape[1:])]
    padded = np.pad(planes, short, mode="edge") if np.any(short) else planes
    total = np.zeros((len(planes), *(side // size for side in padded.shape[1:])), np.float32)
    for row in range(size):
        for column in range(size):
            total += padded[:, row::size, column::size]
    return total / np.float32(size**2)


def sample_affine(
    planes: NDArray[Any],
    unit: float,
    beyond: NDArray[np.float64],
    corner: NDArray[np.float64],
    steps: NDArray[np.float64],
    size: int,
) -> Floats:
    """Windows (C, size, size) of planes (C, H, W), turned and scaled; readable twin of the kernel.

    Parameters
    ----------
    planes : (C, H, W)
    unit : float
        What 1 of the planes stands for.
    beyond : (C,)
        Values outside the image.
    corner : (2,)
        Row and column of the first point.
    steps : (2, 2)
        How they change from one row of the window to the next, and from one column to the next.
    size : int
        Sides of the window.
    """
    along, across = np.mgrid[:size, :size]
    rows = corner[0] + along * steps[0, 0] + across * steps[1, 0]
    columns = corner[1] + along * steps[0, 1] + across * steps[1, 1]
    height, width = planes.shape[1:]
    inside = (rows > -0.5) & (rows < height - 0.5) & (columns > -0.5) & (columns < width - 0.5)
    seen = unit * interpolate(planes, rows, columns)
    return np.where(inside, seen, beyond[:, None, None]).astype(np.float32)
