"""Outlines of nuclei, to be drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.records.segmentation import Segmentation


def nucleus_outlines(segmentation: Segmentation) -> list[list[NDArray[np.float64]]]:
    """Trace the nuclei.

    Parameters
    ----------
    segmentation : Segmentation

    Returns
    -------
    list of list of (n, 2) float64
        For each cell the closed outlines of the pieces and holes of its nucleus, as row and column, halfway between
        its pixels and the others; none where the nucleus is not known.
    """
    from skimage.measure import find_contours

    traced: list[list[NDArray[np.float64]]] = []
    for crop in segmentation.nucleus_crops:
        lines = find_contours(np.pad(crop.mask, 1).astype(np.float64), 0.5) if crop.area else []
        traced.append([line + np.array([crop.top - 1, crop.left - 1]) for line in lines])
    return traced
