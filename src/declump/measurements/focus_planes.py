"""At which height of the focus each cell lies, if the image was made out of a focus stack."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.measurements.cover import Cover


def focus_planes(covered: Cover, planes: NDArray[np.int32] | None) -> NDArray[np.float64]:
    """Plane in which each cell is sharp.

    Parameters
    ----------
    covered : Cover
        The pixels of N cells.
    planes : (H, W) int32 or None
        Number of the sharpest plane at each pixel, from 0.

    Returns
    -------
    (N,) float64
        From 1: the median over the pixels in no other cell. NaN without planes, and where others leave no pixel free.

    Raises
    ------
    ValueError
        If the planes have another size than the segmentation.
    """
    found = np.full(len(covered.crops), np.nan)
    if planes is None:
        return found
    if planes.shape != covered.layers.shape:
        raise ValueError(f"the planes are {planes.shape}, the segmentation is of an image of {covered.layers.shape}")
    for index, crop in enumerate(covered.crops):
        alone = planes[crop.box][crop.mask & (covered.layers[crop.box] == 1)]
        if alone.size:
            found[index] = np.floor(np.median(alone)) + 1
    return found
