"""COCO's ``segmentation`` of an object, in any of its three forms: polygons, run lengths, and their compressed text.

In COCO coordinates x counts columns and y rows, and the first pixel has its centre at (0.5, 0.5).
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.records.crops import Crop, crop_polygon, crop_runs

FARTHEST = 1e9
"""Coordinates from here on are no part of a picture; below it, crossings are exact to far less than a pixel."""


def encode_segmentation(crop: Crop, shape: tuple[int, int]) -> dict[str, Any]:
    """Give the exact pixels of an image (H, W) as compressed run lengths."""
    return {"size": list(shape), "counts": crop.encode(shape)}


def decode_segmentation(segmentation: object, shape: tuple[int, int]) -> Crop:
    """Pixels of an image (H, W) in a segmentation.

    Parameters
    ----------
    segmentation : object
        A list of polygons ``[x1, y1, x2, y2, ...]``, which are united; or a dict with run lengths, ``counts`` (a list,
        or the compressed text) and ``size``.
    shape : (H, W)

    Returns
    -------
    Crop

    Raises
    ------
    ValueError
        If it is neither, or broken.
    """
    if isinstance(segmentation, dict):
        if segmentation.get("size") != list(shape):
            raise ValueError(f"the run lengths have size {segmentation.get('size')}; the image has {list(shape)}.")
        counts = segmentation.get("counts")
        if not isinstance(counts, str) and not (
            isinstance(counts, list) and all(type(count) is int and count >= 0 for count in counts)
        ):
            raise ValueError("'counts' is broken; it must be a list of whole numbers from 0, or their compressed text.")
        return crop_runs(counts, shape)
    if not isinstance(segmentation, list) or not segmentation:
        raise ValueError("there is no segmentation; give polygons, or run lengths with 'counts' and 'size'.")
    return reduce(Crop.join, (crop_polygon(decode_polygon(polygon), shape) for polygon in segmentation))


def decode_polygon(polygon: object) -> NDArray[np.float64]:
    """Vertices (M, 2), as row and column, of a polygon ``[x1, y1, x2, y2, ...]``.

    Raises
    ------
    ValueError
        If it is no such list of three points or more.
    """
    if (
        not isinstance(polygon, list)
        or len(polygon) < 6
        or len(polygon) % 2
        or not all(type(value) in (int, float) and abs(value) < FARTHEST for value in polygon)
    ):
        raise ValueError("a polygon must be a list of numbers x1, y1, x2, y2, ... for at least three points.")
    return np.array(polygon, dtype=np.float64).reshape(-1, 2)[:, ::-1] - 0.5
