"""An image as clumps that are solved each by itself, in a box of its own, and its cells put together.

What becomes of a clump follows from the pixels of its box, the clumps and the candidates in it and the statistics of
the image, and from nothing else: it is the same, to the byte, whether the box is cut out of an image in memory or read
from a slide.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.evidence.proposals import find_reach
from declump.pipelines.cutting import CutClump, Limits, coarsen, make_cut
from declump.pipelines.decide import DOUBTFUL
from declump.pipelines.others import describe_others
from declump.pipelines.solve import CellSolver, ClumpSolution, solve_clump
from declump.pipelines.statistics import complete
from declump.pipelines.view import OTHER, OWN, SEVERED, ClumpView
from declump.records.boxes import Box
from declump.records.clump import SeedOutsideWarning
from declump.records.evidence import Evidence
from declump.records.others import Others
from declump.records.segmentation import ClumpRecord, Segmentation
from declump.records.spots import Spots
from declump.records.statistics import ImageStatistics
from declump.regions.find import FoundRegions
from declump.shapes.prior import ShapePrior

WITHOUT_RAYS = 64
"""Pixels round a clump that are looked at where no outlines are proposed, and mean radii of a cell beside."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of an image that are solved each by itself: its clumps, and the parts of those that were cut.

    Attributes
    ----------
    count : int
        Number of clumps; they are numbered from 1 as they are met along the rows.
    cuts : mapping of int to CutClump
        By the numbers of their clumps. Parts are numbered after all clumps.
    """

    count: int
    cuts: Mapping[int, CutClump]

    def number(self, labels: NDArray[np.integer[Any]], box: Box) -> NDArray[np.int64]:
        """Give the numbers of pieces in a box of the image, from those of clumps (h, w)."""
        pieces = labels.astype(np.int64)
        for clump, cut in self.cuts.items():
            if not cut.extent.meet(box).size:
                continue
            mask = labels == clump
            if mask.any():
                cut.number(mask, box, pieces)
        return pieces

    def find_clump(self, piece: int) -> int:
        """Number of the clump that a piece belongs to."""
        if piece <= self.count:
            return piece
        return next(clump for clump, cut in self.cuts.items() if cut.first <= piece < cut.first + len(cut))


def divide_clumps(
    clump: NDArray[np.bool_], places: NDArray[np.int64], limits: Limits
) -> tuple[NDArray[np.int32], Pieces, dict[int, Box]]:
    """Number the clumps of an image, and cut those above the limits.

    Parameters
    ----------
    clump : (H, W) bool
    places : (N, 2) int64
        Middles of the probable nuclei.
    limits : Limits

    Returns
    -------
    labels : (H, W) int32
        Numbers of clumps.
    pieces : Pieces
    extents : dict of int to Box
        Of each piece, in the order in which they are solved.
    """
    labels, count = ndimage.label(clump, structure=np.ones((3, 3)))
    extents = {
        number: Box(rows.start, columns.start, rows.stop, columns.stop)
        for number, (rows, columns) in enumerate(ndimage.find_objects(labels), start=1)
    }
    at = labels[tuple(places.T)]
    cuts, first = {}, count + 1
    for number in list(extents):
        nuclei = places[at == number]
        if not limits.hold(extents[number], len(nuclei)):
            extent = extents.pop(number)
            cuts[number] = make_cut(coarsen(labels[extent.slices] == number, extent), extent, nuclei, limits, first)
            extents.update(enumerate(cuts[number].extents(), start=first))
            first += len(cuts[number])
    return np.asarray(labels, np.int32), Pieces(count, cuts), extents


@dataclass(frozen=True, eq=False)
class OwnedCandidates:
    """The candidates of an image, or near a box of it, and the pieces that they belong to.

    Attributes
    ----------
    candidates : Spots
    owners : (S,) int64
        Number of the piece, 0 for none.
    accepted : (S,) bool
        Which are nuclei by themselves.
    areas : (S,) int64
        Pixels of each in its piece.
    given : (S,) bool, optional
        Which were given as nuclei.
    """

    candidates: Spots
    owners: NDArray[np.int64]
    accepted: NDArray[np.bool_]
    areas: NDArray[np.int64]
    given: NDArray[np.bool_] | None = None

    def choose(self, rows: NDArray[np.int64]) -> OwnedCandidates:
        """Give some of them."""
        return OwnedCandidates(self.candidates.choose(rows), self.owners[rows], self.accepted[rows], self.areas[rows])

    @classmethod
    def join(cls, parts: Sequence[OwnedCandidates]) -> OwnedCandidates:
        """Put those of several parts of an image together, one part after the other."""
        return cls(
            Spots.join([part.candidates for part in parts], sort=False),
            np.concatenate([np.empty(0, np.int64), *(part.owners for part in parts)]),
            np.concatenate([np.empty(0, np.bool_), *(part.accepted for part in parts)]),
            np.concatenate([np.empty(0, np.int64), *(part.areas for part in parts)]),
        )

    @classmethod
    def find(
        cls,
        candidates: Spots,
        labels: NDArray[np.int64],
        box: Box,
        min_nucleus: float,
        given: NDArray[np.bool_] | None = None,
    ) -> OwnedCandidates:
        """Tell which piece each candidate belongs to, and whether it is a nucleus by itself.

        Parameters
        ----------
        candidates : Spots
        labels : (h, w) int64
            Numbers of pieces in a box that holds the candidates.
        box : Box
        min_nucleus : float
        given : (S,) bool, optional
            See :class:`FoundRegions`.
        """
        owners, areas = np.zeros((2, len(candidates)), np.int64)
        accepted = np.zeros(len(candidates), np.bool_)
        for index, pixels in enumerate(candidates.masks):
            inner = labels[candidates.box(index).within(box)]
            owners[index] = find_owner(inner, pixels)
            areas[index] = np.count_nonzero(pixels & (inner == owners[index])) if owners[index] else 0
            if given is None:
                probable = candidates.probability[index] >= min_nucleus
                # At least half of its pixels lie within its clump.
                accepted[index] = probable and bool(owners[index]) and 2 * areas[index] >= np.count_nonzero(pixels)
            else:
                accepted[index] = given[index] and owners[index]
        return cls(candidates, owners, accepted, areas, given)


def complete_by_nuclei(
    statistics: ImageStatistics,
    sizes: NDArray[np.int64],
    pieces: Pieces,
    owners: NDArray[np.int64],
    areas: NDArray[np.int64],
    prior: ShapePrior,
) -> ImageStatistics:
    """Complete statistics by the clumps of an image, of so many pixels (C,), and its accepted nuclei.

    Parameters
    ----------
    statistics : ImageStatistics
    sizes : (C,) int64
    pieces : Pieces
    owners, areas : (N,) int64
        Piece and pixels of each nucleus.
    prior : ShapePrior
    """
    found = np.array([pieces.find_clump(piece) for piece in owners.tolist()], np.int64)
    members = np.bincount(found, minlength=len(sizes) + 1)[1:]
    return complete(statistics, sizes.tolist(), members.tolist(), areas, prior)


def find_middles(spots: Spots) -> NDArray[np.int64]:
    """Pixels (S, 2) in the middle of the boxes of spots."""
    return (spots.boxes[:, :2] + spots.boxes[:, 2:]) // 2


def find_owner(labels: NDArray[np.integer[Any]], pixels: NDArray[np.bool_]) -> int:
    """Number of the clump that most pixels of a spot lie in, the first of equals; 0 if none does."""
    own = labels[pixels]
    own = own[own > 0]
    if not own.size:
        return 0
    numbers, counts = np.unique(own, return_counts=True)  # to count all numbers up to a million takes longer
    return int(numbers[counts.argmax()])


def find_view_reach(statistics: ImageStatistics, solver: CellSolver) -> int:
    """Pixels round a clump that are looked at."""
    if solver.rays is not None:
        return find_reach(solver.rays, statistics.diameter)
    assert statistics.scale is not None
    return WITHOUT_RAYS + round(4 * statistics.scale * float(solver.prior.mean.mean()))


def may_have_cells(owned: OwnedCandidates, piece: int, min_nucleus: float) -> bool:
    """Whether any candidate of a piece may be a nucleus."""
    own = owned.owners == piece
    probable = owned.candidates.probability >= DOUBTFUL * min_nucleus
    return bool((own & (probable | owned.accepted | np.isnan(owned.candidates.probability))).any())


def view_piece(
    numbers: Sequence[int],
    box: Box,
    channels: NDArray[np.float32],
    clumps: NDArray[np.integer[Any]],
    pieces: Pieces,
    owned: OwnedCandidates,
    chosen: NDArray[np.int64] | None = None,
) -> ClumpView:
    """Show a piece in its box, or several as one.

    Parameters
    ----------
    numbers : sequence of int
        Of the pieces; numbers that no piece has stand for nothing.
    box : Box
    channels : (3, h, w) float32
    clumps : (h, w) int
        Numbers of clumps in the box.
    pieces : Pieces
    owned : OwnedCandidates
        All that meet the box, at least.
    chosen : (c,) int64, optional
        Rows of those that are shown, where the caller knows.
    """
    near = find_shown(numbers, box, owned) if chosen is None else chosen
    whole = np.isin(clumps, [pieces.find_clump(number) for number in numbers])
    shown = np.where(whole, SEVERED, np.where(clumps > 0, OTHER, 0)).astype(np.uint8)
    shown[np.isin(pieces.number(clumps, box), numbers)] = OWN
    own = np.isin(owned.owners[near], numbers)
    candidates = owned.candidates.choose(near)
    classified = not bool(np.isnan(candidates.probability[own]).any())
    return ClumpView(box, channels, shown, candidates, own, owned.accepted[near], classified)


def find_shown(numbers: Sequence[int], box: Box, owned: OwnedCandidates) -> NDArray[np.int64]:
    """Rows of the candidates that a view of pieces shows: their own, and the accepted ones of others."""
    near = owned.candidates.meet(box)
    return near[np.isin(owned.owners[near], numbers) | owned.accepted[near]]


@dataclass(frozen=True, eq=False)
class ImageDivision:
    """An image divided into pieces that are solved each by itself.

    Attributes
    ----------
    channels : (3, H, W) float32
    labels : (H, W) int32
        Numbers of clumps.
    pieces : Pieces
    extents : dict of int to Box
    owned : OwnedCandidates
    statistics : ImageStatistics
        Complete.
    solver : CellSolver
    """

    channels: NDArray[np.float32]
    labels: NDArray[np.int32]
    pieces: Pieces
    extents: Mapping[int, Box]
    owned: OwnedCandidates
    statistics: ImageStatistics
    solver: CellSolver

    @classmethod
    def of(
        cls,
        channels: NDArray[np.float32],
        found: FoundRegions,
        statistics: ImageStatistics,
        solver: CellSolver,
        limits: Limits,
    ) -> ImageDivision:
        """Divide an image; statistics that are not complete are completed."""
        probable = found.candidates.probability >= solver.min_nucleus if found.given is None else found.given
        labels, pieces, extents = divide_clumps(found.clump, find_middles(found.candidates)[probable], limits)
        whole = Box(0, 0, *found.clump.shape)
        numbers = pieces.number(labels, whole)
        owned = OwnedCandidates.find(found.candidates, numbers, whole, solver.min_nucleus, found.given)
        if not statistics.is_complete:
            sizes, accepted = np.bincount(labels.ravel(), minlength=1)[1:], owned.accepted
            statistics = complete_by_nuclei(
                statistics, sizes, pieces, owned.owners[accepted], owned.areas[accepted], solver.prior
            )
        return cls(channels, labels, pieces, extents, owned, statistics, solver)

    @cached_property
    def reach(self) -> int:
        """Pixels round a clump that are looked at."""
        return find_view_reach(self.statistics, self.solver)

    def view(self, piece: int) -> tuple[ClumpView, NDArray[np.int64]]:
        """Show a piece; also the rows of the candidates of the image that are those of the view."""
        box = self.extents[piece].grow(self.reach, self.labels.shape)
        rows = find_shown((piece,), box, self.owned)
        channels = np.ascontiguousarray(self.channels[:, *box.slices])
        return view_piece((piece,), box, channels, self.labels[box.slices], self.pieces, self.owned, rows), rows

    def solve(self, evidence: Evidence | None = None, progress: Callable[[int, int], None] | None = None) -> Solved:
        """Solve every piece that may have cells."""
        solved = []
        for done, piece in enumerate(self.extents, start=1):
            if may_have_cells(self.owned, piece, self.solver.min_nucleus):
                view, rows = self.view(piece)
                own = None if evidence is None else choose_evidence(evidence, rows)
                solved.append((piece, rows, solve_clump(view, self.statistics, self.solver, evidence=own)))
            if progress:
                progress(done, len(self.extents))
        return Solved(self, solved)


def choose_evidence(evidence: Evidence, rows: NDArray[np.int64]) -> Evidence:
    """Evidence of some candidates, given that of the first ones of an image: of the rest nothing is known."""
    assert evidence.radii is not None and evidence.radii_std is not None
    known = rows < len(evidence.radii)
    at = np.where(known, rows, 0)
    if not len(evidence.radii):
        return Evidence(
            np.ones((len(rows), evidence.radii.shape[1])), np.full((len(rows), evidence.radii.shape[1]), np.inf)
        )
    return Evidence(evidence.radii[at], np.where(known[:, None], evidence.radii_std[at], np.inf))


@dataclass(frozen=True, eq=False)
class Solved:
    """The pieces of an image, solved.

    Attributes
    ----------
    division : ImageDivision
    parts : sequence of (int, (c,) int64, ClumpSolution)
        Number of each piece, rows of the candidates of the image in its view, and its cells.
    """

    division: ImageDivision
    parts: Sequence[tuple[int, NDArray[np.int64], ClumpSolution]]

    def assemble(self) -> Segmentation:
        """Put the cells together: in the order of their nuclei, those without one last."""
        division, owned = self.division, self.division.owned
        shape = (division.labels.shape[0], division.labels.shape[1])
        keys, seeds, radii, clump, probability = [], [], [], [], []
        for piece, rows, solution in self.parts:
            first = [int(rows[cell[0]]) for cell in solution.cells]
            keys += first + [len(owned.owners)] * (len(solution) - len(first))
            seeds.append(solution.seeds)
            radii.append(solution.radii)
            clump += [piece - 1] * len(solution)
            probability.append(solution.probability)
        rays = division.solver.prior.rays
        outside = [] if owned.given is None else np.flatnonzero((owned.owners == 0) & owned.given).tolist()
        for row in outside:
            keys.append(row)
            seeds.append(np.floor(owned.candidates.find_seed(row) + 0.5)[None])
            radii.append(np.zeros((1, rays)))
            clump.append(-1)
            probability.append(owned.candidates.probability[[row]])
        order = np.argsort(np.array(keys, np.int64), kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        nuclei, second, start = np.zeros(shape, np.int32), np.zeros(shape, np.int32), 0
        for _, _, solution in self.parts:
            numbers = np.append(0, place[start : start + len(solution)] + 1).astype(np.int32)
            start += len(solution)
            for target, labels in ((nuclei, solution.nuclei), (second, solution.second_nuclei)):
                if labels is not None:
                    target[solution.view.box.slices][labels > 0] = numbers[labels[labels > 0]]
        for row, number in zip(outside, place[start:].tolist(), strict=True):
            target = nuclei[owned.candidates.box(row).slices]
            target[owned.candidates.masks[row]] = number + 1
        if outside:
            said = ", ".join(map(str, outside[:10])) + (" ..." if len(outside) > 10 else "")
            warnings.warn(
                f"{len(outside)} nuclei lie outside the clumps and got an empty outline: {said}",
                SeedOutsideWarning,
                stacklevel=3,
            )
        return Segmentation(
            shape,
            np.vstack([np.empty((0, 2)), *seeds])[order],
            np.vstack([np.empty((0, rays)), *radii])[order],
            np.array(clump, np.int64)[order],
            self._records(),
            nuclei,
            second if second.any() else None,
            None if self._unclassified else np.concatenate([np.empty(0), *probability])[order],
            None if self._unclassified else self._others(),
            division.statistics,
        )

    @property
    def _unclassified(self) -> bool:
        return bool(np.isnan(self.division.owned.candidates.probability).any())

    def _records(self) -> tuple[ClumpRecord, ...]:
        """How each piece was explained; a clump that was cut stands for nothing, beside its parts."""
        division = self.division
        box = Box(0, 0, division.labels.shape[0], division.labels.shape[1])
        total = max([division.pieces.count + 1, *(cut.first + len(cut) for cut in division.pieces.cuts.values())])
        sizes = np.bincount(division.pieces.number(division.labels, box).ravel(), minlength=total)[1:].tolist()
        records = [ClumpRecord(size, (size,), "no seed") for size in sizes]
        for number in division.pieces.cuts:
            records[number - 1] = ClumpRecord(0, (0,), "cut")
        for piece, _, solution in self.parts:
            if len(solution):
                records[piece - 1] = solution.record
        return tuple(records)

    def _others(self) -> Others:
        """All candidates that became no nuclei, in the order of their rows."""
        taken = {int(rows[member]) for _, rows, solution in self.parts for cell in solution.cells for member in cell}
        left = [row for row in range(len(self.division.owned.owners)) if row not in taken]
        return describe_others(self.division.owned.candidates.choose(np.array(left, np.int64))).sort()
