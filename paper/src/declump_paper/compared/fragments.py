"""The outline of a clump cut into fragments, and the fragments shared out among the nuclei."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump.seeds.concavity import notch_places, smooth_evenly

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

LONGEST = 0.35
"""Length of a piece of an outline at most, in sizes of a cell: a joint may also lie where no notch tells of it."""
SMOOTH_JOINT = 2.0
"""What it costs that two pieces of one fragment, between which there is no notch, go to different nuclei."""
BLOCKED = 8.0
"""What it costs to give a nucleus an outline that it does not see, as other things lie between."""
FARTHEST = 4.0
"""Misfits beyond this many standard deviations cost no more."""
SEEN = 2.0
"""Pixels by which an outline may lie behind where a ray from a nucleus leaves the clump, and still is seen."""


@dataclass(frozen=True)
class Piece:
    """A short piece of a closed outline.

    Attributes
    ----------
    points : (m, 2) float64
        Row and column.
    notch : bool
        Whether the outline has a notch at the end of this piece, so that the next one may well be another cell's.
    """

    points: Floats
    notch: bool


def cut_outlines(clump: Mask, size: float) -> list[list[Piece]]:
    """Cut the outlines of a clump, also those of its holes, at their notches and then into short pieces.

    Parameters
    ----------
    clump : (h, w) bool
        With at least one pixel of outside round it.
    size : float
        Usual radius of a cell in pixels.

    Returns
    -------
    list of list of Piece
        One list a closed outline, in order round it.
    """
    from skimage.measure import find_contours

    outlines = []
    for line in find_contours(clump.astype(np.float64), 0.5):
        if len(line) < 8:
            continue
        points, length = smooth_evenly(line[:-1])
        notches, _ = notch_places(points, length, np.full(len(points), size))
        outlines.append(_pieces(points, notches, length / len(points), size))
    return outlines


def _pieces(points: Floats, notches: NDArray[np.intp], spacing: float, size: float) -> list[Piece]:
    count = len(points)
    starts = notches if notches.size else np.array([0])
    ends = [*starts[1:].tolist(), int(starts[0]) + count]
    pieces = []
    for start, end in zip(starts.tolist(), ends, strict=True):
        parts = max(int(np.ceil((end - start) * spacing / (LONGEST * size))), 1)
        stops = np.rint(np.linspace(start, end, parts + 1)).astype(int)
        for part, (first, last) in enumerate(zip(stops[:-1].tolist(), stops[1:].tolist(), strict=True)):
            if last > first:
                ended = bool(notches.size) and part == parts - 1
                pieces.append(Piece(np.take(points, range(first, last), axis=0, mode="wrap"), ended))
    return pieces


def misfits(pieces: list[Piece], seeds: Floats, exits: Floats, expected: Floats, std: Floats) -> Floats:
    """What it costs to give each piece to each nucleus.

    Where the outline of a clump runs, one cell ends and every other cell has ended before. With the radius of cell i in
    a direction normally distributed about what is expected of it, the piece at distance d is the end of cell j, and of
    no other, with a probability in proportion to ``p_j(d) / P_j(d)``: density over distribution.

    Parameters
    ----------
    pieces : list of Piece
        Q of them.
    seeds : (n, 2) float64
        Row and column.
    exits : (n, K) float64
        First-exit distances of the clump.
    expected, doubt : (n, K) float64
        Radii that the cells are expected to have, and their standard deviations, in pixels.

    Returns
    -------
    (Q, n) float64
        Means over the points of a piece.
    """
    from scipy.special import log_ndtr

    rays = exits.shape[1]
    lengths = np.array([len(piece.points) for piece in pieces])
    points = np.concatenate([piece.points for piece in pieces])
    costs = np.empty((len(points), len(seeds)))
    for index, seed in enumerate(seeds):
        offsets = points - seed
        distance = np.hypot(*offsets.T)
        ray = nearest_rays(offsets, rays)
        misfit = np.clip((distance - expected[index, ray]) / std[index, ray], -FARTHEST, FARTHEST)
        cost = misfit**2 / 2 + np.log(std[index, ray] / expected[index].mean()) + log_ndtr(misfit)
        costs[:, index] = np.where(distance <= exits[index, ray] + SEEN, cost, BLOCKED)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return np.asarray(np.add.reduceat(costs, starts, axis=0) / lengths[:, None])


def nearest_rays(offsets: Floats, rays: int) -> Integers:
    """Ray (P,) that points at given offsets (P, 2) from a seed lie next to."""
    angles = np.arctan2(offsets[:, 0], offsets[:, 1])
    return np.asarray(np.rint(angles * rays / (2 * np.pi)), dtype=np.int64) % rays


def share_pieces(pieces: list[Piece], costs: Floats) -> Integers:
    """Nuclei (Q,) to which the pieces of one closed outline go, at the least cost in all: exact, by a path round it.

    Parameters
    ----------
    pieces : list of Piece
        Q of them, in order round the outline.
    costs : (Q, n) float64
        See :func:`misfits`.
    """
    joints = np.array([0.0 if piece.notch else SMOOTH_JOINT for piece in pieces])
    best, best_cost = np.zeros(len(pieces), dtype=np.int64), np.inf
    # The path has to end as it began: one nucleus after the other is taken for the first piece, the likely ones alone.
    lowest = costs.min(axis=1).sum()
    for first in np.argsort(costs[0], kind="stable"):
        if lowest + costs[0, first] - costs[0].min() >= best_cost:
            break
        labels, cost = _path(costs, joints, int(first))
        if cost < best_cost:
            best, best_cost = labels, cost
    return best


def _path(costs: Floats, joints: Floats, first: int) -> tuple[Integers, float]:
    """Labels (Q,) of least cost that begin with a given one, and what they cost, the last joint included."""
    count, labels = costs.shape
    total = np.full(labels, np.inf)
    total[first] = costs[0, first]
    stay = np.zeros((count, labels), dtype=np.bool_)
    source = np.zeros(count, dtype=np.int64)
    for piece in range(1, count):
        source[piece] = total.argmin()
        change = total[source[piece]] + joints[piece - 1]
        stay[piece] = total <= change
        total = np.where(stay[piece], total, change) + costs[piece]
    total = total + np.where(np.arange(labels) == first, 0.0, joints[-1])
    path = np.empty(count, dtype=np.int64)
    path[-1] = total.argmin()
    for piece in range(count - 1, 0, -1):
        path[piece - 1] = path[piece] if stay[piece, path[piece]] else source[piece]
    return path, float(total.min())
