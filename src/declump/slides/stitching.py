"""Tiles put together: connected pieces over all of a slide, from the pieces of each tile and what meets at their edges.

Pieces of tiles are nodes of a graph, and pixels that are neighbours across an edge or a corner of tiles its edges.
Only the strips along the edges of one row of tiles are in memory at a time, so that it does not grow with the slide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from declump import _kernels
from declump.slides.grid import Grid

Numbers = NDArray[np.int64]
SIDES = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
"""Neighbours share a side."""
CORNERS = np.ones((3, 3), dtype=int)
"""Neighbours share a side or a corner."""


@dataclass(frozen=True, eq=False)
class TilePieces:
    """Connected pieces of the mask of a tile.

    Attributes
    ----------
    areas : (n,) int64
        Pixels of each.
    firsts : (n, 2) int64
        The pixel of each, in the slide, that is met first along the rows.
    boxes : (n, 4) int64
        Where each lies in the slide.
    edges : (4, side) int32
        Numbers, from 1, along the top, left, bottom and right edge; 0 for none, and beyond the tile.
    extent : (2,) int64
        Height and width of the tile.
    """

    areas: Numbers
    firsts: Numbers
    boxes: Numbers
    edges: NDArray[np.int32]
    extent: Numbers


@dataclass(frozen=True, eq=False)
class Runs:
    """Connected pieces of a mask as runs along its rows.

    Attributes
    ----------
    shape : (H, W)
        Of the mask.
    places : (R, 3) int32
        Row, first column and the one behind the last of each run, along the rows.
    pieces : (R,) int32
        Number, from 0, of the piece that each belongs to; pieces are numbered as they are met along the rows.
    count : int
        Number of pieces.
    """

    shape: tuple[int, int]
    places: NDArray[np.int32]
    pieces: NDArray[np.int32]
    count: int

    def paint(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give the mask with the value (n,) of its piece in each pixel, and 0 elsewhere."""
        image = np.zeros(self.shape, values.dtype)
        _kernels.paint_runs(image, self.places, self.pieces, values)
        return image


def find_runs(mask: NDArray[np.bool_], structure: NDArray[np.int_]) -> Runs:
    """Find the connected pieces of a mask (H, W), neighbours being as ``SIDES`` or ``CORNERS`` says."""
    height, width = mask.shape
    return Runs((height, width), *_kernels.find_runs(mask, bool(structure[0, 0])))


def find_pieces(mask: NDArray[np.bool_], corner: tuple[int, int], structure: NDArray[np.int_]) -> TilePieces:
    """Tell of the connected pieces of the mask of a tile whose first pixel lies at a corner of the slide."""
    runs = find_runs(mask, structure)
    areas, firsts, boxes, edges = _kernels.measure_runs(runs.places, runs.pieces, runs.count, *runs.shape)
    extent = np.array(runs.shape, np.int64)
    return TilePieces(areas, firsts + np.array(corner), boxes + np.array([*corner, *corner]), edges, extent)


@dataclass(frozen=True, eq=False)
class Stitched:
    """Pieces of a whole slide.

    Attributes
    ----------
    starts : (T + 1,) int64
        Where the pieces of each tile begin in ``member``.
    member : (P,) int64
        Number, from 0, of the piece of the slide that each piece of a tile belongs to, in the order in which pieces of
        the slide are met along its rows.
    areas : (N,) int64
    boxes : (N, 4) int64
    """

    starts: Numbers
    member: Numbers
    areas: Numbers
    boxes: Numbers

    def of_tile(self, tile: int) -> Numbers:
        """Numbers of the pieces of the slide that those of a tile belong to."""
        return self.member[self.starts[tile] : self.starts[tile + 1]]


def stitch(grid: Grid, load: Callable[[int], TilePieces], structure: NDArray[np.int_]) -> Stitched:
    """Join the pieces of all tiles of a slide.

    Parameters
    ----------
    grid : Grid
    load : callable
        Gives the pieces of a tile; called once for each, along the rows.
    structure : (3, 3)
        ``SIDES`` or ``CORNERS``, as the pieces were found.
    """
    corners = bool(structure[0, 0])
    counts: list[int] = []
    parts: dict[str, list[Numbers]] = {"areas": [], "firsts": [], "boxes": []}
    pairs: list[Numbers] = []
    columns = grid.counts[1]
    above: list[Numbers] = []
    total = 0
    for row in range(grid.counts[0]):
        below: list[Numbers] = []
        top = np.zeros(grid.shape[1], np.int64)
        left = np.empty(0, np.int64)
        for column in range(columns):
            pieces = load(row * columns + column)
            counts.append(len(pieces.areas))
            for name, values in parts.items():
                values.append(getattr(pieces, name))
            height, width = pieces.extent.tolist()
            edges = np.where(pieces.edges > 0, pieces.edges.astype(np.int64) + total, 0)
            total += len(pieces.areas)
            if column:
                pairs.append(_meet(left, edges[1, :height], corners))
            left = edges[3, :height]
            start = column * grid.tile
            top[start : start + width] = edges[0, :width]
            below.append(edges[2, :width])
        if above:
            pairs.append(_meet(np.concatenate(above), top, corners))
        above = below
    return _join(counts, parts, pairs, total)


def _meet(one: Numbers, two: Numbers, corners: bool) -> Numbers:
    """Pairs (M, 2) of pieces, numbered from 1, that meet along two strips of pixels side by side."""
    length = len(one)
    shifted = [(one, two)]
    if corners:
        shifted += [(one[: length - 1], two[1:]), (one[1:], two[: length - 1])]
    found = [np.column_stack([a, b])[(a > 0) & (b > 0)] for a, b in shifted]
    return np.unique(np.concatenate(found), axis=0)


def _join(counts: list[int], parts: dict[str, list[Numbers]], pairs: list[Numbers], total: int) -> Stitched:
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    areas, firsts, boxes = (np.concatenate(parts[name]) for name in ("areas", "firsts", "boxes"))
    if not total:
        return Stitched(starts, np.empty(0, np.int64), areas, boxes)
    edges = np.concatenate([*pairs, np.empty((0, 2), np.int64)]) - 1
    graph = sparse.coo_matrix((np.ones(len(edges), np.int8), (edges[:, 0], edges[:, 1])), shape=(total, total))
    count, member = csgraph.connected_components(graph, directed=False)
    # Renumber in the order in which pieces are met along the rows of the slide.
    order = np.lexsort((firsts[:, 1], firsts[:, 0]))
    _, first_of = np.unique(member[order], return_index=True)
    rank = np.empty(count, np.int64)
    rank[np.argsort(first_of, kind="stable")] = np.arange(count)
    member = rank[member]
    whole = np.zeros(count, np.int64)
    np.add.at(whole, member, areas)
    extents = np.empty((count, 4), np.int64)
    extents[:, :2], extents[:, 2:] = np.iinfo(np.int64).max, 0
    np.minimum.at(extents[:, :2], member, boxes[:, :2])
    np.maximum.at(extents[:, 2:], member, boxes[:, 2:])
    return Stitched(starts, member, whole, extents)
