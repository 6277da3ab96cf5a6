"""Deep places of a mask: maxima of the distance to its outline that outlast a relative threshold.

Inside a convex set the distance to the outline is a concave function with a single maximum, so that two maxima always
mean a neck between them. How clear it is, is the ratio of the depth in the neck to that of the shallower maximum: a
number without a unit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NECK = 0.93
"""Two deep places are two objects when the neck between them has less than this share of the depth of the shallower."""
GRAIN = 2.0
"""Pixels added to both depths before they are compared, so that a neck is also a seventh of a pixel less deep: the
pixel grid makes shallower ones of its own."""
SMOOTHING = 1.0
"""Standard deviation in pixels of the smoothing that takes the stairs of the pixels out of the depths."""


def depths(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Distance (H, W) of each pixel of a mask to its outline, smoothed, more than 0 in the mask and 0 outside.

    The image border, where objects are only cut, is no outline; but if nothing else is there, it has to be one.
    """
    from scipy import ndimage

    if mask.all():
        return depths(np.pad(mask, 1))[1:-1, 1:-1]
    distance = ndimage.distance_transform_edt(mask)
    return np.asarray(ndimage.gaussian_filter(distance, SMOOTHING, mode="nearest") * mask)


def deepest_places(depth: NDArray[np.float64], *, neck: float = NECK, grain: float = GRAIN) -> NDArray[np.float64]:
    """Deep places between which there are necks.

    In the logarithm of the depth a ratio is a difference, so this is the h-maxima transform with one h for all sizes.

    Parameters
    ----------
    depth : (H, W) float
        Of a mask; see :func:`depths`.
    neck, grain
        See ``NECK`` and ``GRAIN``.

    Returns
    -------
    (N, 2) float64
        Row and column of the middle of each place, inside the mask; at least one if any depth is more than 0.
    """
    from scipy import ndimage
    from skimage.morphology import local_maxima, reconstruction

    height = np.log(depth + grain)
    levelled = reconstruction(height + np.log(neck), height, method="dilation")
    labels, _ = ndimage.label(local_maxima(levelled) & (depth > 0), np.ones((3, 3)))
    if not labels.any():
        # Of a few pixels, no neck or height is to be told.
        labels = np.asarray((depth > 0) & (depth == depth.max()), dtype=np.int32)
    return middles(labels, depth)


def basins(places: NDArray[np.float64], depth: NDArray[np.float64]) -> NDArray[np.int32]:
    """Divide the pixels (H, W) of a mask among its deep places, numbered from 1, along the necks between them."""
    from skimage.segmentation import watershed

    markers = np.zeros(depth.shape, np.int32)
    markers[tuple(np.floor(places + 0.5).astype(int).T)] = np.arange(1, len(places) + 1)
    return np.asarray(watershed(-depth, markers, mask=depth > 0, connectivity=2), np.int32)


def middles(labels: NDArray[np.int32], depth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centroids (N, 2) of labelled places, weighed by depth; the nearest pixel of a place where that lies outside."""
    from scipy import ndimage

    result = []
    for label, box in enumerate(ndimage.find_objects(labels), start=1):
        pixels = np.argwhere(labels[box] == label) + np.array([box[0].start, box[1].start])
        weights = depth[tuple(pixels.T)]
        centroid = weights @ pixels / weights.sum()
        inside = (pixels == np.floor(centroid + 0.5)).all(axis=1).any()
        nearest = pixels[((pixels - centroid) ** 2).sum(axis=1).argmin()]
        result.append(centroid if inside else nearest.astype(np.float64))
    return np.array(result).reshape(-1, 2)
