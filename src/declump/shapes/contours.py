"""Star-convex contours: a cell as a seed and its K radii.

The outline of a cell is the closed polygon through K points, the k-th at distance ``radii[k]`` from the seed in
direction ``2 pi k / K``, counted from +column towards +row. Every function here is plain NumPy and says what is meant;
where speed matters its compiled twin in :mod:`declump._kernels` gives the same answer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump import _kernels

MIN_RAYS = 16
MIN_RADIUS = 0.5
"""No evolved radius is less, in pixels: a seed lies in its cell."""
RAY_STEP = 0.5
"""Distance in pixels between two looks at a mask along a ray; a crossing is then interpolated between two looks."""

USUAL = 128
"""Pixels that cells seldom reach beyond from their seeds."""


def directions(rays: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Row and column components of the unit vectors of the K rays.

    Parameters
    ----------
    rays : int
        Number of rays K.

    Returns
    -------
    rows, columns : (K,) float64
        Sine and cosine of the angles ``2 pi k / K``.
    """
    if rays < MIN_RAYS:
        raise ValueError(f"a contour needs at least {MIN_RAYS} rays, not {rays}")
    rows, columns = _unit_vectors(rays)
    return rows.copy(), columns.copy()


@lru_cache(maxsize=4)
def _unit_vectors(rays: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What :func:`directions` gives; every outline that is filled or looked along asks for it."""
    angles = 2 * np.pi * np.arange(rays) / rays
    return np.sin(angles), np.cos(angles)


def outermost_crossings(
    mask: ArrayLike, seed: ArrayLike, rays: int = 360
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Distance from a seed to the outermost boundary of a mask along each ray, to a fraction of a pixel.

    The mask is read between pixels by bilinear interpolation, its boundary lies at 1/2.

    Parameters
    ----------
    mask : (H, W) bool
        A whole cell.
    seed : (2,) float
        Row and column of a point in the image.
    rays : int
        Number of rays K.

    Returns
    -------
    radii : (K,) float64
        Distances in pixels; 0 for a ray that meets no mask.
    cut : (K,) bool
        True for a ray on which the mask reaches the border of the image: the radius is then that of the border.
    """
    mask, (row, column) = _check_mask(mask), _check_seed(seed, np.shape(mask))
    radii, cut = _kernels.outermost_crossings(mask, row, column, *directions(rays), RAY_STEP)
    return radii, cut


def first_exits(mask: ArrayLike, seed: ArrayLike, rays: int = 360) -> NDArray[np.float64]:
    """Distance from a seed to where each ray first leaves a mask; infinite where it leaves through the image border.

    Parameters
    ----------
    mask : (H, W) bool
        A clump.
    seed : (2,) float
        Row and column of a point in the image; outside the mask all distances are 0.
    rays : int
        Number of rays K.

    Returns
    -------
    (K,) float64
        Distances in pixels.
    """
    mask = _check_mask(mask)
    exits: NDArray[np.float64] = find_exits(mask, np.array([_check_seed(seed, mask.shape)]), rays)[0]
    return exits


def find_exits(mask: NDArray[np.bool_], seeds: NDArray[Any], rays: int) -> NDArray[np.float64]:
    """Do what :func:`first_exits` does for seeds (N, 2) in one mask (H, W): (N, K)."""
    clearance, towards = _kernels.measure_clearance(mask), directions(rays)
    exits = np.empty((len(seeds), rays))
    for seed, own in zip(seeds.astype(np.float64), exits, strict=True):
        own[:] = _kernels.first_exits(mask, clearance, seed[0], seed[1], *towards, RAY_STEP)
    return exits


def sample_ray(
    mask: NDArray[np.bool_], seed: tuple[float, float], direction: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Look at a mask along one ray, up to the image border: the readable form of what the compiled twins do.

    Parameters
    ----------
    mask : (H, W) bool
    seed, direction : (row, column)
        Where the ray starts, and the unit vector along which it runs.

    Returns
    -------
    distances : (S,) float64
        Multiples of ``RAY_STEP``, and last the distance of the image border.
    values : (S,) float64
        The mask there, between pixels by bilinear interpolation, beyond the outer pixel centres as on them.
    """
    limits = [
        ((extent - 0.5 if part > 0 else -0.5) - start) / part
        for start, part, extent in zip(seed, direction, mask.shape, strict=True)
        if abs(part) > 1e-12
    ]
    border = max(min(limits), 0.0)
    distances = np.append(np.arange(0.0, border, RAY_STEP), border)
    rows = np.clip(seed[0] + distances * direction[0], 0, mask.shape[0] - 1)
    columns = np.clip(seed[1] + distances * direction[1], 0, mask.shape[1] - 1)
    top, left = np.floor(rows).astype(int), np.floor(columns).astype(int)
    bottom, right = np.minimum(top + 1, mask.shape[0] - 1), np.minimum(left + 1, mask.shape[1] - 1)
    down, across = rows - top, columns - left
    upper = (1 - across) * mask[top, left] + across * mask[top, right]
    lower = (1 - across) * mask[bottom, left] + across * mask[bottom, right]
    return distances, (1 - down) * upper + down * lower


def polygon(seed: ArrayLike, radii: ArrayLike) -> NDArray[np.float64]:
    """Vertices of a contour.

    Parameters
    ----------
    seed : (2,) float
        Row and column.
    radii : (K,) float

    Returns
    -------
    (K, 2) float64
        Row and column of each vertex; the polygon closes from the last to the first.
    """
    radii = np.asarray(radii, dtype=np.float64)
    rows, columns = directions(radii.size)
    return np.asarray(seed, dtype=np.float64) + np.column_stack([radii * rows, radii * columns])


def area(radii: ArrayLike) -> Any:
    """Area inside a contour in square pixels: of one contour ``(K,)`` a float, of many ``(N, K)`` an array ``(N,)``."""
    radii = np.asarray(radii, dtype=np.float64)
    return np.sin(2 * np.pi / radii.shape[-1]) / 2 * np.sum(radii * np.roll(radii, -1, axis=-1), axis=-1)


def bounding_box(seed: ArrayLike, radii: ArrayLike, shape: tuple[int, int]) -> tuple[int, int, int, int]:
    """First row, first column, end row and end column of the pixels a contour can hold within an image.

    Parameters
    ----------
    seed : (2,) float
    radii : (K,) float
    shape : (H, W)
        The ends are exclusive; a contour outside the image gives an empty box.
    """
    vertices = polygon(seed, radii)
    first = np.clip(np.ceil(vertices.min(axis=0)), 0, shape).astype(int)
    end = np.clip(np.floor(vertices.max(axis=0)) + 1, first, shape).astype(int)
    return int(first[0]), int(first[1]), int(end[0]), int(end[1])


def inside(points: ArrayLike, seed: ArrayLike, radii: ArrayLike) -> NDArray[np.bool_]:
    """Which points lie inside a contour: the exact polar test.

    The sector of a point follows from its angle; it lies inside when it is on the seed's side of that sector's edge.

    Parameters
    ----------
    points : (..., 2) float
        Row and column.
    seed : (2,) float
    radii : (K,) float

    Returns
    -------
    (...,) bool
    """
    radii = np.asarray(radii, dtype=np.float64)
    offset = np.asarray(points, dtype=np.float64) - np.asarray(seed, dtype=np.float64)
    row, column = offset[..., 0], offset[..., 1]
    rays = radii.size
    sector = np.floor(np.mod(np.arctan2(row, column), 2 * np.pi) * (rays / (2 * np.pi))).astype(int) % rays
    ends = polygon((0.0, 0.0), radii)
    start, end = ends[sector], np.roll(ends, -1, axis=0)[sector]
    edge = end - start
    side = edge[..., 1] * (row - start[..., 0]) - edge[..., 0] * (column - start[..., 1])
    return np.asarray(side > _kernels.ON_EDGE)


def to_mask(seed: ArrayLike, radii: ArrayLike, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Fill a contour: True at the pixels whose centre lies inside (see :func:`inside`).

    Parameters
    ----------
    seed : (2,) float
        Row and column.
    radii : (K,) float
    shape : (H, W)
        Size of the image.

    Returns
    -------
    (H, W) bool
    """
    mask = np.zeros(shape, dtype=np.bool_)
    fill(mask, seed, radii)
    return mask


def fill(mask: NDArray[np.bool_], seed: ArrayLike, radii: ArrayLike) -> None:
    """Set what lies inside a contour, as :func:`to_mask` fills it, in a mask (H, W)."""
    radii = np.ascontiguousarray(radii, dtype=np.float64)
    row, column = (float(part) for part in np.asarray(seed, dtype=np.float64))
    _kernels.fill_contour(mask, row, column, radii, *directions(radii.size))


def paint(
    labels: NDArray[np.uint32], numbers: NDArray[np.uint32], seeds: NDArray[np.int64], radii: NDArray[np.float64]
) -> int:
    """Put the number (N,) of each contour round a whole seed (N, 2) into its pixels, as :func:`to_mask` fills it.

    Parameters
    ----------
    labels : (H, W) uint32
        Is written into.
    numbers, seeds, radii

    Returns
    -------
    int
        How many pixels were painted, those that were painted twice counted twice.
    """
    rays = radii.shape[1]
    return int(_kernels.paint_contours(labels, numbers, seeds, radii, *directions(rays), _tabulate_sectors(rays)))


@lru_cache(maxsize=2)
def _tabulate_sectors(rays: int) -> NDArray[np.int32]:
    return np.asarray(_kernels.tabulate_sectors(USUAL, rays))


def overlap_degree(
    seeds: ArrayLike, radii: ArrayLike, *, hidden: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Share of each contour's length that lies inside any other contour: what the paper calls overlapping degree.

    Parameters
    ----------
    seeds : (N, 2) float
    radii : (N, K) float
    hidden : (N, K) bool, optional
        What :func:`hidden_edges` tells of them, where that is already known.

    Returns
    -------
    (N,) float64
        Between 0 (alone) and 1 (wholly under or over others); 0 for a contour without length.
    """
    seeds, radii = np.asarray(seeds, dtype=np.float64), np.asarray(radii, dtype=np.float64)
    vertices = radii[..., None] * np.column_stack(directions(radii.shape[1]))
    lengths = np.linalg.norm(np.roll(vertices, -1, axis=1) - vertices, axis=-1)
    inner = np.sum(lengths * (hidden_edges(seeds, radii) if hidden is None else hidden), axis=1)
    return np.asarray(inner / np.maximum(lengths.sum(axis=1), 1e-300))


def hidden_edges(seeds: ArrayLike, radii: ArrayLike) -> NDArray[np.bool_]:
    """Which edges of each contour lie inside any other contour, told by their middles.

    Parameters
    ----------
    seeds : (N, 2) float
    radii : (N, K) float

    Returns
    -------
    (N, K) bool
        Edge k runs from vertex k to the next.
    """
    seeds, radii = np.asarray(seeds, dtype=np.float64), np.ascontiguousarray(radii, dtype=np.float64)
    hidden, rays = np.zeros(radii.shape, dtype=np.bool_), directions(radii.shape[1])
    reach = radii.max(axis=1, initial=0)
    for index in np.flatnonzero(reach):
        own = polygon(seeds[index], radii[index])
        middles = (own + np.roll(own, -1, axis=0)) / 2
        distances = np.hypot(*(seeds - seeds[index]).T)
        for other in np.flatnonzero((distances < reach + reach[index]) & (reach > 0)):
            if other != index:
                hidden[index] |= _kernels.points_inside(middles, seeds[other, 0], seeds[other, 1], radii[other], *rays)
    return hidden


def rotate(radii: ArrayLike, angle: float) -> NDArray[np.float64]:
    """Turn contours about their seeds by a smooth periodic interpolation (Catmull-Rom) of their radii.

    Parameters
    ----------
    radii : (..., K) float
        The last axis runs over the rays.
    angle : float
        Radians, from +column towards +row.

    Returns
    -------
    (..., K) float64
    """
    radii = np.asarray(radii, dtype=np.float64)
    whole, weights, _ = rotation_taps(float(angle), radii.shape[-1])
    return sum(
        (weight * np.roll(radii, whole + tap - 1, axis=-1) for tap, weight in enumerate(weights)),
        start=np.zeros_like(radii),
    )


def rotation_taps(angle: float, rays: int) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
    """Weights of the four radii that a turned radius lies between (Catmull-Rom).

    Parameters
    ----------
    angle : float
        Radians, from +column towards +row.
    rays : int
        Number of rays K.

    Returns
    -------
    whole : int
        A turned radius k is drawn from those at ``k - whole + 1 - tap``, taps 0 to 3.
    weights, slopes : (4,) float64
        What each of them weighs, and the derivatives of that by the angle.
    """
    density = rays / (2 * np.pi)
    shift = angle * rays / (2 * np.pi)
    whole = int(np.floor(shift))
    f = shift - whole
    # Powers as products: the compiled twin rounds alike.
    weights = [
        -f + 2 * f * f - f * f * f,
        2 - 5 * f * f + 3 * f * f * f,
        f + 4 * f * f - 3 * f * f * f,
        -f * f + f * f * f,
    ]
    slopes = [-1 + 4 * f - 3 * f * f, -10 * f + 9 * f * f, 1 + 8 * f - 9 * f * f, -2 * f + 3 * f * f]
    return whole, np.array(weights) / 2, density * np.array(slopes) / 2


def resample(radii: ArrayLike, rays: int) -> NDArray[np.float64]:
    """Give contours with another number of rays, by periodic linear interpolation of their radii.

    Parameters
    ----------
    radii : (..., K) float
        The last axis runs over the rays. May be infinite: next to an infinite value all is infinite, never NaN.
    rays : int
        Number of rays to give.

    Returns
    -------
    (..., rays) float64
    """
    radii, given = np.asarray(radii, dtype=np.float64), np.shape(radii)[-1]
    # In whole numbers, so that a ray that falls on a given one takes its value alone.
    before, parts = np.divmod(np.arange(rays) * given, rays)
    shares = parts / rays
    with np.errstate(invalid="ignore"):
        between = (1 - shares) * radii[..., before] + shares * radii[..., (before + 1) % given]
    return np.where(parts > 0, between, radii[..., before])


def _check_mask(mask: ArrayLike) -> NDArray[np.bool_]:
    mask = np.asarray(mask)
    if mask.ndim != 2 or mask.size == 0:
        raise ValueError(f"a mask is a non-empty (H, W) array; given was one of shape {mask.shape}")
    return np.ascontiguousarray(mask, dtype=np.bool_)


def _check_seed(seed: ArrayLike, shape: tuple[int, ...]) -> tuple[float, float]:
    seed = np.asarray(seed, dtype=np.float64)
    if seed.shape != (2,):
        raise ValueError(f"a seed is (row, column); given was an array of shape {seed.shape}")
    if not (np.all(seed >= -0.5) and np.all(seed <= np.array(shape) - 0.5)):
        raise ValueError(f"the seed {tuple(seed.tolist())} lies outside the image of shape {shape}")
    return float(seed[0]), float(seed[1])
