"""What is to be drawn of an outline, as polylines: dashed where it is hidden."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

DASH, GAP = 6.0, 5.0
"""Lengths in pixels of the dashes of hidden outlines and of the gaps between them."""


def runs(hidden: NDArray[np.bool_]) -> list[tuple[int, int, bool]]:
    """Split a closed outline where it becomes hidden or open.

    Parameters
    ----------
    hidden : (K,) bool
        Of the edges, see :func:`declump.shapes.contours.hidden_edges`.

    Returns
    -------
    list of (first, edges, hidden)
        First edge of each run, its number of edges, which may go on past the last one to the first, and its kind.
    """
    count = len(hidden)
    starts = np.flatnonzero(hidden != np.roll(hidden, 1)).tolist()
    if not starts:
        return [(0, count, bool(hidden[0]))]
    ends = [*starts[1:], starts[0] + count]
    return [(start, end - start, bool(hidden[start])) for start, end in zip(starts, ends, strict=True)]


def outline_strokes(vertices: NDArray[np.float64], hidden: NDArray[np.bool_]) -> Iterator[NDArray[np.float64]]:
    """Polylines (n, 2) of a closed outline (K, 2): whole where it is open, dashes where it is hidden."""
    for first, edges, dashed in runs(hidden):
        line = np.take(vertices, range(first, first + edges + 1), axis=0, mode="wrap")
        if dashed:
            yield from _cut_dashes(line)
        else:
            # One vertex more closes the joint of an outline that is open all round.
            yield np.vstack([line, vertices[1]]) if edges == len(vertices) else line


def _cut_dashes(line: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Cut a polyline into dashes, spaced so that a gap stands at both ends."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    if not along[-1]:
        return []
    period = along[-1] / max(round((along[-1] - GAP) / (DASH + GAP)), 1)
    middles = np.arange(period / 2, along[-1], period)
    begins, ends = middles - DASH / 2, middles + DASH / 2
    which = np.searchsorted(begins, along) - 1
    on_dash = (which >= 0) & (along < ends[which])
    stops = np.sort(np.concatenate([begins, along[on_dash], ends]))
    points = np.column_stack([np.interp(stops, along, part) for part in line.T])
    return np.split(points, np.searchsorted(stops, begins[1:]))
