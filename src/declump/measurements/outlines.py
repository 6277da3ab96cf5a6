"""Geometry of outlines: what follows exactly from the polygon, also where it leaves the image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

THINNEST = 1e-9
"""An outline whose area is at most this share of its squared perimeter is a line or a point: it has no shape."""


@dataclass(frozen=True, eq=False)
class Outlines:
    """Geometry of N closed polygons; ratios and centroids are NaN where an outline encloses no area.

    Attributes
    ----------
    area : (N,) float64
        Square pixels.
    perimeter : (N,) float64
        Pixels.
    centroid : (N, 2) float64
        Row and column of the centre of mass of the area.
    axes : (N, 2) float64
        Major and minor axis in pixels: those of the ellipse with the same second moments, ``4 sqrt(eigenvalue)`` as in
        :func:`skimage.measure.regionprops`.
    hull_area, hull_perimeter : (N,) float64
        Of the convex hull.
    """

    area: Floats
    perimeter: Floats
    centroid: Floats
    axes: Floats
    hull_area: Floats
    hull_perimeter: Floats

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Which outlines (N,) enclose an area."""
        return np.asarray(self.area > THINNEST * self.perimeter**2)

    @property
    def equivalent_diameter(self) -> Floats:
        """Diameter (N,) of the disc with the same area, in pixels."""
        return np.asarray(2 * np.sqrt(self.area / np.pi))

    @property
    def eccentricity(self) -> Floats:
        """Eccentricity (N,) of the ellipse with the same second moments, from 0 (round) to 1."""
        return eccentricity(self.axes)

    @property
    def solidity(self) -> Floats:
        """Area over area of the convex hull (N,), up to 1."""
        return np.minimum(quotient(self.area, self.hull_area), 1)

    @property
    def circularity(self) -> Floats:
        """``4 pi area / perimeter^2`` (N,), 1 for a disc."""
        return quotient(4 * np.pi * self.area, np.where(self.filled, self.perimeter, 0) ** 2)

    @property
    def convexity(self) -> Floats:
        """Perimeter of the convex hull over perimeter (N,), up to 1."""
        return np.minimum(quotient(self.hull_perimeter, self.perimeter), 1)


def outline_geometry(polygons: Floats) -> Outlines:
    """Measure closed polygons.

    Parameters
    ----------
    polygons : (N, K, 2) float64
        Row and column of the vertices, turning from +column towards +row, as
        :attr:`declump.Segmentation.polygons` gives them.

    Returns
    -------
    Outlines
    """
    # Moments about the middle of the vertices, so that nothing is lost to the distance from the image's corner.
    middle = polygons.mean(axis=1, keepdims=True)
    row, column = np.moveaxis(polygons - middle, -1, 0)
    next_row, next_column = np.roll(row, -1, axis=1), np.roll(column, -1, axis=1)
    wedge = column * next_row - next_column * row
    area = np.maximum(wedge.sum(axis=1) / 2, 0)
    perimeter = np.hypot(next_row - row, next_column - column).sum(axis=1)
    filled = area > THINNEST * perimeter**2

    divisor = np.where(filled, area, np.nan)
    centre_row = np.sum(wedge * (row + next_row), axis=1) / (6 * divisor)
    centre_column = np.sum(wedge * (column + next_column), axis=1) / (6 * divisor)
    rows = np.sum(wedge * (row**2 + row * next_row + next_row**2), axis=1) / (12 * divisor) - centre_row**2
    columns = np.sum(wedge * (column**2 + column * next_column + next_column**2), axis=1) / (12 * divisor)
    columns -= centre_column**2
    mixed = column * next_row + 2 * column * row + 2 * next_column * next_row + next_column * row
    both = np.sum(wedge * mixed, axis=1) / (24 * divisor) - centre_row * centre_column

    hull_area, hull_perimeter = _hulls(polygons - middle, filled)
    return Outlines(
        area=area,
        perimeter=perimeter,
        centroid=np.stack([centre_row, centre_column], axis=1) + middle[:, 0],
        axes=ellipse_axes(rows, columns, both),
        hull_area=hull_area,
        hull_perimeter=hull_perimeter,
    )


def ellipse_axes(row_variance: ArrayLike, column_variance: ArrayLike, covariance: ArrayLike) -> Floats:
    """Major and minor axis (..., 2) of the ellipses with given second moments (...)."""
    rows, columns = np.asarray(row_variance, dtype=np.float64), np.asarray(column_variance, dtype=np.float64)
    mean, spread = (rows + columns) / 2, np.hypot((rows - columns) / 2, covariance)
    return np.asarray(4 * np.sqrt(np.maximum(np.stack([mean + spread, mean - spread], axis=-1), 0)))


def eccentricity(axes: Floats) -> Floats:
    """Eccentricity (...) of ellipses with given major and minor axes (..., 2); NaN for a point."""
    return np.asarray(np.sqrt(np.maximum(1 - quotient(axes[..., 1], axes[..., 0]) ** 2, 0)))


def quotient(upper: ArrayLike, lower: ArrayLike) -> Floats:
    """Quotient (...) of two arrays (...), NaN where the lower one is not above 0."""
    positive = np.asarray(lower) > 0
    return np.asarray(np.divide(upper, lower, out=np.full(np.shape(upper), np.nan), where=positive))


def distance_to_outline(points: Floats, polygons: Floats) -> Floats:
    """Distance (N,) in pixels from each point (N, 2) to the nearest point of its own outline (N, K, 2)."""
    edges = np.roll(polygons, -1, axis=1) - polygons
    offsets = points[:, None, :] - polygons
    squared = np.maximum(np.sum(edges**2, axis=-1), 1e-300)
    along = np.clip(np.sum(offsets * edges, axis=-1) / squared, 0, 1)
    return np.asarray(np.linalg.norm(offsets - along[..., None] * edges, axis=-1).min(axis=1))


def _hulls(polygons: Floats, filled: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    from scipy.spatial import ConvexHull

    area, perimeter = np.full((2, len(polygons)), np.nan)
    for index in np.flatnonzero(filled):
        hull = ConvexHull(polygons[index])
        # For points in the plane, Qhull's volume is the area and its area the perimeter.
        area[index], perimeter[index] = hull.volume, hull.area
    return area, perimeter
