"""Seeds of one connected piece of a mask, from its shape alone."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.seeds.concavity import Cut, cuts_between_notches, trace_outlines
from declump.seeds.distance import deepest_places, depths, middles
from declump.seeds.joining import find_objects

Method = Literal["both", "distance", "concavity"]

SPLINTER = 0.3
"""Parts less deep than this share of what they were cut from are no objects."""


def seeds_of_piece(piece: NDArray[np.bool_], method: Method) -> NDArray[np.float64]:
    """Seeds (N, 2) of one connected piece (H, W); for the methods see :func:`declump.find_seeds`."""
    depth = depths(piece)
    if method == "both":
        return middles(find_objects(piece), depth)
    deep = deepest_places(depth)
    if method == "distance":
        return deep
    apart = _between(piece, cuts_between_notches(piece, trace_outlines(piece, deep, depth)))
    return apart if len(apart) > 1 else middles(piece.astype(np.int32), depth)


def _between(piece: NDArray[np.bool_], cuts: list[Cut]) -> NDArray[np.float64]:
    """Middles of the parts into which cuts divide a piece, without splinters."""
    severed = piece.copy()
    for cut in cuts:
        severed[tuple(cut.pixels.T)] = False
    depth = depths(severed)
    labels, count = ndimage.label(severed, np.ones((3, 3)))
    deepest = np.asarray(ndimage.maximum(depth, labels, np.arange(1, count + 1)))
    return np.asarray(middles(np.asarray(labels, np.int32), depth)[deepest > SPLINTER * depths(piece).max()])
