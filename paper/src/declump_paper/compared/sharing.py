"""First cells of LSF: the clump's outline shared out among the nuclei, hidden sides bridged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump.records.clump import Clump
from declump.shapes import contours

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

RAYS = 360
"""Hidden sides are bridged degree by degree."""
LINK_INSIDE = 0.95
"""Share of the link between an outline pixel and a nucleus that has to lie in the clump."""
INNER_RADIUS = 0.70
"""Radius of a cell without outline pixels, in units of the distance to the nearest other nucleus."""


@dataclass(frozen=True)
class FirstCell:
    """A cell before it moves: the point (row, column) it is seen from, and its mask (h, w)."""

    centre: tuple[float, float]
    mask: Mask


def share_outline(clump: Clump) -> list[FirstCell]:
    """Give every nucleus its first cell: once as seen from the nuclei, once more as seen from those cells' centroids.

    Parameters
    ----------
    clump : Clump
        With at least one seed.

    Returns
    -------
    list of FirstCell
        One a seed; a cell is never empty and always in the clump. The only cell of a clump is the clump.
    """
    seeds = clump.seeds.astype(np.float64)
    if len(seeds) == 1:
        return [FirstCell(_centroid(clump.mask, seeds[0]), clump.mask.copy())]
    first = _bridge(clump.mask, seeds, clump.seeds)
    centroids = np.array([_centroid(mask, seed) for mask, seed in zip(first, seeds, strict=True)])
    second = _bridge(clump.mask, centroids, clump.seeds)
    return [FirstCell(_centroid(mask, seed), mask) for mask, seed in zip(second, seeds, strict=True)]


def _bridge(clump: Mask, centres: Floats, seeds: Integers) -> list[Mask]:
    """Masks (h, w) round the centres: outline pixels where a cell owns some, radii linear in the angle between them."""
    outline = outline_pixels(clump)
    owner = outline_owners(clump, outline, centres)
    masks = []
    for index, (centre, seed) in enumerate(zip(centres, seeds, strict=True)):
        own = outline[owner == index]
        radii = bridge_radii(own - centre) if len(own) else np.full(RAYS, inner_radius(seeds, index))
        mask = contours.to_mask(centre, radii, (clump.shape[0], clump.shape[1])) & clump
        mask[seed[0], seed[1]] = True
        masks.append(mask)
    return masks


def outline_pixels(clump: Mask) -> Integers:
    """Pixels (P, 2) of a clump that have one of their four neighbours outside it."""
    from scipy import ndimage

    inner = ndimage.binary_erosion(clump, border_value=0)
    return np.argwhere(clump & ~inner)


def outline_owners(clump: Mask, outline: Integers, centres: Floats) -> Integers:
    """Which centre (P,) each outline pixel belongs to.

    That is the nearest one, if the straight link to it lies in the clump; otherwise that of the nearest outline pixel
    whose link does.
    """
    from scipy.spatial import cKDTree

    _, nearest = cKDTree(centres).query(outline)
    owner = np.asarray(nearest, dtype=np.int64)
    linked = np.array([is_linked(clump, pixel, centres[k]) for pixel, k in zip(outline, owner, strict=True)])
    if linked.any() and not linked.all():
        _, beside = cKDTree(outline[linked]).query(outline[~linked])
        owner[~linked] = owner[linked][beside]
    return owner


def is_linked(clump: Mask, start: NDArray[np.int64], end: Floats) -> bool:
    """Whether at least 95 % of the straight link between two points lies in the clump."""
    steps = int(np.ceil(np.hypot(*(end - start)))) + 1
    points = np.rint(np.linspace(start, end, steps)).astype(int)
    return bool(clump[points[:, 0], points[:, 1]].mean() >= LINK_INSIDE)


def bridge_radii(offsets: Floats) -> Floats:
    """Radii (360,) through outline pixels at given offsets (P, 2) from a centre, linear in the angle between them.

    The outer side of the pixels counts, half a pixel from their centres; of several in one degree the farthest.
    """
    angles = np.mod(np.arctan2(offsets[:, 0], offsets[:, 1]), 2 * np.pi)
    degrees = np.floor(angles * RAYS / (2 * np.pi) + 0.5).astype(int) % RAYS
    farthest = np.zeros(RAYS)
    np.maximum.at(farthest, degrees, np.hypot(offsets[:, 0], offsets[:, 1]) + 0.5)
    known = np.flatnonzero(farthest)
    return np.interp(np.arange(RAYS), known, farthest[known], period=RAYS)


def inner_radius(seeds: Integers, index: int) -> float:
    """Radius of a cell that owns no outline: 0.7 of the distance of its nucleus from the nearest other."""
    distances = np.hypot(*(np.delete(seeds, index, axis=0) - seeds[index]).T)
    return INNER_RADIUS * float(distances.min())


def _centroid(mask: Mask, seed: Floats) -> tuple[float, float]:
    """Centroid of a mask; its seed where the centroid lies outside it."""
    row, column = (float(part.mean()) for part in np.nonzero(mask))
    if mask[round(row), round(column)]:
        return row, column
    return float(seed[0]), float(seed[1])
