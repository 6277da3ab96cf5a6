"""Star: level sets that are star-shaped as seen from their nuclei (Nosrati and Hamarneh, ISBI 2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.records.clump import Clump
from declump.records.segmentation import Segmentation
from declump.regions import Regions
from declump.shapes.contours import first_exits, to_mask
from declump.shapes.prior import ShapePrior
from declump_paper.compared.by_clump import segment_by_clump
from declump_paper.compared.level_sets import Flow, evolve_level_set, find_window, largest_piece, step_function

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]

STAR, VORONOI, REGION = 1.5, 1.0, 1.9
"""Published weights of the star shape, of the Voronoi term and of the region term."""
FLOW = Flow(step=0.5, regularity=0.2, star=STAR)
STEPS = 200
RAYS = 360
"""Rays along which a first cell looks for the end of the clump."""
ROOM = 8
"""Pixels round what is seen of the clump in the window in which a cell moves."""
FARTHEST = 4.0
"""The Voronoi term grows no further than this: beyond it the region term, 1.9, has lost long since."""


def star(
    image: Any,
    regions: Regions,
    *,
    prior: ShapePrior | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Segmentation:
    """Segment cells by star-shaped level sets; see :class:`declump_paper.compared.ComparedMethod` for the arguments.

    A cell grows in the clump (region term), the less willingly the nearer another nucleus is in comparison to its own
    (Voronoi term), and stays star-shaped. Neither the ``image`` nor the ``prior`` is heeded.
    """
    return segment_by_clump(regions, star_level_sets, progress)


def star_level_sets(clump: Clump) -> Masks:
    """Masks (n, h, w) of the cells of one clump."""
    distances, owners = nearest_seeds(clump)
    masks = np.zeros((len(clump.seeds), *clump.mask.shape), dtype=np.bool_)
    for index, (row, column) in enumerate(clump.seeds.tolist()):
        seen = to_mask((row, column), first_exits(clump.mask, (row, column), RAYS), masks.shape[1:]) & clump.mask
        seen[row, column] = True
        window = find_window(seen, ROOM)
        centre = (row - window[0].start, column - window[1].start)
        ratio = voronoi_ratio(distances[window], owners[window], index, centre)
        # A Voronoi cell is convex, and what is seen of the clump star-shaped: so is what they share.
        first = seen[window] & (ratio <= 1)
        push = np.where(clump.mask[window], VORONOI * ratio - REGION, REGION)
        inside = evolve_level_set(step_function(first), FLOW, STEPS, push=push, centre=centre) <= 0
        masks[(index, *window)] = largest_piece(inside) if inside.any() else first
    return masks


def nearest_seeds(clump: Clump) -> tuple[Floats, NDArray[np.int64]]:
    """Distances (h, w, 2) of every pixel from the nearest and the second nearest seed, and which seeds these are.

    Where there is but one seed the second is infinitely far.
    """
    from scipy.spatial import cKDTree

    pixels = np.moveaxis(np.indices(clump.mask.shape), 0, -1)
    distances, owners = cKDTree(clump.seeds).query(pixels, k=2)
    return distances, owners.astype(np.int64)


def voronoi_ratio(distances: Floats, owners: NDArray[np.int64], index: int, centre: tuple[int, int]) -> Floats:
    """Distance of every pixel (h, w) from one seed in units of that from the nearest other, at most 4.

    At most 1 in the Voronoi cell of the seed, 0 for the only seed of a clump.
    """
    rows, columns = np.indices(distances.shape[:2])
    own = np.hypot(rows - centre[0], columns - centre[1])
    others = np.where(owners[..., 0] == index, distances[..., 1], distances[..., 0])
    return np.asarray(np.minimum(own / np.maximum(others, 1e-9), FARTHEST))
