"""A segmentation rebuilt from files that hold pixels or outlines, but not seeds and radii."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from declump.records.crops import Crop, crop_polygon
from declump.records.regions import seeds_from_labels
from declump.records.segmentation import Segmentation
from declump.shapes import contours

RAYS = 360
"""Radii of a cell that is rebuilt from pixels."""
MAX_RAYS = 3600
"""Radii of a cell that is rebuilt from an outline of more points."""


def from_pixels(cells: Sequence[Crop], shape: tuple[int, int], nuclei: Sequence[Crop] | None = None) -> Segmentation:
    """Measure the radii of whole cells.

    Parameters
    ----------
    cells : sequence of Crop
        None is empty.
    shape : (H, W)
    nuclei : sequence of Crop, optional
        One a cell, empty where a cell has none.

    Returns
    -------
    Segmentation
        Seeded at the centroids of the nuclei, or else of the cells; where that lies outside, at the nearest pixel.
    """
    seeds = [_find_centre(nuclei[index] if nuclei and nuclei[index].area else cell) for index, cell in enumerate(cells)]
    radii = [_measure_radii(cell, seed, shape) for cell, seed in zip(cells, seeds, strict=True)]
    return _assemble(seeds, radii, RAYS, shape, nuclei)


def from_outlines(
    outlines: Sequence[NDArray[np.float64]], shape: tuple[int, int], nuclei: Sequence[Crop] | None = None
) -> Segmentation:
    """Measure the radii of whole cells; for the arguments and the seeds see :func:`from_pixels`.

    Parameters
    ----------
    outlines : sequence of (M, 2) float
        Row and column of the vertices of each cell, at least three; they may leave the image.
    """
    rays = max((len(outline) for outline in outlines), default=RAYS)
    rays = min(max(rays, contours.MIN_RAYS), MAX_RAYS)
    seeds, radii = [], []
    for index, outline in enumerate(outlines):
        inner = nuclei[index] if nuclei and nuclei[index].area else crop_polygon(outline, shape)
        seeds.append(_find_centre(inner) if inner.area else outline.mean(axis=0))
        radii.append(_find_crossings(outline - seeds[-1], rays))
    return _assemble(seeds, radii, rays, shape, nuclei)


def _find_centre(crop: Crop) -> NDArray[np.float64]:
    return np.asarray(seeds_from_labels(crop.mask)[0] + (crop.top, crop.left))


def _measure_radii(cell: Crop, seed: NDArray[np.float64], shape: tuple[int, int]) -> NDArray[np.float64]:
    """Radii (K,) of a cell, measured in a window round cell and seed: only the border of the image may cut it."""
    first = np.maximum(np.floor(np.minimum(seed, (cell.top, cell.left))).astype(int) - 1, 0)
    ends = np.add((cell.top, cell.left), cell.mask.shape)
    stop = np.minimum(np.ceil(np.maximum(seed + 1, ends)).astype(int) + 1, shape)
    window = np.zeros(tuple(stop - first), np.bool_)
    rows, columns = cell.box
    window[rows.start - first[0] : rows.stop - first[0], columns.start - first[1] : columns.stop - first[1]] = cell.mask
    return contours.outermost_crossings(window, seed - first, RAYS)[0]


def _find_crossings(outline: NDArray[np.float64], rays: int) -> NDArray[np.float64]:
    """Distance (K,) of the outermost crossing of each ray from the origin with an outline; 0 where there is none.

    An edge is tried with the rays that it can meet only, so that the time grows with points and rays, not their
    product.
    """
    turns = np.arctan2(outline[:, 0], outline[:, 1]) * (rays / (2 * np.pi))
    swept = (np.roll(turns, -1) - turns + rays / 2) % rays - rays / 2
    # A ray on either side more than the angles say, against rounding errors.
    first = np.floor(np.minimum(turns, turns + swept)).astype(np.int64) - 1
    counts = np.minimum(np.ceil(np.abs(swept)).astype(np.int64) + 4, rays)
    edge = np.repeat(np.arange(len(outline)), counts)
    ray = (first[edge] + np.arange(len(edge)) - (np.cumsum(counts) - counts)[edge]) % rays
    rows, columns = (part[ray] for part in contours.directions(rays))
    edge_rows, edge_columns = (np.roll(outline, -1, axis=0) - outline)[edge].T
    start_rows, start_columns = outline[edge].T
    with np.errstate(divide="ignore", invalid="ignore"):
        slant = rows * edge_columns - columns * edge_rows
        distance = (start_rows * edge_columns - start_columns * edge_rows) / slant
        share = (start_rows * columns - start_columns * rows) / slant
    # A ray through a vertex must not slip between two edges by a rounding error.
    crosses = (slant != 0) & (share > -1e-9) & (share < 1 + 1e-9) & (distance > 0)
    farthest = np.zeros(rays)
    np.maximum.at(farthest, ray[crosses], distance[crosses])
    return farthest


def _assemble(
    seeds: list[NDArray[np.float64]],
    radii: list[NDArray[np.float64]],
    rays: int,
    shape: tuple[int, int],
    nuclei: Sequence[Crop] | None,
) -> Segmentation:
    labels, second = np.zeros((2, *shape), np.int32)
    for index, nucleus in enumerate(nuclei or ()):
        shared = nucleus.mask & (labels[nucleus.box] > 0)  # of two nuclei on a pixel, the one before stays the first
        second[nucleus.box][shared] = index + 1
        labels[nucleus.box][nucleus.mask & ~shared] = index + 1
    result = Segmentation(
        shape,
        np.array(seeds, dtype=np.float64).reshape(-1, 2),
        np.array(radii, dtype=np.float64).reshape(-1, rays),
        clump=np.full(len(seeds), -1, dtype=np.int64),
        nuclei=None if nuclei is None else labels,
        second_nuclei=second if second.any() else None,
    )
    return replace(result, clump=np.array(_number_clumps(result), dtype=np.int64))


def _number_clumps(segmentation: Segmentation) -> list[int]:
    """Number the connected pieces of all cells together, from 0, and give each cell that in which most of it lies."""
    from scipy import ndimage

    crops, union = segmentation.crops, np.zeros(segmentation.shape, np.bool_)
    for crop in crops:
        union[crop.box] |= crop.mask
    pieces, _ = ndimage.label(union, structure=np.ones((3, 3)))
    return [int(np.bincount(pieces[crop.box][crop.mask]).argmax()) - 1 if crop.area else -1 for crop in crops]
