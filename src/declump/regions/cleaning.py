"""Clumps without specks and pinholes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage


def clean_clump(clump: NDArray[np.bool_], max_hole_area: float, min_clump_area: float) -> NDArray[np.bool_]:
    """Clumps (H, W) without holes up to an area, and without what is smaller than a clump; areas in square pixels."""
    filled = ~_keep_large(~clump, int(max_hole_area) + 1)
    return _keep_large(filled, min_clump_area)


def _keep_large(mask: NDArray[np.bool_], min_area: float) -> NDArray[np.bool_]:
    """Keep the connected pieces (4-neighbours) of a mask (H, W) that have at least so many pixels."""
    labels, count = ndimage.label(mask)
    large = np.bincount(labels[mask], minlength=count + 1) >= min_area
    large[0] = False
    return np.asarray(large[labels])
