"""Alignment (equation 1): the largest copy of a shape, over scale and rotation, that fits into the clump."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump import _kernels

TOLERATED = 0.02
"""Share of the rays that may stick out of the clump, so that one noisy outline pixel does not shrink a cell."""


def largest_copy(shape: ArrayLike, exits: ArrayLike, *, tolerated: float = TOLERATED) -> tuple[float, float]:
    """Scale and rotation of the largest copy of a shape inside a clump.

    For a given rotation no grid of scales is needed: the copy fits as long as on every ray its radius is at most the
    distance at which the ray leaves the clump, so the largest scale is the smallest ratio of the two. Rotations are
    tried in steps of one ray.

    Parameters
    ----------
    shape : (K,) float
        Radii of the shape, positive.
    exits : (K,) float
        First-exit distances of the clump from the seed (:func:`declump.shapes.contours.first_exits`); infinite where a
        ray leaves through the image border, which limits nothing.
    tolerated : float
        Share of the rays left out when the smallest ratio is taken.

    Returns
    -------
    scale : float
        Infinite where all rays are open.
    rotation : float
        Radians; the smallest of the rotations that reach the scale.
    """
    shape = np.ascontiguousarray(shape, dtype=np.float64)
    exits = np.ascontiguousarray(exits, dtype=np.float64)
    if shape.ndim != 1 or shape.shape != exits.shape:
        raise ValueError(f"a shape and its exits have one entry a ray; given were {shape.shape} and {exits.shape}")
    if not 0 <= tolerated < 1:
        raise ValueError(f"the tolerated share of rays lies in [0, 1); given was {tolerated}")
    scale, shift = _kernels.largest_copy(np.maximum(shape, 1e-9), exits, int(tolerated * shape.size))
    return float(scale), 2 * np.pi * shift / shape.size


def largest_copy_by_sorting(
    shape: NDArray[np.float64], exits: NDArray[np.float64], tolerated: int
) -> tuple[float, int]:
    """Readable twin of the compiled search: scale, and rotation in rays, with ``tolerated`` rays left out."""
    ratios = np.stack([np.sort(exits / np.roll(shape, shift)) for shift in range(shape.size)])
    scales = ratios[:, tolerated]
    return float(scales.max()), int(scales.argmax())
