"""One clump of a slide under review: an image of its own, in its box, with a session of its own."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.pipelines.solve import find_at_cut, solve_clump
from declump.pipelines.view import OWN, ClumpView
from declump.records.boxes import Box
from declump.records.segmentation import Segmentation
from declump.review.edits import Edit
from declump.review.found import Found
from declump.review.session import Session
from declump.review.state import Corrected
from declump.slides.cells import describe_beside, describe_solved, look_at_pieces
from declump.slides.opened import Opened

Rows = dict[str, NDArray[Any]]
"""What is told of cells, one row each: see :func:`declump.slides.cells.describe_solved`."""
_DOWN, _RIGHT, _CELLS = ("row", "end_row"), ("column", "end_column"), ("cell", "other")


@dataclass(eq=False)
class OpenPiece:
    """A clump of a slide, or a part of one that was cut, or several that a person joined, opened for edits.

    Attributes
    ----------
    number : int
        Of the piece; below 0 for what a person painted where no clump was found, or joined.
    members : tuple of int
        Numbers of the pieces that were found and that it consists of; none for a painted one.
    extent : Box
        What is looked at more closely: where it lies.
    clump : int
        Number that its cells have as that of their clump, the first one of several; 0 for a painted one.
    view : ClumpView
        Its box, and what else lies in it.
    session : Session
        In the coordinates of the box, with numbers of its own for the cells.
    found : (n,) int64
        Numbers in the slide of the cells that were found in it.
    names : dict of int to int
        Numbers in the slide by those of the session.
    solved : SolvedPiece, optional
        What became of it by the edits, once that is known.
    """

    number: int
    members: tuple[int, ...]
    extent: Box
    clump: int
    view: ClumpView
    session: Session
    found: NDArray[np.int64]
    names: dict[int, int]
    solved: SolvedPiece | None = None

    @property
    def box(self) -> Box:
        """The pixels that are looked at."""
        return self.view.box

    @property
    def is_edited(self) -> bool:
        """Whether any edit holds, undone ones aside."""
        return bool(self.session.history)

    def find_local(self, number: int) -> int:
        """Give the number that a cell of the slide has in the session.

        Raises
        ------
        ValueError
            If there is no such cell now.
        """
        for local, name in self.names.items():
            if name == number and local in self.session.state.cells:
                return local
        raise ValueError(f"there is no cell {number} any more; it may have been deleted or joined meanwhile")

    @property
    def numbers(self) -> list[int]:
        """Numbers in the slide of the cells that are there now, in the order of the session."""
        return [self.names[local] for local in self.session.numbers]

    def to_local(self, edit: Edit) -> Edit:
        """Give an edit in the coordinates and numbers of the session."""
        changed: dict[str, Any] = {}
        for name in (part.name for part in fields(edit)):
            value = getattr(edit, name)
            if name in _DOWN or name in _RIGHT:
                changed[name] = value - (self.box.top if name in _DOWN else self.box.left)
            elif name in _CELLS:
                changed[name] = self.find_local(value)
            elif name == "points":
                changed[name] = tuple((row - self.box.top, column - self.box.left) for row, column in value)
        return replace(edit, **changed)

    def holds(self, places: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell which places (n, 2) of the slide lie in the piece as it was found."""
        pixels = np.floor(places + 0.5).astype(np.int64) - np.array([self.box.top, self.box.left])
        inside = ((pixels >= 0) & (pixels < np.array(self.box.shape))).all(axis=1)
        held = np.zeros(len(places), np.bool_)
        held[inside] = self.view.labels[tuple(pixels[inside].T)] == OWN
        return held

    def describe(self, run: Opened, result: Segmentation, corrected: Corrected, numbers: list[int]) -> SolvedPiece:
        """Tell all of the cells that follow from the edits in the box, as the files of a slide have it."""
        at_cut = find_at_cut(self.view.labels, result.seeds, result.radii)
        rows = describe_solved(run, self.box, result, at_cut, self.clump)
        assert result.others is not None
        others = result.others.move(self.box.top, self.box.left)
        return SolvedPiece(self, numbers, corrected.clump, result, rows, describe_beside(others))


@dataclass(frozen=True, eq=False)
class SolvedPiece:
    """The cells of a piece by its edits.

    Attributes
    ----------
    piece : OpenPiece
    numbers : list of int
        Of the cells in the slide.
    clump : (h, w) bool
        Where it is by the edits, in the box.
    result : Segmentation
        Cells and nuclei in the box.
    rows, others : dict of str to arrays
        What is told of them, and of what is no cell.
    """

    piece: OpenPiece
    numbers: list[int]
    clump: NDArray[np.bool_]
    result: Segmentation
    rows: Rows
    others: Rows


def open_piece(
    run: Opened,
    number: int,
    members: tuple[int, ...],
    extent: Box,
    ids: NDArray[np.int64],
    seeds: NDArray[np.int64],
) -> OpenPiece:
    """Open a piece of a slide for edits.

    Parameters
    ----------
    run : Opened
    number, members, extent
        See :class:`OpenPiece`.
    ids, seeds : (N,), (N, 2)
        Cells that were found and may belong to it: those of its clumps.
    """
    view = look_at_pieces(run, members, extent)
    solution = solve_clump(view, run.statistics, run.solver)
    found = Found.of_clump(solution, run.statistics)
    session = Session(run.slide.read(view.box), found, run.record.options.cells, view.channels)
    places = seeds - np.array([view.box.top, view.box.left])
    within = ((places >= 0) & (places < np.array(view.box.shape))).all(axis=1)
    ids, places = ids[within], places[within]
    own = view.labels[tuple(places.T)] == OWN
    ids, places = ids[own], places[own]
    at = {(row, column): name for (row, column), name in zip(places.tolist(), ids.tolist(), strict=True)}
    names = {}
    for local in session.numbers:
        row, column = (int(np.floor(part + 0.5)) for part in session.state.seed_of(local))
        if (row, column) in at:
            names[local] = at[row, column]
    clump = min(members, default=0)
    return OpenPiece(number, members, extent, clump, view, session, ids, names)


def find_extent(run: Opened, number: int) -> Box:
    """Where a piece of a slide lies."""
    pieces = run.load_pieces()
    clump = pieces.find_clump(number)
    if clump == number:
        return Box(*run.load_stitched("clumps").boxes[number - 1].tolist())
    cut = pieces.cuts[clump]
    return cut.extents()[number - cut.first]
