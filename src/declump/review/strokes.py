"""Strokes of a round brush as pixels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from declump.review.changes import Box


def paint_stroke(
    points: Sequence[tuple[float, float]], radius: float, shape: tuple[int, ...]
) -> tuple[NDArray[np.bool_], Box]:
    """Paint the pixels within a radius of the polyline through points.

    Parameters
    ----------
    points : sequence of (row, column)
    radius : float
        In pixels.
    shape : (H, W)
        Of the image.

    Returns
    -------
    painted : (h, w) bool
        Within the box.
    box : tuple of slice
        Part of the image that holds all of it.

    Raises
    ------
    ValueError
        If the stroke lies outside the image.
    """
    places, size = np.array(points, dtype=np.float64), np.array(shape)
    first = np.clip(np.floor(places.min(axis=0) - radius), 0, size).astype(int)
    last = np.clip(np.ceil(places.max(axis=0) + radius) + 1, 0, size).astype(int)
    if (last <= first).any():
        raise ValueError("this stroke lies outside the image")
    painted = np.zeros(tuple(last - first), np.bool_)
    for start, end in zip(places, places[1:] if len(places) > 1 else places, strict=False):
        _paint_line(painted, start - first, end - first, radius)
    return painted, np.s_[first[0] : last[0], first[1] : last[1]]


def _paint_line(
    painted: NDArray[np.bool_], start: NDArray[np.float64], end: NDArray[np.float64], radius: float
) -> None:
    """Paint pixels within a radius of the line from one point to another."""
    low = np.maximum(np.floor(np.minimum(start, end) - radius), 0).astype(int)
    high = np.minimum(np.ceil(np.maximum(start, end) + radius) + 1, painted.shape).astype(int)
    if (high <= low).any():
        return
    rows, columns = np.mgrid[low[0] : high[0], low[1] : high[1]]
    along = end - start
    length = float(along @ along)
    share = (
        ((rows - start[0]) * along[0] + (columns - start[1]) * along[1]) / length if length else np.zeros(rows.shape)
    )
    share = np.clip(share, 0, 1)
    distance = np.hypot(rows - start[0] - share * along[0], columns - start[1] - share * along[1])
    painted[low[0] : high[0], low[1] : high[1]] |= distance <= radius
