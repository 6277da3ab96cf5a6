"""Round spots of a plane that is cut at many levels: what stands out at one of them, wherever that lies.

A nucleus on thin cytoplasm stands out at a low density, one in a pile at a high one. Both are seen at half the
resolution, which is enough to tell a spot and takes a quarter of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump._kernels import convex_area, fill_holes, inner_rim

SMOOTHING = 1 / 14
"""Width, in diameters, of the smoothing that keeps chromatin from fraying an outline."""
AREAS = (0.15, 5.0)
"""Least and largest area of a spot, in areas of a disc with the usual diameter: nuclei beyond twice that are rare, and
those that matter most."""
FILLED = 0.55
"""Least share of the box round a spot that it fills."""
LONG = 2.6
"""Most that a box is longer than broad."""
SOLID = 0.9
"""Least share of its convex hull that a spot fills."""
MIN_SLOPE = 0.045
"""Least mean change of the plane along the outline, from one pixel of the half resolution to the next."""
HALF = 2
"""Every so many pixels are looked at."""


@dataclass(frozen=True, eq=False)
class _Spot:
    slope: float
    window: tuple[slice, slice]
    mask: NDArray[np.bool_]


def find_level_spots(
    plane: NDArray[np.float32], levels: Sequence[float], diameter: float, free: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Find the round spots of a plane, the one with the steepest outline first.

    Parameters
    ----------
    plane : (H, W)
        Higher where a nucleus is: optical density, or the probability of one.
    levels : sequence of float
        Where it is cut.
    diameter : float
        Usual diameter of a nucleus in pixels.
    free : (H, W) bool
        Where spots are looked for.

    Returns
    -------
    (H, W) int32
        Numbers from 1, 0 where there is no spot. Spots do not overlap.
    """
    size = diameter / HALF
    smooth = ndimage.gaussian_filter1d(plane, SMOOTHING * diameter, 0)[::HALF]
    smooth = ndimage.gaussian_filter1d(smooth, SMOOTHING * diameter, 1)[:, ::HALF]
    smooth = np.where(free[::HALF, ::HALF], smooth, 0).astype(np.float32)
    steep = ndimage.gaussian_gradient_magnitude(plane[::HALF, ::HALF], 2 * SMOOTHING * size)
    spots = [spot for level in levels for spot in _cut(smooth > level, steep, size)]
    found = np.zeros(smooth.shape, np.int32)
    count = 0
    for spot in sorted(spots, key=lambda spot: -spot.slope):
        if not found[spot.window][spot.mask].any():
            count += 1
            found[spot.window][spot.mask] = count
    large = found.repeat(HALF, axis=0).repeat(HALF, axis=1)
    return np.ascontiguousarray(large[: plane.shape[0], : plane.shape[1]])


def _cut(above: NDArray[np.bool_], steep: NDArray[np.float32], size: float) -> Iterator[_Spot]:
    """Give the round pieces of what lies above a level."""
    labels, _ = ndimage.label(above)
    areas = np.bincount(labels.ravel())
    usual = np.pi * size**2 / 4
    for index, box in enumerate(ndimage.find_objects(labels), start=1):
        if not AREAS[0] * usual <= areas[index] <= AREAS[1] * usual:
            continue
        height, width = (side.stop - side.start for side in box)
        if areas[index] < FILLED * height * width or max(height, width) > LONG * min(height, width):
            continue
        mask = fill_holes(labels[box] == index)
        slope = float(steep[box][inner_rim(mask)].mean())
        if slope >= MIN_SLOPE and np.count_nonzero(mask) >= SOLID * convex_area(mask):
            yield _Spot(slope, box, mask)
