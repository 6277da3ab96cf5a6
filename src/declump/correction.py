"""Seeds that the outlines they led to speak against: a nucleus found twice, and one that was missed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump import contours
from declump.segmentation import Segmentation

ALIKE = 0.65
"""Two cells whose outlines share this much (intersection over union) are one cell with two seeds."""
LEAST_PART = 0.5
"""A part of a clump that no cell explains asks for a seed if it is this large, in median areas of the cells."""
THREAD = 0.25
"""What is narrower than this many median radii of the cells is a rim of outlines that do not quite fit, not a cell."""


def doubled(segmentation: Segmentation, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Find the cells that are another cell a second time.

    Parameters
    ----------
    segmentation : Segmentation
    weights : (N,)
        How sure each seed is, such as the area of its nucleus: of two cells alike, the surer is kept.

    Returns
    -------
    (D,) int64
        Numbers of the cells to leave out, rising.
    """
    out: set[int] = set()
    sizes = np.sqrt(segmentation.areas / np.pi)
    for index in np.argsort(-weights, kind="stable"):
        if index in out or not sizes[index]:
            continue
        near = np.linalg.norm(segmentation.seeds - segmentation.seeds[index], axis=1) < sizes + sizes[index]
        for other in np.flatnonzero(near & (sizes > 0)):
            later = (weights[other], -other) < (weights[index], -index)
            if later and other not in out and likeness(segmentation, int(index), int(other)) > ALIKE:
                out.add(int(other))
    return np.array(sorted(out), dtype=np.int64)


def likeness(segmentation: Segmentation, first: int, second: int) -> float:
    """Intersection over union of two cells, from 0 to 1."""
    boxes = np.array([
        contours.bounding_box(segmentation.seeds[cell], segmentation.radii[cell], segmentation.shape)
        for cell in (first, second)
    ])  # fmt: skip
    corner, end = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    height, width = np.maximum(end - corner, 1).tolist()
    one, two = (
        contours.to_mask(segmentation.seeds[cell] - corner, segmentation.radii[cell], (height, width))
        for cell in (first, second)
    )
    shared, either = int(np.count_nonzero(one & two)), int(np.count_nonzero(one | two))
    return shared / max(either, 1)


def missing_seeds(segmentation: Segmentation, clump: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Propose seeds (S, 2) for large parts of a clump (H, W) that no cell explains, each at its most inner point.

    Parts at the image border are left out: there, the nucleus of a cell may lie outside the image.
    """
    from scipy import ndimage
    from skimage.morphology import disk

    areas = segmentation.areas[segmentation.areas > 0]
    if not areas.size:
        return np.empty((0, 2))
    usual = float(np.median(areas))
    left = clump.copy()
    for index in range(len(segmentation)):
        top, first, bottom, last = contours.bounding_box(
            segmentation.seeds[index], segmentation.radii[index], segmentation.shape
        )
        window = (slice(top, bottom), slice(first, last))
        shape = left[window].shape
        left[window] &= ~contours.to_mask(segmentation.seeds[index] - (top, first), segmentation.radii[index], shape)
    opened = ndimage.binary_opening(left, disk(max(round(THREAD * np.sqrt(usual / np.pi)), 1)))
    parts, _ = ndimage.label(opened)
    seeds = []
    for number, box in enumerate(ndimage.find_objects(parts), start=1):
        part = parts[box] == number
        at_border = any(side.start == 0 or side.stop == extent for side, extent in zip(box, clump.shape, strict=True))
        if at_border or part.sum() < LEAST_PART * usual:
            continue
        depth = ndimage.distance_transform_edt(np.pad(part, 1))
        row, column = np.unravel_index(depth.argmax(), depth.shape)
        seeds.append((box[0].start + row - 1, box[1].start + column - 1))
    return np.array(seeds, dtype=np.float64).reshape(-1, 2)
