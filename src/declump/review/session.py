"""One image under review, without any user interface: edits in, outlines of the changed clumps out."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.batch.options import Options
from declump.evidence.proposals import Key
from declump.images.accepting import to_pixels
from declump.pipelines.by_clump import Pieces, divide_clumps, find_view_reach
from declump.pipelines.cells import divide_image
from declump.pipelines.cutting import Limits
from declump.pipelines.others import describe_others
from declump.pipelines.solve import CellSolver, ClumpSolution, Decisions, OnStep, solve_clump
from declump.pipelines.view import OTHER, OWN, SEVERED, ClumpView
from declump.records.boxes import Box
from declump.records.crops import crop_labels
from declump.records.segmentation import ClumpRecord, Segmentation
from declump.records.spots import Spots
from declump.regions.channels import ImageChannels
from declump.regions.spots import guess_leukocytes
from declump.review.changes import Change
from declump.review.edits import Edit
from declump.review.found import Found
from declump.review.history import EditHistory
from declump.review.state import Corrected, ReviewState
from declump.shapes.contours import first_exits

Division = tuple[NDArray[np.int64], Pieces, dict[int, Box], NDArray[np.int32]]
"""Numbers of pieces (H, W), the pieces, their extents, and numbers of clumps (H, W)."""
KEPT_BOXES = 8
"""Clumps of which what the ray network said is kept."""


class Session(EditHistory[Change]):
    """Clumps of an image, the edits made so far, and the cells that follow from them.

    Edits change the state at once; :meth:`evolve` finds the cells that follow. Clumps that are as they were found keep
    their cells to the byte, the others are solved by :func:`declump.pipelines.solve.solve_clump` with all nuclei
    decided. Nothing depends on the order of calls.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
        The image, or the box of a clump of a slide.
    found : Found, optional
        What was found in it; by default it is found now.
    options : Options, optional
        What the cells follow from.
    channels : (3, H, W) float32, optional
        Of the image, if they are known.

    Attributes
    ----------
    revision : int
        Number of edits, undone and redone ones included: tells states apart.
    history, future : list of Change
        What can be undone, the last one first, and redone.
    """

    def __init__(
        self,
        image: NDArray[Any],
        found: Found | None = None,
        options: Options | None = None,
        channels: NDArray[np.float32] | None = None,
    ) -> None:
        super().__init__()
        self.image, self.options = image, options or Options()
        self.found = find_image(image, self.options) if found is None else found
        exposure = self.found.statistics.exposure
        self.channels = ImageChannels(to_pixels(image), exposure).channels if channels is None else channels
        self.solver = cell_solver(self.options)
        self.state = ReviewState(self.found, self.channels[0])
        self._answers: dict[Hashable, dict[Key, NDArray[np.float32]]] = {}
        self._divided: dict[int, Division] = {}
        self._corrected: tuple[int, Corrected] | None = None

    @property
    def corrected(self) -> Corrected:
        """Clumps, nuclei and other spots as they are now; later edits do not change them."""
        if self._corrected is None or self._corrected[0] != self.revision:
            self._corrected = (self.revision, self.state.snapshot())
        return self._corrected[1]

    @property
    def numbers(self) -> list[int]:
        """Numbers of the cells in the order of the rows; they stay with the cells, whatever is edited."""
        return self.state.order()

    @property
    def done(self) -> bool:
        """Whether a person has said that the image is reviewed."""
        return self.state.done

    def _apply(self, edit: Edit) -> Change:
        return self.state.make(edit)

    def _put(self, change: Change, *, back: bool) -> None:
        self.state.put(change, back=back)

    def evolve(
        self,
        on_step: OnStep | None = None,
        corrected: Corrected | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Segmentation:
        """Find all cells, one row a cell of ``numbers``.

        Parameters
        ----------
        on_step : callable, optional
            Called with rows and radii at every step of a clump that is solved; what it raises ends that.
        corrected : Corrected, optional
            Of an earlier state; by default the present one.
        progress : callable, optional
            Called with the number of clumps done and in all.
        """
        now = self.corrected if corrected is None else corrected
        return _Evolution(self, now).run(on_step, progress)

    def preview(self, change: Change, result: Segmentation, numbers: list[int]) -> dict[int, NDArray[np.float64]]:
        """Where the cells of an edit start from, before anything is evolved.

        Parameters
        ----------
        change : Change
            The last edit.
        result : Segmentation
            What was found before it.
        numbers : list of int
            Of the cells in it.

        Returns
        -------
        dict of int to (K,) float64
            Radii of the cells that the edit names and that are there now: as they were, through the point that they
            were pulled to; of a new one the usual shape, as far as the clump reaches.
        """
        rows = {number: row for row, number in enumerate(numbers)}
        radii: dict[int, NDArray[np.float64]] = {}
        for number in change.cells:
            if number not in self.state.cells:
                continue
            outline = result.radii[rows[number]] if number in rows else np.zeros(0)
            radii[number] = outline.copy() if outline.any() else self._usual_outline(number)
            drawn = self.state.cells[number].drawn
            if drawn is not None and drawn.size == radii[number].size:
                radii[number] = np.where(np.isfinite(drawn), drawn, radii[number])
        return radii

    def _usual_outline(self, number: int) -> NDArray[np.float64]:
        prior, scale = self.solver.prior, self.found.statistics.scale
        assert scale is not None
        exits = first_exits(self.state.clump, np.rint(self.state.seed_of(number)), prior.rays)
        return np.asarray(np.minimum(scale * prior.mean, exits))

    def divide(self, clump: NDArray[np.bool_], generation: int) -> Division:
        """Divide the clumps of a generation, once for those that were found and for the last one."""
        if generation not in self._divided:
            self._divided = {key: value for key, value in self._divided.items() if key == 0}
            labels, pieces, extents = divide_clumps(clump, self.found.places, Limits())
            whole = Box(0, 0, clump.shape[0], clump.shape[1])
            self._divided[generation] = pieces.number(labels, whole), pieces, extents, labels
        return self._divided[generation]

    def remember(self, key: Hashable) -> dict[Key, NDArray[np.float32]]:
        """Answers of the ray network for a box and a clump mask, kept for the last few."""
        if key not in self._answers:
            while len(self._answers) >= KEPT_BOXES:
                self._answers.pop(next(iter(self._answers)))
            self._answers[key] = {}
        return self._answers[key]


@dataclass(frozen=True, eq=False)
class _Evolution:
    """The cells that follow from one state of a session."""

    session: Session
    now: Corrected

    @cached_property
    def division(self) -> Division:
        """The clumps as they are now."""
        return self.session.divide(self.now.clump, self.now.clump_generation)

    @cached_property
    def before(self) -> NDArray[np.int64]:
        """Numbers of the pieces (H, W) that were found."""
        return self.session.divide(self.session.found.clump, 0)[0]

    def run(self, on_step: OnStep | None, progress: Callable[[int, int], None] | None) -> Segmentation:
        found, now, session = self.session.found, self.now, self.session
        labels, pieces, extents, clumps = self.division
        seeds = np.floor(now.seeds + 0.5).astype(np.int64)
        owner = labels[tuple(seeds.T)]
        sizes = np.bincount(labels.ravel(), minlength=max(extents, default=0) + 1)[1:].tolist()
        records = [ClumpRecord(size, (size,), "no seed") for size in sizes]
        for number in pieces.cuts:
            records[number - 1] = ClumpRecord(0, (0,), "cut")
        radii, second = np.zeros((len(seeds), session.solver.prior.rays)), np.zeros(now.clump.shape, np.int32)
        rows_before = {number: row for row, number in enumerate(found_numbers(found))}
        for done, (piece, extent) in enumerate(extents.items(), start=1):
            rows = np.flatnonzero(owner == piece)
            if len(rows):
                kept = self._find_unchanged(piece, extent, rows)
                if kept is not None:
                    old = [rows_before[now.numbers[row]] for row in rows.tolist()]
                    radii[rows], records[piece - 1] = found.result.radii[old], found.result.clumps[kept - 1]
                    _copy_second(found.result.second_nuclei, second, old, rows)
                else:
                    solution = self._solve(piece, extent, rows, clumps, on_step)
                    radii[rows], records[piece - 1] = solution.radii, solution.record
                    if solution.second_nuclei is not None:
                        own, there = second[solution.view.box.slices], solution.second_nuclei > 0
                        own[there] = rows[solution.second_nuclei[there] - 1] + 1
            if progress:
                progress(done, len(extents))
        classified = found.is_classified
        return Segmentation(
            (now.clump.shape[0], now.clump.shape[1]),
            seeds.astype(np.float64),
            radii,
            owner - 1,
            tuple(records),
            now.nuclei,
            second if second.any() else None,
            now.probability if classified else None,
            self.describe_others() if classified else None,
            found.statistics,
        )

    def describe_others(self) -> Any:
        """What is no nucleus now; kinds that a person told go before those of the network."""
        found, now = self.session.found, self.now
        crops = crop_labels(now.spots, len(now.spot_numbers))
        guessed = guess_leukocytes(now.spots, (now.spots > 0) | (now.nuclei > 0), self.session.channels[0])
        known = {number + 1: float(found.candidates.leukocyte[row]) for number, row in enumerate(found.left.tolist())}
        boxes = [(crop.top, crop.left, *np.add((crop.top, crop.left), crop.mask.shape)) for crop in crops]
        spots = Spots(
            np.array(boxes, np.int64).reshape(-1, 4),
            [crop.mask for crop in crops],
            now.spot_probability,
            np.array([known.get(number, value) for number, value in zip(now.spot_numbers, guessed, strict=True)]),
        )
        return describe_others(spots, now.kinds).sort()

    def _find_unchanged(self, piece: int, extent: Box, rows: NDArray[np.int64]) -> int | None:
        """Number of the piece that was found and is as it was; None if it was corrected."""
        found, now = self.session.found, self.now
        box = extent.slices
        mask = self.division[0][box] == piece
        old = np.unique(self.before[box][mask])
        if len(old) != 1 or old[0] == 0 or (now.drawn is not None and np.isfinite(now.drawn[rows]).any()):
            return None
        number = int(old[0])
        if np.count_nonzero(self.before == number) != np.count_nonzero(mask):
            return None
        nuclei = found.result.nuclei
        assert nuclei is not None
        numbers = np.append(0, now.numbers)[now.nuclei[box]]
        if not np.array_equal(numbers[mask], np.append(0, found_numbers(found))[nuclei[box]][mask]):
            return None
        was = {
            n for n, clump in zip(found_numbers(found), found.result.clump.tolist(), strict=True) if clump == number - 1
        }
        if was != {now.numbers[row] for row in rows.tolist()}:
            return None
        bare = rows[rows >= now.count]
        same = np.array_equal(now.seeds[bare], found.result.seeds[[now.numbers[row] - 1 for row in bare.tolist()]])
        return number if same else None

    def _solve(
        self, piece: int, extent: Box, rows: NDArray[np.int64], clumps: NDArray[np.int32], on_step: OnStep | None
    ) -> ClumpSolution:
        session, now = self.session, self.now
        view = self._view(piece, extent, rows, clumps)
        with_nucleus = int(np.count_nonzero(rows < now.count))
        cells = [(index,) for index in range(with_nucleus)]
        drawn = None if now.drawn is None else now.drawn[rows]
        decisions = Decisions(cells, now.seeds[rows[with_nucleus:]], drawn)
        shown: OnStep | None = None
        if on_step is not None:

            def shown(own: NDArray[np.int64], radii: NDArray[np.float64]) -> None:
                on_step(rows[own], radii)

        answers = session.remember((view.box, now.clump_generation))
        return solve_clump(
            view, session.found.statistics, session.solver, decisions=decisions, answers=answers, on_step=shown
        )

    def _view(self, piece: int, extent: Box, rows: NDArray[np.int64], clumps: NDArray[np.int32]) -> ClumpView:
        """Show a corrected piece: its nuclei as they are now, and others as they were found."""
        session, now, found = self.session, self.now, self.session.found
        shape = (now.clump.shape[0], now.clump.shape[1])
        box = extent.grow(find_view_reach(found.statistics, session.solver), shape)
        labels = found.show_around(shape)[box.slices]
        clump = clumps[box.slices]
        own = self.division[0][box.slices] == piece
        same = clump == clump[own][0]
        labels[(clump > 0) & ~same] = OTHER
        labels[same] = SEVERED
        labels[own] = OWN
        with_nucleus = rows[rows < now.count]
        crops = [now.crops[row] for row in with_nucleus.tolist()]
        corners = [(crop.top, crop.left, *np.add((crop.top, crop.left), crop.mask.shape)) for crop in crops]
        mine = Spots(
            np.array(corners, np.int64).reshape(-1, 4),
            [crop.mask for crop in crops],
            now.probability[with_nucleus],
            np.zeros(len(crops)),
        )
        near = found.others_seen.meet(box)
        candidates = Spots.join([mine, found.others_seen.choose(near)], sort=False)
        is_own = np.arange(len(candidates)) < len(mine)
        names: list[Hashable] = [("cell", now.numbers[row], now.generations[row]) for row in with_nucleus.tolist()]
        names += [("found", index) for index in near.tolist()]
        channels = np.ascontiguousarray(session.channels[:, *box.slices])
        return ClumpView(box, channels, labels, candidates, is_own, ~is_own, found.is_classified, names)


def _copy_second(
    before: NDArray[np.int32] | None, now: NDArray[np.int32], old: list[int], rows: NDArray[np.int64]
) -> None:
    if before is None:
        return
    for was, row in zip(old, rows.tolist(), strict=True):
        now[before == was + 1] = row + 1


def found_numbers(found: Found) -> list[int]:
    """Numbers that cells have from the beginning, in the order of the rows that were found."""
    return list(range(1, len(found.result) + 1))


def cell_solver(options: Options) -> CellSolver:
    """How cells are found, as options say."""
    return CellSolver.from_names(options.evidence, options.rays, options.prior, options.setting, options.min_nucleus)


def find_image(image: NDArray[Any], options: Options, pixel_size: float | None = None) -> Found:
    """Find all that a session of an image starts from."""
    regions = options.region_options(pixel_size)
    division = divide_image(to_pixels(image), regions, regions, cell_solver(options))
    return Found.of_image(division.solve())
