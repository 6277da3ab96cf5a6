"""MPW: our reading of the multi-pass fast watershed (Tareef et al., TMI 2018).

The publication is known to us by its ideas only: a watershed for the nuclei; one for the cells, adapted to their shape
and place; then mutual watersheds, one a nucleus, where cells overlap much; and ellipses in place of the straight lines
that watersheds leave. The first pass is given here by the regions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.evolution.evolve import CROWDING
from declump.records.clump import Clump
from declump.records.segmentation import Segmentation
from declump.regions import Regions
from declump.shapes import contours
from declump.shapes.prior import ShapePrior
from declump_paper.compared.by_clump import ROOM, Masks, crop_image, crosses_border, grey_levels, segment_by_clump
from declump_paper.compared.edges import inner_gradient
from declump_paper.compared.ellipses import ellipse_radii

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]
Mask = NDArray[np.bool_]

EDGES = 0.5
"""Share of the edges in the landscape that is flooded; the rest is distance in sizes of a cell."""
REACH = 1.4
"""Farther from its nucleus than this, in sizes of a cell, there is no cell."""
BARRIER = 0.06
"""Radius of the disc that stands for another nucleus in the third pass, in sizes of a cell."""
ROUNDS = 10
SETTLED = 0.01
"""The mutual watersheds end when a smaller share of the clump's pixels changes."""
LINE_WEIGHT = 0.15
"""How much a hidden point of an outline counts in the fit of its ellipse, against 1 of an open one."""
OPEN = 1.5
"""A side whose second pass ends within this many pixels of the clump's outline is open."""
SMOOTHING = 4.0
"""Standard deviation in rays of the smoothing where ellipse and outline meet."""
RAYS = 360


def mpw(
    image: Any,
    regions: Regions,
    *,
    prior: ShapePrior | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Segmentation:
    """Segment cells by our reading of the multi-pass watershed; see :class:`declump_paper.compared.ComparedMethod`.

    No shapes are learnt: the ``prior`` is not heeded.
    """
    grey, nuclei = grey_levels(image, regions), np.pad(regions.nuclei, ROOM)

    def cells_of(clump: Clump) -> Masks:
        return multi_pass(grey[crop_image(clump)], clump, nuclei[crop_image(clump)])

    return segment_by_clump(regions, cells_of, progress)


def multi_pass(grey: Floats, clump: Clump, nuclei: Integers) -> Masks:
    """Masks (n, h, w) of the cells of one clump.

    Parameters
    ----------
    grey : (h, w) float64
        Brightness.
    clump : Clump
        With room round it.
    nuclei : (h, w) int32
        Numbers of the nuclei, 1 + the number of the cell.
    """
    if len(clump.cells) == 1:
        return clump.mask[None].copy()
    size = float(np.sqrt(clump.size / len(clump.cells) / np.pi)) / CROWDING
    edges = np.clip(np.hypot(*inner_gradient(grey, clump.mask, nuclei > 0, size)), 0, 1)
    markers = nucleus_markers(clump, nuclei)
    territories = second_pass(clump, edges, markers, size)
    masks = third_pass(clump, edges, markers, size)
    return np.stack(
        [
            round_basin(clump, territories == index + 1, mask, seed)
            for index, (mask, seed) in enumerate(zip(masks, clump.seeds, strict=True))
        ]
    )


def nucleus_markers(clump: Clump, nuclei: Integers) -> Integers:
    """Numbers (h, w), from 1 in the order of the clump's seeds, at the pixels of their nuclei within the clump."""
    number = np.zeros(max(int(nuclei.max()), int(clump.cells.max()) + 1) + 1, dtype=np.int32)
    number[clump.cells + 1] = np.arange(1, len(clump.cells) + 1)
    markers = np.where(clump.mask, number[nuclei], 0)
    markers[clump.seeds[:, 0], clump.seeds[:, 1]] = np.arange(1, len(clump.cells) + 1)
    return np.asarray(markers, dtype=np.int32)


def second_pass(clump: Clump, edges: Floats, markers: Integers, size: float) -> Integers:
    """Share the clump out: which nucleus (h, w), from 1, each pixel goes to, 0 outside.

    The landscape rises with the distance from the nearest nucleus and with the edges: without edges lines run half way
    between nuclei, and with edges along them.
    """
    from scipy import ndimage
    from skimage.segmentation import watershed

    away = np.ones(clump.mask.shape, dtype=np.bool_)
    away[clump.seeds[:, 0], clump.seeds[:, 1]] = False
    objective = EDGES * edges + (1 - EDGES) * ndimage.distance_transform_edt(away) / size
    return np.asarray(watershed(objective, markers, mask=clump.mask), dtype=np.int32)


@dataclass(frozen=True)
class Basin:
    """What stays the same of a cell in all rounds of the third pass, in a window (a, b) round its nucleus.

    Attributes
    ----------
    window : slices
        Rows and columns in the crop of the clump.
    landscape : (a, b) float64
    markers : (a, b) int32
        1 at the nucleus; 2 outside the clump, out of reach, and at the discs of other nuclei.
    """

    window: tuple[slice, slice]
    objective: Floats
    markers: Integers


def third_pass(clump: Clump, edges: Floats, markers: Integers, size: float) -> Masks:
    """Masks (n, h, w) that may overlap: one watershed a nucleus, against what its neighbours alone hold.

    Each landscape rises from its own nucleus on, so that a cell may pass its neighbours' nuclei sideways; the rounds
    are taken by all cells together, each against the masks of the round before.
    """
    from skimage.segmentation import watershed

    basins = [_basin(clump, edges, markers, index, size) for index in range(len(clump.cells))]
    masks = np.zeros((len(basins), *clump.mask.shape), dtype=np.bool_)
    cover = np.zeros(clump.mask.shape, dtype=np.int32)
    for turn in range(ROUNDS):
        flooded = np.zeros_like(masks)
        for index, basin in enumerate(basins):
            own = masks[(index, *basin.window)]
            held = basin.markers.copy()
            if turn:
                held[(cover[basin.window] > 0) & ~own & (held == 0)] = 2
            flooded[(index, *basin.window)] = watershed(basin.objective, held) == 1
        changed = np.count_nonzero(flooded != masks)
        masks, cover = flooded, flooded.sum(axis=0, dtype=np.int32)
        if turn and changed < SETTLED * clump.size:
            break
    return masks


def _basin(clump: Clump, edges: Floats, markers: Integers, index: int, size: float) -> Basin:
    row, column = (int(part) for part in clump.seeds[index])
    reach = int(np.ceil(REACH * size)) + 1
    window = (slice(max(row - reach, 0), row + reach + 1), slice(max(column - reach, 0), column + reach + 1))
    rows, columns = np.ogrid[
        window[0].start : min(window[0].stop, clump.mask.shape[0]),
        window[1].start : min(window[1].stop, clump.mask.shape[1]),
    ]
    distance = np.hypot(rows - row, columns - column)
    barred = ~clump.mask[window] | (distance > REACH * size)
    for other in np.delete(clump.seeds, index, axis=0):
        if np.abs(other - (row, column)).max() <= 2 * reach:
            barred |= np.hypot(rows - other[0], columns - other[1]) <= BARRIER * size
    own = markers[window] == index + 1
    objective = EDGES * edges[window] + (1 - EDGES) * distance / size
    return Basin(window, objective, np.where(own, 1, np.where(barred, 2, 0)).astype(np.int32))


def round_basin(clump: Clump, territory: Mask, mask: Mask, seed: NDArray[np.int64]) -> Mask:
    """Mask (h, w) of a cell with an ellipse in place of its hidden lines.

    Open sides, those on the outline of the clump by the second pass, stay as they are. The ellipse is fitted to them
    and, with less weight, to where the third pass ended; it never leaves the clump.
    """
    from scipy import ndimage

    exits = contours.first_exits(clump.mask, seed, RAYS)
    shared, _ = contours.outermost_crossings(territory, seed, RAYS)
    flooded, _ = contours.outermost_crossings(mask, seed, RAYS)
    is_open = shared >= exits - OPEN
    radii = np.where(is_open, exits, np.minimum(flooded, exits))
    certain = is_open & ~crosses_border(clump, seed, exits)
    fitted = ellipse_radii(np.maximum(radii, 1.0), np.where(certain, 1.0, LINE_WEIGHT))
    if fitted is not None:
        radii = np.where(is_open, exits, np.minimum(fitted, exits))
    radii = np.minimum(ndimage.gaussian_filter1d(radii, SMOOTHING, mode="wrap"), np.where(is_open, radii, exits))
    return contours.to_mask(seed, radii, (clump.mask.shape[0], clump.mask.shape[1])) & clump.mask
