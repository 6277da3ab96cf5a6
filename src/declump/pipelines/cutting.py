"""Clumps that are too large to be solved as one, cut along their weakest necks.

Clumps percolate: on a dense slide one may hold thousands of cells, and the time of a clump grows faster than their
number. A clump above the limits is divided into the basins of its depth, coarsely, and basins are joined again over
their widest necks first, as long as what they make stays within the limits: what is left apart is cut at necks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.records.boxes import Box

MAX_CELLS = 200
"""Clumps with more nuclei are cut."""
MAX_SIDE = 3072
"""Clumps that are longer or wider, in pixels, are cut: they bound the memory."""
COARSE = 8
"""Sides in pixels of the squares that clumps are cut by."""


@dataclass(frozen=True)
class Limits:
    """Above which clumps are cut: see ``MAX_CELLS`` and ``MAX_SIDE``."""

    cells: int = MAX_CELLS
    side: int = MAX_SIDE

    def __post_init__(self) -> None:
        """Refuse limits that no clump can meet."""
        if self.cells < 1 or self.side < 16 * COARSE:
            raise ValueError(
                f"limits of clumps are 1 cell and {16 * COARSE} pixels at least; given: {self.cells}, {self.side}"
            )

    def hold(self, extent: Box, cells: int) -> bool:
        """Whether a clump of an extent, with so many nuclei, need not be cut."""
        return cells <= self.cells and max(extent.shape) <= self.side


def coarsen(mask: NDArray[np.bool_], extent: Box) -> NDArray[np.bool_]:
    """Squares of ``COARSE`` pixels, counted from the corner of the image, that a mask (h, w) with an extent touches."""
    before = extent.top % COARSE, extent.left % COARSE
    sides = [(start, -(start + side) % COARSE) for start, side in zip(before, mask.shape, strict=True)]
    padded = np.pad(mask, sides)
    height, width = (side // COARSE for side in padded.shape)
    return np.asarray(padded.reshape(height, COARSE, width, COARSE).any(axis=(1, 3)))


def count_squares(extent: Box) -> tuple[int, int]:
    """Rows and columns of squares that an extent touches."""
    rows, columns = (-(-stop // COARSE) - start // COARSE for start, stop in zip(extent[:2], extent[2:], strict=True))
    return rows, columns


def cut_clump(squares: NDArray[np.bool_], nuclei: NDArray[np.int64], limits: Limits) -> NDArray[np.int32]:
    """Cut a clump.

    Parameters
    ----------
    squares : (h, w) bool
        The squares of ``COARSE`` pixels that it touches.
    nuclei : (N, 2) int64
        Squares, by row and column, that its nuclei lie in.
    limits : Limits

    Returns
    -------
    (h, w) int32
        Number of the part, from 1, at each square: the same for the same clump, wherever it lies.
    """
    from skimage.feature import peak_local_max
    from skimage.segmentation import watershed

    depth = ndimage.distance_transform_edt(np.pad(squares, 1))[1:-1, 1:-1].astype(np.float32)
    peaks = peak_local_max(depth, min_distance=2, labels=squares.astype(np.int32), exclude_border=False)
    marks = np.zeros(squares.shape, np.int32)
    order = np.lexsort((peaks[:, 1], peaks[:, 0]))
    marks[tuple(peaks[order].T)] = np.arange(1, len(peaks) + 1)
    basins = np.asarray(watershed(-depth, marks, mask=squares), np.int32)
    basins = _split_long(basins, limits.side // COARSE)
    return _join_basins(basins, depth, nuclei, limits)


def _split_long(basins: NDArray[np.int32], side: int) -> NDArray[np.int32]:
    """Divide basins that are longer than a side by themselves, along lines of a grid."""
    rows, columns = np.indices(basins.shape)
    for number, (high, wide) in enumerate(ndimage.find_objects(basins), start=1):
        if max(high.stop - high.start, wide.stop - wide.start) > side:
            own = basins == number
            cell = (rows // side) * (basins.shape[1] // side + 1) + columns // side
            basins = np.where(own, basins.max() + 1 + cell, basins)
    names = np.unique(basins[basins > 0])
    return np.where(basins > 0, np.searchsorted(names, basins) + 1, 0).astype(np.int32)


def _join_basins(
    basins: NDArray[np.int32], depth: NDArray[np.float32], nuclei: NDArray[np.int64], limits: Limits
) -> NDArray[np.int32]:
    """Join neighbouring basins over their widest necks first, within the limits."""
    count = int(basins.max(initial=0))
    members = np.bincount(basins[tuple(nuclei.T)], minlength=count + 1)
    boxes = [Box(0, 0, 0, 0)] + [
        Box(rows.start, columns.start, rows.stop, columns.stop) for rows, columns in ndimage.find_objects(basins)
    ]
    parent = list(range(count + 1))

    def find(one: int) -> int:
        while parent[one] != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        return one

    for first, second in _find_necks(basins, depth):
        one, two = sorted((find(first), find(second)))
        if one == two:
            continue
        union = Box(*np.minimum(boxes[one][:2], boxes[two][:2]), *np.maximum(boxes[one][2:], boxes[two][2:]))
        if members[one] + members[two] <= limits.cells and max(union.shape) * COARSE <= limits.side:
            parent[two], boxes[one] = one, union
            members[one] += members[two]
    roots = np.array([find(one) for one in range(count + 1)])
    names = np.unique(roots)
    return np.searchsorted(names, roots)[basins].astype(np.int32)


def _find_necks(basins: NDArray[np.int32], depth: NDArray[np.float32]) -> list[tuple[int, int]]:
    """Pairs of neighbouring basins, those with the widest neck first, and of equals those with the lower numbers."""
    found: list[NDArray[np.float64]] = []
    height, width = basins.shape
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        here = np.s_[: height - down, max(-right, 0) : width - max(right, 0)]
        there = np.s_[down:, max(right, 0) : width + min(right, 0)]
        one, two = basins[here], basins[there]
        meeting = (one > 0) & (two > 0) & (one != two)
        neck = np.minimum(depth[here], depth[there])[meeting]
        found.append(np.column_stack([np.minimum(one, two)[meeting], np.maximum(one, two)[meeting], neck]))
    pairs = np.concatenate(found)
    if not len(pairs):
        return []
    order = np.lexsort((-pairs[:, 2], pairs[:, 1], pairs[:, 0]))
    pairs = pairs[order]
    first = np.append(True, (pairs[1:, :2] != pairs[:-1, :2]).any(axis=1))
    widest = pairs[first]
    ranked = widest[np.lexsort((widest[:, 1], widest[:, 0], -widest[:, 2]))]
    return [(int(one), int(two)) for one, two in ranked[:, :2]]


@dataclass(frozen=True, eq=False)
class CutClump:
    """A clump that was cut.

    Attributes
    ----------
    extent : Box
        Of the clump in the image.
    parts : (h, w) int32
        Number of the part, from 1, of each of its squares, from the square that the extent begins in.
    first : int
        Number that the first part has among all pieces of the image.
    """

    extent: Box
    parts: NDArray[np.int32]
    first: int

    def __len__(self) -> int:
        """Return the number of parts."""
        return int(self.parts.max(initial=0))

    def number(self, mask: NDArray[np.bool_], box: Box, labels: NDArray[np.int64]) -> None:
        """Write the numbers of the parts into labels (h, w) of a box of the image, where the clump is."""
        rows, columns = np.nonzero(mask)
        top, left = self.extent.top // COARSE, self.extent.left // COARSE
        part = self.parts[(rows + box.top) // COARSE - top, (columns + box.left) // COARSE - left]
        labels[rows, columns] = part + (self.first - 1)

    def extents(self) -> list[Box]:
        """Where the parts lie in the image."""
        top, left = self.extent.top // COARSE, self.extent.left // COARSE
        return [
            Box(
                (rows.start + top) * COARSE,
                (columns.start + left) * COARSE,
                (rows.stop + top) * COARSE,
                (columns.stop + left) * COARSE,
            ).meet(self.extent)
            for rows, columns in ndimage.find_objects(self.parts)
        ]


def make_cut(
    squares: NDArray[np.bool_], extent: Box, places: NDArray[np.int64], limits: Limits, first: int
) -> CutClump:
    """Cut the clump with an extent that touches squares (:func:`coarsen`), and has nuclei at places (N, 2)."""
    corner = np.array([extent.top // COARSE, extent.left // COARSE])
    return CutClump(extent, cut_clump(squares, places // COARSE - corner, limits), first)
