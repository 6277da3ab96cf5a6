"""What the level-set methods share: regions taken clump by clump, masks put together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.records.clump import Clump, split_clumps
from declump.records.segmentation import Segmentation
from declump.regions import Regions
from declump.regions.channels import to_channels
from declump.shapes.contours import directions

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]

ROOM = 8
"""Pixels of outside round a clump, also beyond the image: the border of the image is an outline like any other."""
WHITE = 255.0
"""Grey level of the background: published weights are for grey levels from 0 to 255."""


def segment_by_clump(
    regions: Regions, cells_of: Callable[[Clump], Masks], progress: Callable[[int, int], None] | None = None
) -> Segmentation:
    """Segment every clump that has a seed on its own.

    Parameters
    ----------
    regions : Regions
    cells_of : callable
        Gives the masks (n, h, w) of the n cells of a clump (h, w). The clump comes with ``ROOM`` pixels of outside
        round it, also where it touches the border of the image.
    progress : callable, optional
        Called with the number of cells done and in all, after every clump.

    Returns
    -------
    Segmentation
        One row a nucleus; a seed outside all clumps has an empty outline.
    """
    height, width = regions.clump.shape
    masks = np.zeros((len(regions.seeds), height + 2 * ROOM, width + 2 * ROOM), dtype=np.bool_)
    done = 0
    for clump in split_clumps(np.pad(regions.clump, ROOM), regions.seeds + ROOM):
        if not clump.cells.size:
            continue
        wide = clump.with_room(ROOM)
        masks[(wide.cells, *crop_image(wide))] = cells_of(wide)
        done += len(wide.cells)
        if progress:
            progress(done, len(regions.seeds))
    inner = np.ascontiguousarray(masks[:, ROOM:-ROOM, ROOM:-ROOM])
    return Segmentation.from_masks(inner, regions.seeds, clump=regions.clump, nuclei=regions.nuclei)


def grey_levels(image: Any, regions: Regions) -> Floats:
    """Grey levels from 0 to about 255 of an image, with ``ROOM`` pixels round it, for :func:`crop_grey`.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
        See :func:`declump.regions.channels.to_channels`; its background becomes 255.
    regions : Regions
        Of the same image.
    """
    if np.shape(image)[:2] != regions.clump.shape:
        raise ValueError(
            f"the regions are of another image: {regions.clump.shape} pixels against {np.shape(image)[:2]}"
        )
    return np.pad(WHITE * to_channels(image)[0].astype(np.float64), ROOM, mode="edge")


def crop_grey(clump: Clump, grey: Floats) -> Floats:
    """Grey levels (h, w) of a clump's crop, 0 outside the clump, so that its outline is an edge."""
    return np.where(clump.mask, grey[crop_image(clump)], 0.0)


def crop_image(clump: Clump) -> tuple[slice, slice]:
    """Rows and columns of a clump's crop."""
    (top, left), (height, width) = clump.origin, clump.mask.shape
    return slice(top, top + height), slice(left, left + width)


def crosses_border(clump: Clump, seed: NDArray[Any], exits: Floats) -> Masks:
    """Which rays (K,) from a seed leave the clump through the border of the image, where the cell is only cut.

    Parameters
    ----------
    clump : Clump
        With ``ROOM`` pixels beyond the image, as :func:`segment_by_clump` gives it.
    seed : (2,)
        Row and column in its crop.
    exits : (K,) float64
        Distances in pixels at which the rays leave it.
    """
    points = np.asarray(seed)[:, None] + np.reshape(clump.origin, (2, 1)) + exits * np.stack(directions(len(exits)))
    last = np.reshape(clump.image_shape, (2, 1)) - ROOM - 1
    return np.asarray(((points < ROOM) | (points > last)).any(axis=0))
