"""Outlines with few vertices, as tools for annotation want them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1.0
"""Farthest, in pixels, that a vertex that is left out lies from the outline; of a usual cell 20 to 40 are left."""


def simplify_outline(
    vertices: NDArray[np.float64], shape: tuple[int, int], tolerance: float = TOLERANCE
) -> NDArray[np.float64] | None:
    """Leave out vertices of a closed outline, and draw it to the border where it leaves the image.

    Parameters
    ----------
    vertices : (K, 2) float64
        Row and column, pixel centres at integers.
    shape : (H, W)
    tolerance : float
        In pixels; 0 keeps all.

    Returns
    -------
    (n, 2) float64, or None
        x and y from the corner of the first pixel, without the first point once more; None if nothing is left of it.
    """
    from skimage.measure import approximate_polygon

    height, width = shape
    ring = np.clip(vertices[:, ::-1] + 0.5, 0, (width, height))
    kept = approximate_polygon(np.vstack([ring, ring[:1]]), tolerance)[:-1]
    kept = kept[(kept != np.roll(kept, 1, axis=0)).any(axis=1)]
    columns, rows = kept.T
    area = abs(np.dot(columns, np.roll(rows, -1)) - np.dot(rows, np.roll(columns, -1))) / 2
    return np.asarray(kept) if len(kept) > 2 and area >= 1 else None
