"""The nucleus at a place that a person points at: the dark spot round it, if there is one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

REACH = 1.25
"""How far round the place is looked, in diameters of a nucleus."""
NEAR = 0.3
"""How far from the place the spot may begin, in diameters."""
AREAS = (0.15, 3.0)
"""Smallest and largest spot, in areas of a usual nucleus."""
MIN_CONTRAST = 0.06
"""How much darker than its surroundings a spot is at least, relative to the background."""
MAX_AT_RIM = 0.15
"""Share of the rim of what is looked at that a spot may reach: more of it is no spot, but the edge of something."""


def could_be_nucleus(area: int, diameter: float) -> bool:
    """Whether a spot of an area in pixels could be a nucleus where nuclei have a usual diameter."""
    usual = np.pi * diameter**2 / 4
    return bool(AREAS[0] * usual <= area <= AREAS[1] * usual)


def grow_nucleus(
    luminance: NDArray[np.float32], allowed: NDArray[np.bool_], place: tuple[float, float], diameter: float
) -> tuple[tuple[slice, slice], NDArray[np.bool_]] | None:
    """Find the nucleus at a place.

    Parameters
    ----------
    luminance : (H, W)
        Relative to the background.
    allowed : (H, W) bool
        Where it may be.
    place : (row, column)
    diameter : float
        Usual diameter of a nucleus in pixels.

    Returns
    -------
    (box, mask), optional
        Where it is: its pixels within a box of the image; None if there is no dark spot that could be one.
    """
    from skimage.filters import threshold_otsu

    reach = max(round(REACH * diameter), 2)
    middle = [round(part) for part in place]
    starts = [max(part - reach, 0) for part in middle]
    box = np.s_[starts[0] : middle[0] + reach + 1, starts[1] : middle[1] + reach + 1]
    light, free = ndimage.gaussian_filter(luminance[box], 0.05 * diameter), allowed[box]
    rows, columns = np.mgrid[: light.shape[0], : light.shape[1]]
    distance = np.hypot(rows - (place[0] - starts[0]), columns - (place[1] - starts[1]))
    seen = free & (distance <= reach)
    if np.count_nonzero(seen) < 9 or np.ptp(light[seen]) < MIN_CONTRAST:
        return None
    labels, _ = ndimage.label(seen & (light <= threshold_otsu(light[seen])))
    near = np.where(labels > 0, distance, np.inf)
    nearest = np.unravel_index(near.argmin(), near.shape)
    if near[nearest] > NEAR * diameter:
        return None
    spot = ndimage.binary_fill_holes(ndimage.binary_opening(labels == labels[nearest]) | (labels == labels[nearest]))
    spot &= seen
    area = int(np.count_nonzero(spot))
    rim = seen & (distance > reach - 1)
    around = seen & ~spot
    centre = tuple(np.rint(np.argwhere(spot).mean(axis=0)).astype(int)) if area else (0, 0)
    if (
        not spot[centre]  # a ring round something else
        or not could_be_nucleus(area, diameter)
        or np.count_nonzero(spot & rim) > MAX_AT_RIM * np.count_nonzero(rim)
        or not around.any()
        or light[around].mean() - light[spot].mean() < MIN_CONTRAST
    ):
        return None
    return box, spot
