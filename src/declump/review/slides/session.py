"""A slide under review, without any user interface: edits in, cells of the changed clumps out."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    piece : int, optional
        Number of the piece, with what the edit changed in its session.
    change : Change, optional
    cell : int, optional
        Number of the cell with its notes before and after.
    notes : (Note, Note), optional
    done : (bool, bool), optional
    """

    edit: Edit
    piece: int | None = None
    change: Change | None = None
    cell: int | None = None
    notes: tuple[Note, Note] | None = None
    done: tuple[bool, bool] | None = None


class SlideSession(EditHistory[SlideChange]):
    """The cells of a slide, and the edits made so far.

    A clump is opened at its first edit: what is round it in its box stays as it was found, so that an edit changes its
    clump and no other. Numbers of cells are those of the cells that were found; new ones come after them.

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
        Those that were opened.
    notes : dict of int to Note
    """

    def __init__(self, run: Opened, found: SlideResult) -> None:
        super().__init__()
        self.run = run
        index = found.read_columns(("id", "clump", "seed_row", "seed_column"))
        self.ids, self.clumps = index["id"].astype(np.int64), index["clump"].astype(np.int64)
        self.seeds = np.column_stack([index["seed_row"], index["seed_column"]]).astype(np.int64)
        self.pieces: dict[int, OpenPiece] = {}
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
            session = self.pieces[change.piece].session
            _ = session.undo() if back else session.redo()
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
            clump = self.run.load_pieces().find_clump(number)
            chosen = self.clumps == clump
            extent = find_extent(self.run, number)
            self.pieces[number] = open_piece(self.run, number, extent, self.ids[chosen], self.seeds[chosen])
        return self.pieces[number]

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
                inner[inner == piece.number] = 0
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
        piece = self._find_piece(edit)
        change = piece.session.make(piece.to_local(edit))
        self.pieces.setdefault(piece.number, piece)
        self._painted = min(self._painted, piece.number - 1)
        for local in piece.session.state.cells:
            if local not in piece.names:
                piece.names[local] = self._next
                self._next += 1
        return SlideChange(edit, piece.number, change)

    def _find_piece(self, edit: Edit) -> OpenPiece:
        """Open the piece that an edit is about."""
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
            return self.open(number)
        piece = self.open_at(int(getattr(edit, "cell")))  # noqa: B009 - all other edits are about a cell
        if isinstance(edit, JoinNuclei) and self.open_at(edit.other) is not piece:
            raise ValueError("these nuclei lie in two clumps; on a slide only nuclei of one clump are joined")
        return piece

    def _find_painted(self, edit: PaintClump) -> OpenPiece:
        stroke, place = paint_stroke(edit.points, edit.radius, self.run.record.shape)
        inner = Box(place[0].start, place[1].start, place[0].stop, place[1].stop)
        box = inner.grow(1, self.run.record.shape)
        painted = np.zeros(box.shape, np.bool_)
        painted[inner.within(box)] = stroke
        if edit.inside:  # what it touches becomes one with it
            painted = ndimage.binary_dilation(painted, np.ones((3, 3)))
        met = np.unique(self.show_clumps(box)[painted])
        met = met[met != 0]
        if len(met) > 1:
            raise ValueError("this stroke meets two clumps; on a slide each is painted by itself")
        if not len(met) and not edit.inside:
            raise ValueError("this stroke changes nothing: there is no clump here")
        if not len(met):
            nothing = np.empty(0, np.int64)
            return open_piece(self.run, self._painted, inner, nothing, nothing.reshape(0, 2))
        piece = self.open(int(met[0]))
        if not piece.box.holds(inner):
            raise ValueError("this stroke reaches further than the clump is looked at; paint nearer to it")
        return piece
