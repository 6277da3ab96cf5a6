"""Geometry of nuclei, from their pixels, as :func:`skimage.measure.regionprops` defines it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.measurements.outlines import eccentricity, ellipse_axes

Floats = NDArray[np.float64]

MEASURED = ("area", "perimeter", "row", "column", "major", "minor", "eccentricity", "solidity", "circularity")


def nucleus_geometry(
    labels: NDArray[np.int32] | None, count: int, second: NDArray[np.int32] | None = None
) -> dict[str, Floats]:
    """Measure the nuclei of a label image, each in its bounding box.

    Parameters
    ----------
    labels : (H, W) int32 or None
        Number of the cell, from 1, at the pixels of its nucleus.
    count : int
        Number of cells N; higher labels are passed over.
    second : (H, W) int32, optional
        Number of a second cell where the nuclei of two lie on each other; it counts for both.

    Returns
    -------
    dict of str to (N,) float64
        The columns `MEASURED` in pixels, row and column being those of the centroid and circularity at most 1; NaN for
        a cell whose nucleus is not known.
    """
    from skimage.morphology import convex_hull_image

    result = np.full((len(MEASURED), count), np.nan)
    for index, found in enumerate(nucleus_pixels(labels, count, second)):
        if found is None:
            continue
        box, mask = found
        rows, columns = (part.astype(np.float64) for part in np.nonzero(mask))
        area, length = rows.size, crofton_perimeter(mask)
        (row_spread, both), (_, column_spread) = np.cov(rows, columns, bias=True)
        axes = ellipse_axes(row_spread, column_spread, both)
        result[:, index] = (
            area,
            length,
            rows.mean() + box[0].start,
            columns.mean() + box[1].start,
            *axes,
            eccentricity(axes) if axes[0] > 0 else 0.0,
            area / np.count_nonzero(convex_hull_image(mask)),
            min(4 * np.pi * area / length**2, 1.0),
        )
    return dict(zip(MEASURED, result, strict=True))


def nucleus_pixels(
    labels: NDArray[np.int32] | None, count: int, second: NDArray[np.int32] | None = None
) -> list[tuple[tuple[slice, slice], NDArray[np.bool_]] | None]:
    """Where each nucleus of up to two label images lies, and its pixels there; None for one that has no pixel."""
    from scipy import ndimage

    if labels is None or not count:
        return [None] * count
    layers = [labels] if second is None else [labels, second]
    boxes = zip(*(ndimage.find_objects(layer, max_label=count) for layer in layers), strict=True)
    found: list[tuple[tuple[slice, slice], NDArray[np.bool_]] | None] = []
    for index, parts in enumerate(boxes):
        known = [part for part in parts if part is not None]
        if not known:
            found.append(None)
            continue
        rows, columns = (
            slice(min(part[axis].start for part in known), max(part[axis].stop for part in known)) for axis in (0, 1)
        )
        pixels = np.any([layer[rows, columns] == index + 1 for layer in layers], axis=0)
        found.append(((rows, columns), np.asarray(pixels)))
    return found


def crofton_perimeter(mask: NDArray[np.bool_]) -> float:
    """Perimeter in pixels from how often lines in four directions cross the boundary of a mask (Crofton's formula).

    Nearly free of the bias of counting pixel sides, which makes a digital disc's perimeter that of its square.
    """
    padded = np.pad(mask, 1)
    upright = np.count_nonzero(padded[1:] != padded[:-1]) + np.count_nonzero(padded[:, 1:] != padded[:, :-1])
    oblique = np.count_nonzero(padded[1:, 1:] != padded[:-1, :-1])
    oblique += np.count_nonzero(padded[1:, :-1] != padded[:-1, 1:])
    # Diagonal lines lie closer together than upright ones.
    return float(np.pi / 8 * (upright + oblique / np.sqrt(2)))
