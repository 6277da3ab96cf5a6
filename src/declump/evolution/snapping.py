"""Snapping: after the evolution, outlines move to the edge of their clump where they lie next to it.

The hypothesis set has a few dozen modes, which is right for what is hidden and too coarse for what is seen. An edge of
the clump that no other cell explains is the outline of the cell that nearly reaches it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump import _kernels
from declump.shapes import contours


def snap_to_boundary(
    mask: NDArray[np.bool_],
    seeds: NDArray[np.int64],
    radii: NDArray[np.float64],
    share: float,
    exits: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Draw outlines to the edge of their clump.

    Parameters
    ----------
    mask : (H, W) bool
        One clump.
    seeds : (N, 2) int64
        Pixels of its seeds.
    radii : (N, K) float64
        Outlines in pixels.
    share : float
        How far a radius may be off the edge, in mean radii of its cell, to be drawn there: wholly up to half of this,
        less and less beyond.
    exits : (N, K) float64, optional
        Where the rays first leave the clump, if that is known.

    Returns
    -------
    (N, K) float64
        Radii that end before the edge are drawn to it only where no other cell covers it: what is seen there may be
        the other's. What sticks out of the clump is drawn back.
    """
    result, rays = radii.copy(), contours.directions(radii.shape[1])
    places, towards = seeds.astype(np.float64), np.column_stack(rays)
    reach = radii.max(axis=1, initial=0)
    for index in np.flatnonzero(reach):
        ends = contours.first_exits(mask, places[index], radii.shape[1]) if exits is None else exits[index]
        # Beyond the image border nothing is seen.
        edge = np.where(np.isfinite(ends), np.maximum(ends, contours.MIN_RADIUS), radii[index])
        gap = edge - radii[index]
        weight = np.clip(2 - 2 * np.abs(gap) / (share * radii[index].mean()), 0, 1)
        before = places[index] + np.maximum(edge - 1, 0)[:, None] * towards
        distances = np.hypot(*(places - places[index]).T)
        covered = np.zeros(radii.shape[1], dtype=np.bool_)
        for other in np.flatnonzero((distances < reach + edge.max()) & (reach > 0)):
            if other != index:
                row, column = places[other]
                covered |= _kernels.points_inside(before, row, column, radii[other], *rays)
        result[index] += np.where(covered & (gap > 0), 0.0, weight * gap)
    return result
