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
    from skimage.morphology import convex_hull_image

    result = np.full((len(MEASURED), len(crops)), np.nan)
    for index, crop in enumerate(crops):
        mask = crop.mask
        if not crop.area:
            continue
        rows, columns = (part.astype(np.float64) for part in np.nonzero(mask))
        area, length = rows.size, crofton_perimeter(mask)
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
