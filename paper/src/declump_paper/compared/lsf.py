"""LSF: joint level sets with a shape from the clump's outline (Lu, Carneiro and Bradley, TIP 2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.records.clump import Clump
from declump.records.segmentation import Segmentation
from declump.regions import Regions
from declump.shapes.contours import outermost_crossings
from declump.shapes.prior import ShapePrior
from declump_paper.compared.by_clump import crop_grey, grey_levels, segment_by_clump
from declump_paper.compared.level_sets import (
    Flow,
    edge_indicator,
    evolve_level_set,
    find_window,
    largest_piece,
    step_function,
)
from declump_paper.compared.sharing import FirstCell, share_outline

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]

FLOW = Flow(step=5.0, regularity=0.04, length=13.0)
OVERLAP = 3.0
"""Weight of what two cells share."""
LOOPS = 5
STEPS = 20
"""Steps of each of two neighbours against the other in a loop."""
NEIGHBOURS_WITHIN = 5
"""Cells this many pixels apart, or fewer, are neighbours."""
STEEPNESS = 5.0
"""How fast the weight of the length falls from a cell's centre (1) to its outline (about 0)."""
ROOM = 12
"""Pixels round a cell in the window in which it moves."""


def lsf(
    image: Any,
    regions: Regions,
    *,
    prior: ShapePrior | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Segmentation:
    """Segment cells by joint level sets; see :class:`declump_paper.compared.ComparedMethod` for the arguments.

    The outline of a clump is shared out among its nuclei, hidden sides are bridged, and the cells then move as level
    sets along the edges of the image, near to their first shapes, repelled by each other. No shapes are learnt: the
    ``prior`` is not heeded.
    """
    grey = grey_levels(image, regions)
    return segment_by_clump(regions, lambda clump: joint_level_sets(crop_grey(clump, grey), clump), progress)


def joint_level_sets(
    grey: Floats, clump: Clump, first_cells: Callable[[Clump], list[FirstCell]] = share_outline
) -> Masks:
    """Masks (n, h, w) of the cells of one clump, from grey levels (h, w) that are 0 outside it, and first cells."""
    cells = first_cells(clump)
    masks = np.stack([cell.mask for cell in cells])
    if len(cells) == 1:
        return masks
    edges = edge_indicator(grey)
    for _ in range(LOOPS):
        weights = length_weights(clump.mask, cells, masks) * edges
        for index in range(len(masks)):
            for other in neighbours(masks, index):
                if index < other:
                    masks[index] = evolve_against(masks[index], masks[other], weights)
                    masks[other] = evolve_against(masks[other], masks[index], weights)
    return masks


def evolve_against(mask: NDArray[np.bool_], other: NDArray[np.bool_], weights: Floats) -> NDArray[np.bool_]:
    """Mask (h, w) of a cell after its level set moved against one neighbour; a cell that vanishes stays as it was."""
    window = find_window(mask, ROOM)
    near = weights[window]
    phi = evolve_level_set(step_function(mask[window]), FLOW, STEPS, edge=near, push=OVERLAP * near * other[window])
    moved = largest_piece(phi <= 0)
    if not moved.any():
        return mask
    result = np.zeros_like(mask)
    result[window] = moved
    return result


def length_weights(clump: NDArray[np.bool_], cells: list[FirstCell], masks: Masks) -> Floats:
    """Map h_C (h, w): from 1 at the centres of cells to about 0 at their outlines, 1 outside the clump.

    Along each ray it is ``2 - 2 / (1 + exp(-5 t))``, t the distance from the centre in units of the outline's; where
    cells overlap the greatest counts. Near a cell it goes on along the rays, also where no cell is; elsewhere in the
    clump it is 0.
    """
    inner, beyond = np.zeros(clump.shape), np.zeros(clump.shape)
    for cell, mask in zip(cells, masks, strict=True):
        window = find_window(mask, ROOM)
        centre = (cell.centre[0] - window[0].start, cell.centre[1] - window[1].start)
        near = mask[window]
        falling = 2 - 2 / (1 + np.exp(-STEEPNESS * relative_distance(centre, near)))
        inner[window] = np.maximum(inner[window], np.where(near, falling, 0))
        beyond[window] = np.maximum(beyond[window], falling)
    held = masks.any(axis=0)
    return np.where(clump, np.where(held, inner, beyond), 1.0)


def relative_distance(centre: tuple[float, float], mask: NDArray[np.bool_]) -> Floats:
    """Distance (h, w) of every pixel from a centre, in units of the distance of the mask's outline on the same ray."""
    radii, _ = outermost_crossings(mask, centre, 360)
    rows, columns = np.indices(mask.shape) - np.reshape(centre, (2, 1, 1))
    angles = np.mod(np.arctan2(rows, columns), 2 * np.pi) * (len(radii) / (2 * np.pi))
    outline = np.interp(angles, np.arange(len(radii) + 1), np.append(radii, radii[0]))
    return np.asarray(np.hypot(rows, columns) / np.maximum(outline, 1.0))


def neighbours(masks: Masks, index: int) -> list[int]:
    """Cells that overlap one or lie within 5 pixels of it, in their order."""
    from scipy import ndimage

    window = find_window(masks[index], NEIGHBOURS_WITHIN + 1)
    distance = ndimage.distance_transform_edt(~masks[(index, *window)])
    near = masks[(slice(None), *window)] & (distance <= NEIGHBOURS_WITHIN)
    return [int(other) for other in np.flatnonzero(near.any(axis=(1, 2))) if other != index]
