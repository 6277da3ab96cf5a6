"""A slide under review, without any user interface: edits in, cells of the changed clumps out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.io.slide_results import SlideResult
from declump.records.boxes import Box
from declump.review.changes import Change
from declump.review.edits import (
    AddSeed,
    Edit,
    FinishImage,
    JoinNuclei,
    JudgeCell,
    LabelCell,
    PaintClump,
)
from declump.review.history import EditHistory
from declump.review.slides.pieces import OpenPiece, find_extent, open_piece
from declump.review.strokes import paint_stroke
from declump.slides.opened import Opened


@dataclass(frozen=True)
class Note:
    """What a person says of a cell."""

    verdict: str = ""
    label: str = ""


@dataclass(frozen=True, eq=False)
class SlideChange:
    """What an edit changed: a piece, or a note on a cell, or whether the slide is reviewed.

    Attributes
    ----------
    edit : Edit
    piece : OpenPiece, optional
        With what the edit changed in its session.
    change : Change, optional
    joins : tuple of int
        Numbers of the pieces that the edit made one, which is ``piece``.
    cell : int, optional
        Number of the cell with its notes before and after.
    notes : (Note, Note), optional
    done : (bool, bool), optional
    """

    edit: Edit
    piece: OpenPiece | None = None
    change: Change | None = None
    joins: tuple[int, ...] = ()
    cell: int | None = None
    notes: tuple[Note, Note] | None = None
    done: tuple[bool, bool] | None = None


class SlideSession(EditHistory[SlideChange]):
    """The cells of a slide, and the edits made so far.

    A clump is opened at its first edit: what is round it in its box stays as it was found, so that an edit changes its
    clump and no other. Clumps that a person paints together are opened as one, and the edits made in them so far are
    made in it again. Numbers of cells are those of the cells that were found; new ones come after them.

    Parameters
    ----------
    run : Opened
        Of the slide.
    found : SlideResult
        Its cells before any edit.

    Attributes
    ----------
    revision : int
        Number of edits, undone and redone ones included.
    history, future : list of SlideChange
    pieces : dict of int to OpenPiece
        Those that were opened, and are not part of another now.
    notes : dict of int to Note
    """

    def __init__(self, run: Opened, found: SlideResult) -> None:
        super().__init__()
        self.run = run
        index = found.read_columns(("id", "clump", "seed_row", "seed_column"))
        self.ids, self.clumps = index["id"].astype(np.int64), index["clump"].astype(np.int64)
        self.seeds = np.column_stack([index["seed_row"], index["seed_column"]]).astype(np.int64)
        self.pieces: dict[int, OpenPiece] = {}
        self._joined: dict[int, OpenPiece] = {}
        self.notes: dict[int, Note] = {}
        self._done = False
        self._next, self._painted = len(self.ids) + 1, -1

    @property
    def can_correct(self) -> bool:
        """Whether what clumps follow from is still there: the ledger of the run."""
        return (self.run.store.work / "regions.zarr").is_dir()

    @property
    def edited(self) -> list[OpenPiece]:
        """Pieces in which any edit holds."""
        return [piece for piece in self.pieces.values() if piece.is_edited]

    @property
    def done(self) -> bool:
        """Whether a person has said that the slide is reviewed."""
        return self._done

    def _apply(self, edit: Edit) -> SlideChange:
        if isinstance(edit, FinishImage):
            change = SlideChange(edit, done=(self._done, edit.done))
            self._done = edit.done
            return change
        return self._note(edit) if isinstance(edit, JudgeCell | LabelCell) else self._correct(edit)

    def _put(self, change: SlideChange, *, back: bool) -> None:
        if change.piece is not None:
            _ = change.piece.session.undo() if back else change.piece.session.redo()
            if change.joins:
                self._part(change) if back else self._join(change)
        elif change.cell is not None and change.notes is not None:
            self.notes[change.cell] = change.notes[0 if back else 1]
        elif change.done is not None:
            self._done = change.done[0 if back else 1]

    def piece_of(self, number: int) -> OpenPiece | None:
        """OpenPiece that a cell lies in now, if it was opened."""
        for piece in self.pieces.values():
            if piece.is_edited and number in piece.names.values():
                return piece
        return next((piece for piece in self.pieces.values() if number in piece.found), None)

    def has_cell(self, number: int) -> bool:
        """Whether there is a cell of this number now."""
        piece = self.piece_of(number)
        if piece is not None and piece.is_edited:
            return number in piece.numbers
        return 0 < number <= len(self.ids)

    def find_removed(self) -> NDArray[np.int64]:
        """Numbers of cells that were found, and that edited pieces tell of anew, or not any more."""
        return np.concatenate([np.empty(0, np.int64), *(piece.found for piece in self.edited)])

    def open(self, number: int) -> OpenPiece:
        """Open a piece of the slide for edits, once."""
        if number not in self.pieces:
            self.pieces[number] = self._open(number, (number,), find_extent(self.run, number))
        return self.pieces[number]

    def _open(self, number: int, members: tuple[int, ...], extent: Box) -> OpenPiece:
        chosen = np.isin(self.clumps, members)
        return open_piece(self.run, number, members, extent, self.ids[chosen], self.seeds[chosen])

    def open_at(self, cell: int) -> OpenPiece:
        """Open the piece that a cell lies in."""
        known = self.piece_of(cell)
        if known is not None:
            return known
        if not self.has_cell(cell):
            raise ValueError(f"there is no cell {cell} any more; it may have been deleted or joined meanwhile")
        row, column = self.seeds[cell - 1].tolist()
        number = int(self._number(Box(row, column, row + 1, column + 1))[0, 0])
        if number <= 0:
            raise ValueError(f"the clump of cell {cell} is not known any more; segment the slide anew")
        return self.open(number)

    def show_clumps(self, box: Box) -> NDArray[np.int64]:
        """Numbers of pieces (h, w) in a box as they are now, 0 where there is none."""
        numbers = self._number(box)
        for piece in self.pieces.values():
            shared = piece.box.meet(box)
            if piece.is_edited and shared.size:
                inner, mask = numbers[shared.within(box)], piece.session.state.clump[shared.within(piece.box)]
                inner[np.isin(inner, piece.members)] = 0
                inner[mask] = piece.number
        return numbers

    def _number(self, box: Box) -> NDArray[np.int64]:
        return self.run.load_pieces().number(self.run.store.read_numbers(box), box)

    def _note(self, edit: JudgeCell | LabelCell) -> SlideChange:
        if not self.has_cell(edit.cell):
            raise ValueError(f"there is no cell {edit.cell} any more; it may have been deleted or joined meanwhile")
        before = self.notes.get(edit.cell, Note())
        now = (
            replace(before, verdict=edit.verdict) if isinstance(edit, JudgeCell) else replace(before, label=edit.label)
        )
        self.notes[edit.cell] = now
        return SlideChange(edit, cell=edit.cell, notes=(before, now))

    def _correct(self, edit: Edit) -> SlideChange:
        if not self.can_correct:
            raise ValueError(
                "the folder work/ of this slide is gone, and with it what its clumps follow from: cells can be "
                "accepted, rejected and labelled, not corrected; 'declump slide --overwrite' makes it anew"
            )
        piece, joins = self._find_piece(edit)
        made = SlideChange(edit, piece, piece.session.make(piece.to_local(edit)), joins)
        for local in piece.session.state.cells:
            if local not in piece.names:
                piece.names[local] = self._next
                self._next += 1
        self._join(made)
        self._painted = min(self._painted, piece.number - 1)
        return made

    def _join(self, change: SlideChange) -> None:
        """Let the piece of a change stand for those that it joins."""
        assert change.piece is not None
        for number in change.joins:
            self._joined[number] = self.pieces.pop(number)
        self.pieces[change.piece.number] = change.piece

    def _part(self, change: SlideChange) -> None:
        """Let the pieces that a change joined stand for themselves again."""
        assert change.piece is not None
        del self.pieces[change.piece.number]
        for number in change.joins:
            self.pieces[number] = self._joined.pop(number)

    def _find_piece(self, edit: Edit) -> tuple[OpenPiece, tuple[int, ...]]:
        """Open the piece that an edit is about; give also the numbers of pieces that become one with it."""
        if isinstance(edit, PaintClump):
            return self._find_painted(edit)
        if isinstance(edit, AddSeed):
            row, column = int(np.floor(edit.row + 0.5)), int(np.floor(edit.column + 0.5))
            height, width = self.run.record.shape
            if not (0 <= row < height and 0 <= column < width):
                raise ValueError(f"row {row} and column {column} lie outside the slide")
            number = int(self.show_clumps(Box(row, column, row + 1, column + 1))[0, 0])
            if not number:
                raise ValueError("there is no clump here: paint it in first, then the seed")
            return self.open(number), ()
        piece = self.open_at(int(getattr(edit, "cell")))  # noqa: B009 - all other edits are about a cell
        if isinstance(edit, JoinNuclei) and self.open_at(edit.other) is not piece:
            raise ValueError("these nuclei lie in two clumps; paint the clump between them first")
        return piece, ()

    def _find_painted(self, edit: PaintClump) -> tuple[OpenPiece, tuple[int, ...]]:
        stroke, place = paint_stroke(edit.points, edit.radius, self.run.record.shape)
        inner = Box(place[0].start, place[1].start, place[0].stop, place[1].stop)
        box = inner.grow(1, self.run.record.shape)
        painted = np.zeros(box.shape, np.bool_)
        painted[inner.within(box)] = stroke
        if edit.inside:  # what it touches becomes one with it
            painted = ndimage.binary_dilation(painted, np.ones((3, 3)))
        met = [number for number in np.unique(self.show_clumps(box)[painted]).tolist() if number]
        if not edit.inside and len(met) != 1:
            raise ValueError(
                "this stroke meets two clumps; on a slide they are erased one by one"
                if met
                else "this stroke changes nothing: there is no clump here"
            )
        if not met:
            return self._open(self._painted, (), inner), ()
        piece = self.open(met[0])
        if len(met) == 1 and (piece.box.holds(inner) or not edit.inside):
            return piece, ()
        return self._open_joined(met, inner), tuple(met)

    def _open_joined(self, numbers: list[int], painted: Box) -> OpenPiece:
        """Open pieces as one that also holds what is painted, with all edits that hold in them made again in it."""
        parts = [self.open(number) for number in numbers]
        members = tuple(sorted(member for part in parts for member in part.members))
        extent = reduce(Box.join, [part.extent for part in parts], painted)
        whole = self._open(self._painted, members, extent)
        family = set(numbers)
        for change in reversed(self.history):  # what was joined before was made of others
            if change.piece is not None and change.piece.number in family:
                family.update(change.joins)
        for change in self.history:
            if change.piece is not None and change.change is not None and change.piece.number in family:
                made = whole.session.make(whole.to_local(change.edit))
                names = [change.piece.names[local] for local in change.change.created]
                whole.names.update(zip(made.created, names, strict=True))
        return whole
