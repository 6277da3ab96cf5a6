"""CF: our reading of contour fragments (Song et al., AAAI 2018 and TMI 2019).

The publications are known to us by their abstracts only: the outline of a clump is cut into fragments; each cell gets
its fragments by a grouping; from them and from known shapes the shape of each cell is constructed; its fragments are
connected along that shape, with the help of intensity and curvature; and all that is iterated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.evolution.evolve import estimate_scale
from declump.records.clump import Clump, split_clumps
from declump.records.segmentation import Segmentation
from declump.regions import Regions
from declump.shapes import contours
from declump.shapes.prior import ShapePrior
from declump_paper.compared.by_clump import ROOM, Masks, crop_image, crosses_border, grey_levels, segment_by_clump
from declump_paper.compared.edges import inner_gradient
from declump_paper.compared.fragments import SEEN, Piece, cut_outlines, misfits, nearest_rays, share_pieces
from declump_paper.compared.minimal_path import closed_path

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROUNDS = 4
DIRECTIONS = 24.0
"""An outline counts as this many independent looks at a cell, however many its rays."""
NOISE = 0.04
"""Standard deviation of an own fragment, or of a place where a cell must have ended, in sizes of a cell."""
GUESSED = 0.25
"""The same of a connection that the round before made."""
MIN_DOUBT = 0.05
"""Least standard deviation of an expected radius, in sizes of a cell."""
STEP = 0.02
"""Distance between two levels of a connection, in sizes of a cell."""
BAND = 0.5
"""How far a connection may leave the constructed shape, in sizes of a cell."""
EDGE, SHAPE, BENDING = 1.0, 0.3, 0.5
"""Weights of the image's edges, of the distance from the constructed shape, and of bending away from it."""


def cf(
    image: Any,
    regions: Regions,
    *,
    prior: ShapePrior | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Segmentation:
    """Segment cells by our reading of contour fragments; see :class:`declump_paper.compared.ComparedMethod`.

    The known shapes are those of the ``prior``, by default the shipped one; its size follows from the area per nucleus.
    """
    prior = ShapePrior.load("default") if prior is None else prior
    grey, nuclei = grey_levels(image, regions), np.pad(regions.nuclei > 0, ROOM)
    scale = estimate_scale(split_clumps(regions.clump, regions.seeds), prior)

    def cells_of(clump: Clump) -> Masks:
        return contour_fragments(grey[crop_image(clump)], clump, nuclei[crop_image(clump)], prior, scale)

    return segment_by_clump(regions, cells_of, progress)


@dataclass(frozen=True)
class Shapes:
    """Shapes that cells are expected to have: normal distributions of their radii.

    Attributes
    ----------
    mean : (K,) float64
        Pixels.
    modes : (K, t) float64
        Pixels a standard deviation.
    size : float
        Mean radius in pixels.
    """

    mean: Floats
    modes: Floats
    size: float

    def constructed(self, seen: Floats, std: Floats, limits: Floats) -> tuple[Floats, Floats]:
        """Shape of a cell of which some radii are known: mean and standard deviation (K,) of each radius, in pixels.

        Parameters
        ----------
        seen : (K,) float64
            Known radii in pixels.
        doubt : (K,) float64
            Their standard deviations; infinite where a radius is not known.
        limits : (K,) float64
            Where the clump ends: a radius that would come out larger is taken to be known, and to end there.
        """
        weights = DIRECTIONS / len(seen) / std**2
        pull = DIRECTIONS / len(seen) / (NOISE * self.size) ** 2
        seen = seen.copy()
        for _ in range(6):
            precision = np.eye(self.modes.shape[1]) + (self.modes * weights[:, None]).T @ self.modes
            covariance = np.linalg.inv(precision)
            radii = self.mean + self.modes @ (covariance @ (self.modes.T @ (weights * (seen - self.mean))))
            beyond = (radii > limits + STEP * self.size) & (weights < pull)
            if not beyond.any():
                break
            seen[beyond], weights[beyond] = limits[beyond], pull
        spread = np.sqrt(np.sum((self.modes @ covariance) * self.modes, axis=1))
        floor = MIN_DOUBT * self.size
        return np.clip(radii, floor, np.maximum(limits, floor)), np.maximum(spread, floor)


def contour_fragments(grey: Floats, clump: Clump, nuclei: Mask, prior: ShapePrior, scale: float) -> Masks:
    """Masks (n, h, w) of the cells of one clump.

    Parameters
    ----------
    grey : (h, w) float64
        Brightness.
    clump : Clump
        With room round it.
    nuclei : (h, w) bool
    prior : ShapePrior
    scale : float
        Size of the cells relative to the prior's.
    """
    if len(clump.cells) == 1:
        return clump.mask[None].copy()
    shapes = Shapes(
        scale * prior.mean, scale * prior.modes * np.sqrt(prior.variances), scale * float(prior.mean.mean())
    )
    seeds = clump.seeds.astype(np.float64)
    exits = np.stack([_exits(clump, seed, prior.rays) for seed in seeds])
    gradient = inner_gradient(grey, clump.mask, nuclei, shapes.size)
    edges = [outward_edges(gradient, seed, shapes) for seed in seeds]
    outlines = cut_outlines(clump.mask, shapes.size)
    unknown = np.full(prior.rays, np.inf)
    built = [shapes.constructed(shapes.mean, unknown, limits) for limits in exits]
    radii = np.stack([mean for mean, _ in built])
    for turn in range(ROUNDS):
        own = group_pieces(
            outlines, seeds, exits, np.stack([one[0] for one in built]), np.stack([one[1] for one in built])
        )
        for index in range(len(seeds)):
            known = np.isfinite(own[index])
            guess = GUESSED * shapes.size if turn else np.inf
            std = np.where(known, NOISE * shapes.size, guess)
            built[index] = shapes.constructed(np.where(known, own[index], radii[index]), std, exits[index])
            radii[index] = connect_fragments(own[index], *built[index], exits[index], edges[index], shapes.size)
    shape = (clump.mask.shape[0], clump.mask.shape[1])
    return np.stack([contours.to_mask(seed, radii[index], shape) for index, seed in enumerate(seeds)]) & clump.mask


def group_pieces(outlines: list[list[Piece]], seeds: Floats, exits: Floats, expected: Floats, std: Floats) -> Floats:
    """Radii (n, K) of the cells where an outline is theirs, NaN elsewhere."""
    rays = exits.shape[1]
    own = np.full(exits.shape, np.nan)
    for pieces in outlines:
        labels = share_pieces(pieces, misfits(pieces, seeds, exits, expected, std))
        for piece, label in zip(pieces, labels.tolist(), strict=True):
            ray = nearest_rays(piece.points - seeds[label], rays)
            distance = np.hypot(*(piece.points - seeds[label]).T)
            seen = (distance <= exits[label, ray] + SEEN) & np.isfinite(exits[label, ray])
            own[label, ray[seen]] = exits[label, ray[seen]]
    return own


def _exits(clump: Clump, seed: Floats, rays: int) -> Floats:
    """First-exit distances (K,) of a clump; infinite where a ray leaves through the border of the image."""
    exits = contours.first_exits(clump.mask, seed, rays)
    return np.where(crosses_border(clump, seed, exits), np.inf, exits)


def outward_edges(gradient: Floats, seed: Floats, shapes: Shapes) -> Floats:
    """Edges (K, D) as seen from a seed, from 0 to 1, at distances of ``STEP`` sizes up to three sizes.

    Where a cell ends within others, there is a layer less, and the image becomes brighter outwards; the ends of other
    cells that begin there make it darker, and do not count.
    """
    from scipy import ndimage

    distances = STEP * shapes.size * np.arange(int(3 / STEP))
    rows, columns = contours.directions(len(shapes.mean))
    places = seed[:, None, None] + np.stack([rows, columns])[:, :, None] * distances
    along = sum(
        ndimage.map_coordinates(part, places, order=1, mode="nearest") * towards[:, None]
        for part, towards in zip(gradient, (rows, columns), strict=True)
    )
    return np.asarray(np.clip(along, 0, 1), dtype=np.float64)


def connect_fragments(own: Floats, expected: Floats, std: Floats, exits: Floats, edges: Floats, size: float) -> Floats:
    """Closed outline (K,) of a cell: its fragments, connected near the constructed shape and along edges."""
    step = STEP * size
    deviations = step * np.arange(-int(BAND / STEP), int(BAND / STEP) + 1)
    known = np.isfinite(own)
    levels = expected[:, None] + deviations
    column = np.clip(np.rint(levels / step).astype(int), 0, edges.shape[1] - 1)
    costs = SHAPE / 2 * (deviations / std[:, None]) ** 2 + EDGE * (1 - np.take_along_axis(edges, column, axis=1))
    least = np.minimum(exits, 2 * step)
    costs[(levels > exits[:, None] + step / 2) | (levels < least[:, None])] = np.inf
    target = np.where(known, own, np.clip(expected, least, exits))
    nearest = np.abs(levels - target[:, None]).argmin(axis=1)
    fixed = known | ~np.isfinite(costs).any(axis=1)
    costs[fixed] = np.inf
    costs[fixed, nearest[fixed]] = 0
    path = closed_path(costs, BENDING)
    radii = np.take_along_axis(levels, path[:, None], axis=1)[:, 0]
    return np.where(known, own, np.minimum(radii, exits))
