"""Geometry of nuclei, from their pixels, as :func:`skimage.measure.regionprops` defines it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from declump.measurements.outlines import eccentricity, ellipse_axes
from declump.records.crops import Crop

Floats = NDArray[np.float64]

MEASURED = ("area", "perimeter", "row", "column", "major", "minor", "eccentricity", "solidity", "circularity")


def nucleus_geometry(crops: Sequence[Crop]) -> dict[str, Floats]:
    """Measure nuclei.

    Parameters
    ----------
    crops : sequence of N Crop
        The pixels of each nucleus, see :attr:`declump.Segmentation.nucleus_crops`.

    Returns
    -------
    dict of str to (N,) float64
        The columns `MEASURED` in pixels, row and column being those of the centroid and circularity at most 1; NaN for
        an empty one.
    """
    from skimage.measure import perimeter_crofton
    from skimage.morphology import convex_hull_image

    result = np.full((len(MEASURED), len(crops)), np.nan)
    for index, crop in enumerate(crops):
        mask = crop.mask
        if not crop.area:
            continue
        rows, columns = (part.astype(np.float64) for part in np.nonzero(mask))
        area, length = rows.size, float(perimeter_crofton(mask))
        (row_spread, both), (_, column_spread) = np.cov(rows, columns, bias=True)
        axes = ellipse_axes(row_spread, column_spread, both)
        result[:, index] = (
            area,
            length,
            rows.mean() + crop.top,
            columns.mean() + crop.left,
            *axes,
            eccentricity(axes) if axes[0] > 0 else 0.0,
            area / np.count_nonzero(convex_hull_image(mask)),
            min(4 * np.pi * area / length**2, 1.0),
        )
    return dict(zip(MEASURED, result, strict=True))
