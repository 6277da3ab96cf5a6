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
    ends = contours.find_exits(mask, seeds, radii.shape[1]) if exits is None else exits
    # Beyond the image border nothing is seen.
    edges = np.where(np.isfinite(ends), np.maximum(ends, contours.MIN_RADIUS), radii)
    gaps, reach = edges - radii, radii.max(axis=1, initial=0)
    means = np.where(reach > 0, radii.mean(axis=1), 1.0)[:, None]
    weights = np.where(reach[:, None] > 0, np.clip(2 - 2 * np.abs(gaps) / (share * means), 0, 1), 0.0)
    covered = np.zeros(radii.shape, np.bool_)
    before = np.maximum(edges - 1, 0)
    _kernels.find_covered(before, seeds.astype(np.float64), radii, reach, *contours.directions(radii.shape[1]), covered)
    return np.asarray(radii + np.where(covered & (gaps > 0), 0.0, weights * gaps))
