"""One slide on the desk: its cells by window, evolved anew in the clumps that were edited."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.records.boxes import Box
from declump.records.others import KINDS
from declump.review.album import Entry
from declump.review.runner import Done, EvolutionStep, Latest, Snapshot, evolve_snapshot
from declump.review.server.content import describe_clump, describe_steps, pack
from declump.review.server.desk import Desk, Publish
from declump.review.server.slide_content import describe_columns, describe_place, describe_shown
from declump.review.server.slide_tiles import SlidePyramid
from declump.review.slides.image import ReviewedSlide
from declump.review.slides.pieces import OpenPiece, SolvedPiece
from declump.review.slides.session import SlideChange
from declump.review.slides.window import ShownCells, measured_columns, read_found, show_solved

OUTLINED = 800
"""Cells of a window up to which their outlines are shown; of more only where they are."""
TOLD = 3000
"""Cells of a window that are told from afar: the most doubtful ones."""
CLUMPS_IN = 16 * 2**20
"""Pixels of a window up to which edges of clumps are shown."""


class SlideDesk(Desk[SlideChange]):
    """A slide that is open.

    Parameters
    ----------
    entry : Entry
        Segmented.
    image : ReviewedSlide
    pyramid : SlidePyramid
    publish : callable
        Called from any thread with what all tabs are to know.
    """

    def __init__(self, entry: Entry, image: ReviewedSlide, pyramid: SlidePyramid, publish: Publish) -> None:
        super().__init__(entry, image, pyramid, publish)
        self.image = image
        self._whole = Box(0, 0, *image.run.record.shape)
        self._columns = measured_columns(image.found)
        self._confidence = image.found.read_columns(("confidence",))["confidence"].astype(np.float64)
        self._others = image.read_others()
        self._stale: dict[int, Snapshot] = {}
        self._evolving: Latest[dict[int, Snapshot]] = Latest(self._evolve, self._fail)

    def describe(self) -> dict[str, Any]:
        """What there is to know of the slide before any window is asked for."""
        with self.lock:
            facts = self._facts()
        statistics = self.image.run.record.statistics
        return {
            **facts,
            **self.pyramid.describe(),
            "kind": self.entry.kind,
            "total": len(self.image.session.ids),
            "diameter": statistics.diameter,
            "pixel_size": statistics.pixel_size,
            "wanted": facts["revision"],
        }

    def window(self, top: int, left: int, bottom: int, right: int) -> dict[str, Any]:
        """Cells that a window of the slide shows: with outlines and measurements, or from afar the doubtful ones."""
        box = Box(top, left, bottom, right).meet(self._whole)
        with self.lock:
            session, edited, removed = self.image.session, self._find_solved(box), self.image.session.find_removed()
            seeds = session.seeds
            inside = _find_inside(seeds, box)
            inside[removed - 1] = False
            count = int(np.count_nonzero(inside)) + sum(len(solved.numbers) for solved in edited)
            told = {"window": list(box), "count": count, "outlined": count <= OUTLINED, "others": [], "clump": []}
            if count > OUTLINED:
                return {**told, **self._describe_far(inside, edited)}
            told["others"], told["clump"] = self._find_others(box, edited), self._trace_clumps(box)
            found = read_found(self.image.found, box)
            found = found.choose(~np.isin(found.numbers, removed))
            shown = ShownCells.join([found, *map(show_solved, edited)])
            return {**told, **describe_shown(shown, session.notes, self._columns)}

    def find_doubtful(self, after: int) -> dict[str, Any] | None:
        """Find the least confident cell without a verdict, or the one that comes after a cell; None if all have one."""
        with self.lock:
            session = self.image.session
            kept = np.ones(len(session.ids), np.bool_)
            kept[session.find_removed() - 1] = False
            edited = self._find_solved(self._whole)
            numbers = np.concatenate([session.ids[kept], *(solved.numbers for solved in edited)]).astype(np.int64)
            seeds = np.concatenate([session.seeds[kept], *(solved.rows["seeds"] for solved in edited)])
            confidence = np.concatenate([self._confidence[kept], *map(self._confidence_of, edited)])
            judged = [number for number, note in session.notes.items() if note.verdict and number != after]
        waiting = np.flatnonzero(~np.isin(numbers, judged))
        waiting = waiting[np.lexsort((numbers[waiting], confidence[waiting]))]
        if not len(waiting):
            return None
        at = np.flatnonzero(numbers[waiting] == after)
        row = waiting[(at[0] + 1) % len(waiting) if len(at) else 0]
        return {"n": int(numbers[row]), "seed": [int(part) for part in seeds[row]]}

    def look(self, cell: int) -> None:
        """Open the clump of a cell that somebody chose, so that its first edit need not wait for that."""
        with self.lock, suppress(ValueError):  # if the cell is gone, an edit will say so
            if self.image.session.can_correct:
                self.image.session.open_at(cell)

    def _is_evolving(self) -> bool:
        return bool(self._stale)

    def _stop(self) -> None:
        self._evolving.stop()

    def _preview(self, change: SlideChange) -> dict[str, Any]:
        session = self.image.session
        marks = [] if change.cell is None else [{"n": change.cell, **vars(session.notes[change.cell])}]
        piece = change.piece
        if piece is None or change.change is None or piece.number not in session.pieces:
            return {"evolves": False, "gone": [], "marks": marks, "starts": []}
        state, (top, left) = piece.session.state, piece.box[:2]
        if piece.solved is None:  # the cells are those that were found
            read = self.image.found.read_window(*piece.box, columns=())
            before, known = read.to_segmentation(), read.ids.tolist()
        else:
            before, known = piece.solved.result, piece.solved.numbers
        local = {name: number for number, name in piece.names.items()}
        starts = piece.session.preview(change.change, before, [local.get(name, 0) for name in known])
        places = {number: state.seed_of(number) for number in starts}
        return {
            "evolves": piece.is_edited,
            "gone": [piece.names[number] for number in change.change.cells if number not in state.cells],
            "marks": marks,
            "starts": [
                {
                    "n": piece.names[number],
                    "seed": [round(places[number][0] + top, 1), round(places[number][1] + left, 1)],
                    "radii": pack(radii),
                }
                for number, radii in starts.items()
            ],
        }

    def _follow(self, change: SlideChange) -> None:
        if change.piece is None:
            return
        pieces = self.image.session.pieces
        for number in (change.piece.number, *change.joins):
            if number not in pieces:
                self._stale.pop(number, None)
        if change.piece.number in pieces:
            self._renew(change.piece)
            return
        self._tell_found(change.piece)  # what was joined is parted again
        for number in change.joins:
            if pieces[number].is_edited:
                self._renew(pieces[number])

    def _renew(self, piece: OpenPiece) -> None:
        """Have a piece that was edited evolve; if all its edits are undone, its cells are those that were found."""
        if piece.is_edited:
            self._stale[piece.number] = Snapshot.of(piece.session)
            self._evolving.want(dict(self._stale))
            return
        self._stale.pop(piece.number, None)
        piece.solved = None
        self._tell_found(piece)

    def _tell_found(self, piece: OpenPiece) -> None:
        """Tell of the cells of a piece that were found, but for those of which edits tell."""
        found = read_found(self.image.found, piece.box)
        left = np.setdiff1d(piece.found, self.image.session.find_removed())
        self._tell_piece(piece, found.choose(np.isin(found.numbers, left)))

    def _evolve(self, stale: dict[int, Snapshot], check: Callable[[], None]) -> None:
        for number, snapshot in stale.items():
            piece = self.image.session.pieces.get(number)
            if piece is None:  # joined with another, or parted, meanwhile
                continue
            names = [piece.names[cell] for cell in snapshot.numbers]

            def tell(news: EvolutionStep | Done, piece: OpenPiece = piece, names: list[int] = names) -> None:
                if isinstance(news, Done):
                    self._take(piece, news, names)
                else:
                    cells = describe_steps([piece.names[cell] for cell in news.numbers], news.radii)
                    revision = self.image.session.revision
                    self._publish({"type": "step", "id": self.entry.id, "revision": revision, "cells": cells})

            evolve_snapshot(piece.session, snapshot, tell, check)

    def _take(self, piece: OpenPiece, done: Done, names: list[int]) -> None:
        """Take new outlines for the present ones, and tell of them."""
        solved = piece.describe(self.image.run, done.result, done.snapshot.corrected, names)
        with self.lock:
            wanted = self._stale.get(piece.number)
            if wanted is None or wanted.revision != done.snapshot.revision:
                return  # edited again, or undone, meanwhile
            del self._stale[piece.number]
            piece.solved = solved
            self._tell_piece(piece, show_solved(solved))

    def _tell_piece(self, piece: OpenPiece, shown: ShownCells) -> None:
        told = {
            "type": "result",
            "id": self.entry.id,
            "revision": self.image.session.revision,
            "evolving": bool(self._stale),
            "gone": sorted({*piece.names.values(), *piece.found.tolist()} - set(shown.numbers.tolist())),
            "box": list(piece.box),
            "others": self._find_others(piece.box, self._find_solved(piece.box)),
            "clump": self._trace_clumps(piece.box),
        }
        self._publish({**told, **describe_shown(shown, self.image.session.notes, self._columns)})

    def _find_solved(self, box: Box) -> list[SolvedPiece]:
        """Edited pieces in a box whose cells are known."""
        edited = [piece for piece in self.image.session.edited if piece.box.meet(box).size]
        return [piece.solved for piece in edited if piece.solved is not None]

    def _confidence_of(self, solved: SolvedPiece) -> NDArray[np.float64]:
        return np.asarray(solved.rows["table"][:, self._columns.index("confidence")])

    def _describe_far(self, inside: NDArray[np.bool_], edited: list[SolvedPiece]) -> dict[str, Any]:
        session = self.image.session
        rows = np.flatnonzero(inside)
        rows = rows[np.argsort(self._confidence[rows], kind="stable")[:TOLD]]
        numbers = np.concatenate([session.ids[rows], *(solved.numbers for solved in edited)]).astype(np.int64).tolist()
        seeds = np.concatenate([session.seeds[rows], *(solved.rows["seeds"] for solved in edited)])
        confidence = np.concatenate([self._confidence[rows], *map(self._confidence_of, edited)])
        return {
            "cells": [describe_place(number, seed, session.notes) for number, seed in zip(numbers, seeds, strict=True)],
            "measured": describe_columns(["confidence"], numbers, confidence[:, None]),
        }

    def _find_others(self, box: Box, edited: list[SolvedPiece]) -> list[dict[str, Any]]:
        places, kinds = self._others
        inside = _find_inside(places, box)
        for solved in edited:
            inside &= ~solved.piece.holds(places)
        told = [(kinds[row], places[row]) for row in np.flatnonzero(inside).tolist()]
        for solved in edited:
            told += zip([KINDS[kind] for kind in solved.others["kinds"]], solved.others["places"], strict=True)
        return [{"kind": kind, "place": np.round(place, 1).tolist()} for kind, place in told]

    def _trace_clumps(self, box: Box) -> list[list[float]]:
        if not self.image.session.can_correct or not 0 < box.size <= CLUMPS_IN:
            return []
        lines = describe_clump(self.image.session.show_clumps(box) != 0)
        return [[round(value + (box.top if k % 2 else box.left), 1) for k, value in enumerate(line)] for line in lines]


def _find_inside(places: NDArray[Any], box: Box) -> NDArray[np.bool_]:
    """Tell which places (n, 2) lie in a box."""
    return np.asarray(((places >= (box.top, box.left)) & (places < (box.bottom, box.right))).all(axis=1))
