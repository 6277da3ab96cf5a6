"""The regions of an image while a person corrects them: edits in, patches out, so that every edit can be undone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, singledispatchmethod

import numpy as np
from numpy.typing import NDArray

from declump.records.crops import Crop, crop_labels
from declump.records.regions import seeds_from_labels
from declump.review.changes import Box, CellNotes, Change, Draft, Patch, Spot, put_back
from declump.review.edits import (
    AddSeed,
    DeleteCell,
    Edit,
    FinishImage,
    JoinNuclei,
    JudgeCell,
    LabelCell,
    MarkSpot,
    MoveSeed,
    PaintClump,
    PartNucleus,
    PullOutline,
)
from declump.review.found import Found
from declump.review.growing import NEAR, could_be_nucleus, grow_nucleus
from declump.review.strokes import paint_stroke

MIN_DIAMETER = 8.0
"""Of a nucleus in pixels, where nothing is known of it."""
RAYS = 360
"""Directions in which outlines can be drawn."""
DRAWN_WIDTH = 6
"""Rays on each side of a pulled one that go with it."""


@dataclass(frozen=True, eq=False)
class Corrected:
    """Clumps, nuclei and other spots in one state: cells in rows, those with a nucleus first.

    Attributes
    ----------
    clump : (H, W) bool
    nuclei, spots : (H, W) int32
        Row of the cell, and place among the spots, from 1.
    numbers : list of int
        Of the cells.
    count : int
        Cells with a nucleus.
    seeds : (N, 2) float64
    probability : (N,) float64
        Of the nuclei; NaN without one.
    drawn : (N, K) float64, optional
        Radii that a person drew; NaN elsewhere.
    generations : list of int
        How often the nucleus of each cell has changed; tells nuclei of one number apart.
    clump_generation : int
        The same of the clumps.
    spot_numbers : list of int
    spot_probability : (M,) float64
    kinds : tuple of str
        What each spot is by the word of a person; empty where nobody said anything.
    """

    clump: NDArray[np.bool_]
    nuclei: NDArray[np.int32]
    spots: NDArray[np.int32]
    numbers: list[int]
    count: int
    seeds: NDArray[np.float64]
    probability: NDArray[np.float64]
    drawn: NDArray[np.float64] | None
    generations: list[int]
    clump_generation: int
    spot_numbers: list[int]
    spot_probability: NDArray[np.float64]
    kinds: tuple[str, ...]

    @cached_property
    def crops(self) -> list[Crop]:
        """Pixels of each nucleus."""
        return crop_labels(self.nuclei, self.count)


class ReviewState:
    """Clump, nuclei, spots and cells of an image, as corrected so far.

    Numbers of cells and spots stay with them, whatever else is added or deleted; none is given twice.

    Parameters
    ----------
    found : Found
    luminance : (H, W)
        Of the image, relative to the background: what nuclei are found in where a person points.
    """

    def __init__(self, found: Found, luminance: NDArray[np.float32]) -> None:
        self.found, self.luminance, result = found, luminance, found.result
        assert result.nuclei is not None
        self.clump, self.nuclei = found.clump.copy(), result.nuclei.copy()
        with_nucleus = len(found.cells)
        said = np.ones(len(result)) if result.nucleus_probability is None else result.nucleus_probability
        self.cells = {
            row + 1: CellNotes(probability=float(said[row]))
            if row < with_nucleus
            else CellNotes(bare=(float(result.seeds[row, 0]), float(result.seeds[row, 1])))
            for row in range(len(result))
        }
        left = found.candidates.choose(found.left)
        self.spots_image = np.zeros_like(self.nuclei)
        self.spots: dict[int, Spot] = {}
        for number, (mask, probability) in enumerate(zip(left.masks, left.probability.tolist(), strict=True), start=1):
            self.spots_image[left.box(number - 1).slices][mask] = number
            self.spots[number] = Spot(probability if found.is_classified else 0.0)
        self.done = False
        self._next_cell, self._next_spot = len(self.cells) + 1, len(self.spots) + 1
        self._generations: dict[int, int] = {}
        self._clump_generation = 0
        area = found.statistics.nucleus_area
        self.diameter = max(2 * float(np.sqrt((area or 0) / np.pi)), MIN_DIAMETER)

    def order(self) -> list[int]:
        """Numbers of the cells in the order of the rows: those with a nucleus first."""
        bare = [number for number, cell in self.cells.items() if cell.bare is not None]
        return sorted(set(self.cells) - set(bare)) + sorted(bare)

    def snapshot(self) -> Corrected:
        """Give the state as it is now; later edits do not change that."""
        order = self.order()
        cells = [self.cells[number] for number in order]
        count = sum(cell.bare is None for cell in cells)
        nuclei = _renumber(self.nuclei, order[:count], self._next_cell)
        spots = sorted(self.spots)
        drawn = None
        if any(cell.drawn is not None for cell in cells):
            nothing = np.full(RAYS, np.nan)
            drawn = np.array([nothing if cell.drawn is None else cell.drawn for cell in cells])
        bare = np.array([cell.bare for cell in cells[count:]], dtype=np.float64).reshape(-1, 2)
        return Corrected(
            self.clump.copy(),
            nuclei,
            _renumber(self.spots_image, spots, self._next_spot),
            order,
            count,
            np.vstack([seeds_from_labels(nuclei), bare]),
            np.array([cell.probability if cell.bare is None else np.nan for cell in cells], np.float64),
            drawn,
            [self._generations.get(number, 0) for number in order],
            self._clump_generation,
            spots,
            np.array([self.spots[spot].probability for spot in spots], dtype=np.float64),
            tuple(self.spots[spot].kind for spot in spots),
        )

    def seed_of(self, number: int) -> tuple[float, float]:
        """Row and column of the seed of a cell."""
        cell = self._find(number)
        if cell.bare is not None:
            return cell.bare
        box = _box_of(self.nuclei, number)
        ((row, column),) = seeds_from_labels(self.nuclei[box] == number)
        return float(row) + box[0].start, float(column) + box[1].start

    def make(self, edit: Edit) -> Change:
        """Make an edit.

        Raises
        ------
        ValueError
            If it cannot be made, with the reason; nothing has changed then.
        """
        draft = Draft()
        counters = self._next_cell, self._next_spot
        try:
            self._draft(edit, draft)
        except ValueError:
            self._next_cell, self._next_spot = counters
            raise
        change = Change(
            edit,
            tuple(draft.patches),
            {number: (self.cells.get(number), cell) for number, cell in draft.cells.items()},
            {number: (self.spots.get(number), spot) for number, spot in draft.spots.items()},
            (self.done, self.done if draft.done is None else draft.done),
        )
        self.put(change)
        return change

    def put(self, change: Change, *, back: bool = False) -> None:
        """Make a change once more, or take it back."""
        for patch in change.patches[::-1] if back else change.patches:
            getattr(self, patch.image)[patch.box] = patch.before if back else patch.after
            if patch.image == "clump":
                self._clump_generation += 1
            elif patch.image == "nuclei":
                for number in np.union1d(patch.before, patch.after).tolist():
                    self._generations[number] = self._generations.get(number, 0) + 1
        put_back(self.cells, change.cells, 0 if back else 1)
        put_back(self.spots, change.spots, 0 if back else 1)
        self.done = change.done[0 if back else 1]

    @singledispatchmethod
    def _draft(self, edit: Edit, draft: Draft) -> None:
        raise ValueError(f"there is no edit {edit!r}")

    @_draft.register
    def _(self, edit: AddSeed, draft: Draft) -> None:
        number = self._next_cell
        self._next_cell += 1
        draft.cells[number] = self._place(number, CellNotes(), (edit.row, edit.column), draft, self.nuclei)

    @_draft.register
    def _(self, edit: MoveSeed, draft: Draft) -> None:
        cell = self._find(edit.cell)
        without = self.nuclei
        if cell.bare is None:
            box = _box_of(self.nuclei, edit.cell)
            self._patch(draft, "nuclei", box, self.nuclei[box] == edit.cell, 0)
            without = np.where(self.nuclei == edit.cell, 0, self.nuclei)
        moved = replace(cell, bare=None, drawn=None)
        draft.cells[edit.cell] = self._place(edit.cell, moved, (edit.row, edit.column), draft, without)

    @_draft.register
    def _(self, edit: DeleteCell, draft: Draft) -> None:
        cell = self._find(edit.cell)
        draft.cells[edit.cell] = None
        if cell.bare is None:
            box = _box_of(self.nuclei, edit.cell)
            mask = self.nuclei[box] == edit.cell
            self._patch(draft, "nuclei", box, mask, 0)
            if self.found.is_classified:
                self._add_spot(draft, box, mask, "")

    @_draft.register
    def _(self, edit: MarkSpot, draft: Draft) -> None:
        cell = self._find(edit.cell)
        if cell.bare is not None:
            raise ValueError(f"cell {edit.cell} has no nucleus to be marked; delete it instead")
        draft.cells[edit.cell] = None
        box = _box_of(self.nuclei, edit.cell)
        mask = self.nuclei[box] == edit.cell
        self._patch(draft, "nuclei", box, mask, 0)
        self._add_spot(draft, box, mask, edit.kind)

    @_draft.register
    def _(self, edit: JoinNuclei, draft: Draft) -> None:
        cell, other = self._find(edit.cell), self._find(edit.other)
        if edit.cell == edit.other:
            raise ValueError("two cells are joined; given was one twice")
        if cell.bare is not None or other.bare is not None:
            raise ValueError("only nuclei are joined; delete a cell that has none instead")
        box = _box_of(self.nuclei, edit.other)
        self._patch(draft, "nuclei", box, self.nuclei[box] == edit.other, edit.cell)
        draft.cells[edit.other] = None
        draft.cells[edit.cell] = replace(cell, drawn=None)

    @_draft.register
    def _(self, edit: PartNucleus, draft: Draft) -> None:
        cell = self._find(edit.cell)
        if cell.bare is not None:
            raise ValueError(f"cell {edit.cell} has no nucleus to be parted")
        box = _box_of(self.nuclei, edit.cell)
        mask = self.nuclei[box] == edit.cell
        rows, columns = np.mgrid[box]
        side = (edit.end_row - edit.row) * (columns - edit.column) - (edit.end_column - edit.column) * (rows - edit.row)
        cut = mask & (side > 0)
        if not cut.any() or not (mask & ~cut).any():
            raise ValueError(f"this line does not part the nucleus of cell {edit.cell}; draw it across the nucleus")
        number = self._next_cell
        self._next_cell += 1
        self._patch(draft, "nuclei", box, cut, number)
        draft.cells[number] = CellNotes(probability=cell.probability)
        draft.cells[edit.cell] = replace(cell, drawn=None)

    @_draft.register
    def _(self, edit: PaintClump, draft: Draft) -> None:
        stroke, box = paint_stroke(edit.points, edit.radius, self.clump.shape)
        if edit.inside:
            changed = stroke & ~self.clump[box]
        else:
            changed = stroke & self.clump[box] & (self.nuclei[box] == 0)
            for row, column in (cell.bare for cell in self.cells.values() if cell.bare is not None):
                place = round(row) - box[0].start, round(column) - box[1].start
                if 0 <= place[0] < changed.shape[0] and 0 <= place[1] < changed.shape[1]:
                    changed[place] = False
        if not changed.any():
            raise ValueError("this stroke changes nothing: nuclei stay within the clump, and the rest is so already")
        self._patch(draft, "clump", box, changed, edit.inside)

    @_draft.register
    def _(self, edit: PullOutline, draft: Draft) -> None:
        cell = self._find(edit.cell)
        row, column = (round(part) for part in self.seed_of(edit.cell))
        radius = float(np.hypot(edit.row - row, edit.column - column))
        if radius < 1:
            raise ValueError("an outline does not go through its own seed; pull it elsewhere")
        angle = float(np.arctan2(edit.row - row, edit.column - column))
        rays = (round(angle / (2 * np.pi) * RAYS) + np.arange(-DRAWN_WIDTH, DRAWN_WIDTH + 1)) % RAYS
        drawn = np.full(RAYS, np.nan) if cell.drawn is None else cell.drawn.copy()
        drawn[rays] = radius
        draft.cells[edit.cell] = replace(cell, drawn=drawn)

    @_draft.register
    def _(self, edit: JudgeCell, draft: Draft) -> None:
        draft.cells[edit.cell] = replace(self._find(edit.cell), verdict=edit.verdict)

    @_draft.register
    def _(self, edit: LabelCell, draft: Draft) -> None:
        draft.cells[edit.cell] = replace(self._find(edit.cell), label=edit.label)

    @_draft.register
    def _(self, edit: FinishImage, draft: Draft) -> None:
        draft.done = edit.done

    def _find(self, number: int) -> CellNotes:
        if number not in self.cells:
            raise ValueError(f"there is no cell {number} any more; it may have been deleted or joined meanwhile")
        return self.cells[number]

    def _place(
        self, number: int, cell: CellNotes, place: tuple[float, float], draft: Draft, nuclei: NDArray[np.int32]
    ) -> CellNotes:
        """Give a cell its nucleus at a place: the spot there, what is dark there, or none."""
        row, column = (int(np.floor(part + 0.5)) for part in place)
        height, width = self.clump.shape
        if not (0 <= row < height and 0 <= column < width):
            raise ValueError(f"row {place[0]:.0f} and column {place[1]:.0f} lie outside the image")
        if not self.clump[row, column]:
            raise ValueError("there is no clump here: paint it in first, then the seed")
        if nuclei[row, column]:
            raise ValueError(f"this is the nucleus of cell {nuclei[row, column]}; part it, or point beside it")
        if any(cell.bare is not None and (round(cell.bare[0]), round(cell.bare[1])) == (row, column)
               for other, cell in self.cells.items() if other != number):  # fmt: skip
            raise ValueError("another cell has its seed here already")
        spot = self._find_spot(row, column)
        own = (self.spots_image == spot) if spot else np.zeros_like(self.clump)
        allowed = self.clump & (nuclei == 0)
        if spot and could_be_nucleus(int(np.count_nonzero(own)), self.diameter):
            box = _box_of(self.spots_image, spot)
            mask = own[box] & allowed[box]
        else:  # what is dark there, be it a part of a spot that is too large for a nucleus
            free = allowed & ((self.spots_image == 0) | own)
            grown = grow_nucleus(self.luminance, free, (row, column), self.diameter)
            if grown is None:
                return replace(cell, bare=(float(row), float(column)))
            box, mask = grown
        if spot:
            draft.spots[spot] = None
            place_of_spot = _box_of(self.spots_image, spot)
            self._patch(draft, "spots_image", place_of_spot, own[place_of_spot], 0)
        self._patch_over(draft, number, box, mask, nuclei)
        return replace(cell, probability=1.0)

    def _find_spot(self, row: int, column: int) -> int:
        """Number of the spot at a place, or so near to it that it is meant; 0 if there is none."""
        reach = round(NEAR * self.diameter)
        top, left = max(row - reach, 0), max(column - reach, 0)
        around = self.spots_image[top : row + reach + 1, left : column + reach + 1]
        rows, columns = np.nonzero(around)
        distance = np.hypot(rows + top - row, columns + left - column)
        if not rows.size or distance.min() > reach:
            return 0
        nearest = int(distance.argmin())
        return int(around[rows[nearest], columns[nearest]])

    def _patch_over(
        self, draft: Draft, number: int, box: Box, mask: NDArray[np.bool_], nuclei: NDArray[np.int32]
    ) -> None:
        """Give pixels to a nucleus, as the image of nuclei is after what the draft holds already."""
        before = nuclei[box].copy()
        draft.patches.append(Patch("nuclei", box, before, np.where(mask, np.int32(number), before)))

    def _add_spot(self, draft: Draft, box: Box, mask: NDArray[np.bool_], kind: str) -> None:
        number = self._next_spot
        self._next_spot += 1
        draft.spots[number] = Spot(0.0, kind)
        self._patch(draft, "spots_image", box, mask, number)

    def _patch(self, draft: Draft, image: str, box: Box, mask: NDArray[np.bool_], value: int | bool) -> None:
        before = getattr(self, image)[box].copy()
        after = before.copy()
        after[mask] = value
        draft.patches.append(Patch(image, box, before, after))


def _renumber(labels: NDArray[np.int32], kept: list[int], most: int) -> NDArray[np.int32]:
    """Give labels the places, from 1, of the numbers that are kept, and 0 elsewhere."""
    numbers = np.zeros(most, np.int32)
    numbers[kept] = np.arange(1, len(kept) + 1)
    return numbers[labels]


def _box_of(labels: NDArray[np.int32], number: int) -> Box:
    rows, columns = np.nonzero(labels == number)
    return np.s_[int(rows.min()) : int(rows.max()) + 1, int(columns.min()) : int(columns.max()) + 1]
