"""Parts of a connected mask: a division that is finer than its objects, along every neck and between every two notches.

What of it is one object is not told here; see :mod:`declump.seeds.joining`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.seeds.concavity import Cut, SizedOutline, cuts_between_notches
from declump.seeds.distance import basins, deepest_places
from declump.seeds.region_graph import borders_between

FINEST_NECK, FINEST_GRAIN = 0.985, 0.5
"""Necks that divide parts: see ``NECK`` and ``GRAIN`` of :mod:`declump.seeds.distance`. Shallower ones are noise."""
NEAR = 0.15
"""A notch nearer to another basin than this share of a cut's length is one of the neck to it."""
AS_SHALLOW = 1.05
"""A cut runs along a neck if it is nowhere deeper than the neck, this factor and half a pixel allowed."""


def fine_parts(piece: NDArray[np.bool_], depth: NDArray[np.float64], outlines: list[SizedOutline]) -> NDArray[np.int32]:
    """Divide a connected mask (H, W) into parts, numbered from 1.

    Parameters
    ----------
    piece : (H, W) bool
    depth : (H, W) float64
        Of the piece; see :func:`declump.seeds.distance.depths`.
    outlines : list of SizedOutline
        Of the piece; see :func:`declump.seeds.concavity.trace_outlines`.
    """
    from scipy import ndimage

    places = deepest_places(depth, neck=FINEST_NECK, grain=FINEST_GRAIN)
    cuts = cuts_between_notches(piece, outlines)
    parts = basins(places, depth)
    necks = _necks(parts, depth)
    # A watershed finds a neck, but its line may miss the notches at its ends.
    fences = [cut for cut in cuts if _runs_along_a_neck(cut, parts, depth, necks)]
    if fences:
        fenced = depth.copy()
        for cut in fences:
            fenced[tuple(cut.pixels.T)] = 0
        free = fenced[tuple(np.floor(places + 0.5).astype(int).T)] > 0
        parts = _fill(basins(places[free], fenced), piece)
    severed = np.zeros(piece.shape, dtype=np.bool_)
    for cut in cuts:
        rows, columns = cut.pixels.T
        own = (parts[rows, columns] == _find_divided_part(cut, parts)) & piece[rows, columns]
        severed[rows[own], columns[own]] = True
    pieces, count = np.zeros_like(parts), 0
    for label, box in enumerate(ndimage.find_objects(parts), start=1):
        if box is not None:
            sides, number = ndimage.label((parts[box] == label) & ~severed[box], np.ones((3, 3)))
            pieces[box][sides > 0] = sides[sides > 0] + count
            count += number
    return _fill(pieces, piece)


def _find_divided_part(cut: Cut, parts: NDArray[np.int32]) -> int:
    """Number of the part through whose inside a cut runs; 0 for one between two notches of necks, or through none."""
    touched = np.bincount(parts[tuple(cut.pixels.T)])
    label = int(touched[1:].argmax()) + 1 if touched.size > 1 else 0
    near = max(NEAR * float(np.hypot(*(cut.end - cut.start))), 1.5)
    in_necks = [_meets_another(end, parts, label, near) for end in (cut.start, cut.end)]
    return 0 if all(in_necks) or 2 * touched[label] <= touched[1:].sum() else label


def _meets_another(point: NDArray[np.float64], parts: NDArray[np.int32], label: int, near: float) -> bool:
    """Tell whether another part than one's own comes near a point."""
    first = np.maximum(np.floor(point - near), 0).astype(int)
    end = np.maximum(np.ceil(point + near), 0).astype(int) + 1
    window = parts[first[0] : end[0], first[1] : end[1]]
    return bool(((window > 0) & (window != label)).any())


def _necks(parts: NDArray[np.int32], depth: NDArray[np.float64]) -> dict[tuple[int, int], float]:
    """Depth of the neck between each two neighbours."""
    return {
        (first, second): float(np.minimum(depth[tuple(sides[:, :2].T)], depth[tuple(sides[:, 2:].T)]).max())
        for first, second, sides in borders_between(parts)
    }


def _runs_along_a_neck(
    cut: Cut, parts: NDArray[np.int32], depth: NDArray[np.float64], necks: dict[tuple[int, int], float]
) -> bool:
    """Tell whether a cut is nowhere deeper than the neck between the two parts in which most of it lies."""
    pixels = tuple(cut.pixels.T)
    touched = np.bincount(parts[pixels], minlength=3)
    touched[0] = 0
    first, second = sorted(np.argsort(touched, kind="stable")[-2:].tolist())
    neck = necks.get((first, second))
    return (
        neck is not None and touched[[first, second]].min() > 0 and bool(depth[pixels].max() <= AS_SHALLOW * neck + 0.5)
    )


def _fill(labels: NDArray[np.int32], piece: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Give the pixels of a piece without a label to the nearest one, and number labels without gaps."""
    from skimage.segmentation import relabel_sequential, watershed

    every = watershed(np.zeros(piece.shape), labels, mask=piece, connectivity=2)
    return np.asarray(relabel_sequential(every)[0], np.int32)
