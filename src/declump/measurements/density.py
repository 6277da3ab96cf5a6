"""Optical density of each cell, where no other cell lies over or under it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.measurements.cover import Cover
from declump.regions.channels import ImageChannels

Floats = NDArray[np.float64]

DARKEST = 1e-3
"""Luminance, as a share of the background's, below which a pixel counts as this dark: a density of 3."""


def optical_densities(
    covered: Cover, nuclei: NDArray[np.int32] | None, picture: ImageChannels | None
) -> tuple[Floats, Floats, Floats]:
    """Mean optical density of cells, their cytoplasm and their nuclei, outside overlaps.

    The density of a pixel is ``-log10(luminance / background)``, where luminance and background are those of
    :func:`declump.regions.channels.to_channels`. The mean of the densities, not the density of the mean.

    Parameters
    ----------
    covered : Cover
        The pixels of N cells.
    nuclei : (H, W) int32 or None
        Number of the cell, from 1, at the pixels of its nucleus. Without it cytoplasm and nucleus are not told apart.
    picture : ImageChannels or None

    Returns
    -------
    cell, cytoplasm, nucleus : (N,) float64
        NaN where the image or the nuclei are not known, and where other cells leave no pixel free.

    Raises
    ------
    ValueError
        If the image has another size than the segmentation.
    """
    cell, cytoplasm, nucleus = np.full((3, len(covered.crops)), np.nan)
    if picture is None:
        return cell, cytoplasm, nucleus
    if picture.shape != covered.layers.shape:
        raise ValueError(
            f"the image is {picture.shape} pixels, the segmentation is of one of {covered.layers.shape}: "
            "give the image that was segmented"
        )
    luminance = picture.channels[0]
    for index, crop in enumerate(covered.crops):
        box, alone = crop.box, crop.mask & (covered.layers[crop.box] == 1)
        density = -np.log10(np.maximum(luminance[box], DARKEST), dtype=np.float64)
        cell[index] = _mean(density[alone])
        if nuclei is not None:
            labels = nuclei[box]
            cytoplasm[index] = _mean(density[alone & (labels == 0)])
            nucleus[index] = _mean(density[alone & (labels == index + 1)])
    return cell, cytoplasm, nucleus


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else np.nan
