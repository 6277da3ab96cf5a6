"""Masks traced along the edges of their pixels, so that filling the outline gives the same pixels again."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from declump.records.crops import Crop
from declump.records.segmentation import Segmentation


@lru_cache(maxsize=1)  # several formats of one segmentation ask for them
def trace_nuclei(segmentation: Segmentation) -> tuple[NDArray[np.float64] | None, ...]:
    """Outline of every cell's nucleus as :func:`trace` gives it; None where a cell has none."""
    return tuple(trace(crop) if crop.area else None for crop in segmentation.nucleus_crops)


def trace(crop: Crop) -> NDArray[np.float64]:
    """Outer outline of the largest piece of a mask, along the edges of its pixels.

    Parameters
    ----------
    crop : Crop
        Not empty. Only the largest of its pieces (4-neighbours) is traced, and its holes are passed over.

    Returns
    -------
    (M, 2) float64
        Row and column of the corners, pixel centres at integers, from +column towards +row; a simple polygon: where
        pixels touch in a corner only, what they enclose is a hole.
    """
    from scipy import ndimage

    pieces, _ = ndimage.label(crop.mask)
    piece = ndimage.binary_fill_holes(pieces == 1 + np.argmax(np.bincount(pieces[pieces > 0] - 1)))
    mask = np.pad(np.asarray(piece, dtype=np.bool_), 1)
    width = mask.shape[1]
    follower: dict[int, int] = {}
    # An edge of a pixel leads round it in the direction of the hands of a clock, with rows going down.
    for rows, columns, start, end in (
        (-1, 0, (0, 0), (0, 1)),
        (0, 1, (0, 1), (1, 1)),
        (1, 0, (1, 1), (1, 0)),
        (0, -1, (1, 0), (0, 0)),
    ):
        row, column = np.nonzero(mask & ~np.roll(mask, (-rows, -columns), axis=(0, 1)))
        follower.update(
            zip(
                ((row + start[0]) * width + column + start[1]).tolist(),
                ((row + end[0]) * width + column + end[1]).tolist(),
                strict=True,
            )
        )
    corner = first = min(follower)
    path: list[tuple[int, int]] = []
    while not path or corner != first:
        path.append(divmod(corner, width))
        corner = follower[corner]
    corners = np.array(path, dtype=np.float64)
    turns = ((np.roll(corners, 1, axis=0) + np.roll(corners, -1, axis=0)) / 2 != corners).any(axis=1)
    return np.asarray(corners[turns] + (crop.top - 1.5, crop.left - 1.5))
