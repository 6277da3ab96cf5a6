"""Edges inside a clump: how the brightness of the cytoplasm changes, nuclei and background left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

SMOOTHING, MIN_SMOOTHING = 0.025, 1.0
"""Standard deviation of the smoothing before the gradient is taken, in sizes of a cell, and in pixels at least."""
NUCLEUS_RIM = 0.05
"""How far round a nucleus its own edge darkens, in sizes of a cell."""
OUTLINE_RIM = 0.07
"""How far along the outline of a clump nothing is told of how strong the edges inside it are, in sizes of a cell."""
STRONG = 95.0
"""The gradient at this percentile inside a clump is a strong edge, and set to 1."""


def inner_gradient(grey: Floats, clump: Mask, nuclei: Mask, size: float) -> Floats:
    """Gradient of the cytoplasm's brightness, in units of a strong edge of the same clump.

    Nuclei and what lies outside the clump are painted over with the nearest cytoplasm, so that only edges between
    layers of cytoplasm are left.

    Parameters
    ----------
    grey : (h, w) float
        Brightness; any unit.
    clump : (h, w) bool
    nuclei : (h, w) bool
    size : float
        Usual radius of a cell in pixels.

    Returns
    -------
    (2, h, w) float64
        Change towards the next row and the next column; 0 in nuclei, and everywhere in a clump without any edge.
    """
    from scipy import ndimage

    covered = ndimage.binary_dilation(nuclei, iterations=max(round(NUCLEUS_RIM * size), 1))
    cytoplasm = clump & ~covered
    if not cytoplasm.any():
        return np.zeros((2, *grey.shape))
    nearest = ndimage.distance_transform_edt(~cytoplasm, return_distances=False, return_indices=True)
    painted = grey[tuple(nearest)]
    width = max(SMOOTHING * size, MIN_SMOOTHING)
    gradient = np.stack([ndimage.gaussian_filter(painted, width, order=order) for order in ((1, 0), (0, 1))])
    gradient[:, covered] = 0
    inside = ndimage.binary_erosion(cytoplasm, iterations=max(round(OUTLINE_RIM * size), 1))
    strengths = np.hypot(*gradient[:, inside if inside.any() else cytoplasm])
    strong = float(np.percentile(strengths, STRONG))
    return gradient / strong if strong > 1e-9 * max(float(np.abs(painted).max()), 1e-9) else np.zeros_like(gradient)
