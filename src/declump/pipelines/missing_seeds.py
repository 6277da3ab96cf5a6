"""Seeds that were missed: what the outlines of the others leave of a clump asks for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.records.segmentation import Segmentation

MIN_PART = 0.5
"""A part of a clump that no cell explains asks for a seed if it is this large, in median areas of the cells."""
THREAD = 0.25
"""What is narrower than this many median radii of the cells is a rim of outlines that do not quite fit, not a cell."""


def find_missing_seeds(segmentation: Segmentation, clump: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Propose seeds (S, 2) for large parts of a clump (H, W) that no cell explains, each at its most inner point.

    Parts at the image border are left out: there, the nucleus of a cell may lie outside the image.
    """
    from skimage.morphology import disk

    areas = segmentation.areas[segmentation.areas > 0]
    if not areas.size:
        return np.empty((0, 2))
    usual = float(np.median(areas))
    left = clump.copy()
    for crop in segmentation.crops:
        left[crop.box] &= ~crop.mask
    opened = ndimage.binary_opening(left, disk(max(round(THREAD * np.sqrt(usual / np.pi)), 1)))
    parts, _ = ndimage.label(opened)
    seeds = []
    for number, box in enumerate(ndimage.find_objects(parts), start=1):
        part = parts[box] == number
        at_border = any(side.start == 0 or side.stop == extent for side, extent in zip(box, clump.shape, strict=True))
        if at_border or part.sum() < MIN_PART * usual:
            continue
        depth = ndimage.distance_transform_edt(np.pad(part, 1))
        row, column = np.unravel_index(depth.argmax(), depth.shape)
        seeds.append((box[0].start + row - 1, box[1].start + column - 1))
    return np.array(seeds, dtype=np.float64).reshape(-1, 2)
