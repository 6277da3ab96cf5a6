"""Geometry of nuclei, from their pixels, as :func:`skimage.measure.regionprops` defines it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.measurements.outlines import eccentricity, ellipse_axes

Floats = NDArray[np.float64]

MEASURED = ("area", "perimeter", "row", "column", "major", "minor", "eccentricity", "solidity", "circularity")


def nucleus_geometry(labels: NDArray[np.int32] | None, count: int) -> dict[str, Floats]:
    """Measure the nuclei of a label image, each in its bounding box.

    Parameters
    ----------
    labels : (H, W) int32 or None
        Number of the cell, from 1, at the pixels of its nucleus.
    count : int
        Number of cells N; higher labels are passed over.

    Returns
    -------
    dict of str to (N,) float64
        The columns `MEASURED` in pixels, row and column being those of the centroid and circularity at most 1; NaN for
        a cell whose nucleus is not known.
    """
    from scipy import ndimage
    from skimage.morphology import convex_hull_image

    result = np.full((len(MEASURED), count), np.nan)
    boxes = [] if labels is None or not count else ndimage.find_objects(labels, max_label=count)
    for index, box in enumerate(boxes):
        if labels is None or box is None:
            continue
        mask = labels[box] == index + 1
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
