"""Edits of a slide change their clump and no other, and leave nothing behind once they are undone."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

from declump.io import open_slide_result
from declump.records.boxes import Box
from declump.review.edits import (
    AddSeed,
    DeleteCell,
    FinishImage,
    JoinNuclei,
    JudgeCell,
    LabelCell,
    MoveSeed,
    PaintClump,
    PullOutline,
)
from declump.review.slides.session import Note, SlideSession
from declump.slides.opened import open_run
from support.bridged_clumps import bridge


@pytest.fixture
def session(slide_results: Path) -> SlideSession:
    return SlideSession(open_run(str(slide_results)), open_slide_result(slide_results))


def neighbours(session: SlideSession) -> tuple[int, int, int]:
    """Two cells of one clump, and one of another."""
    clump = np.bincount(session.clumps).argmax()
    first, second = session.ids[session.clumps == clump][:2].tolist()
    return first, second, int(session.ids[session.clumps != clump][0])


def test_an_edit_opens_its_clump_alone_and_keeps_the_numbers(session: SlideSession) -> None:
    first, second, elsewhere = neighbours(session)
    change = session.make(DeleteCell(first))
    (piece,) = session.edited
    assert change.piece is piece and elsewhere not in piece.found
    assert second in piece.numbers and first not in piece.numbers
    assert not session.has_cell(first) and session.has_cell(second) and session.has_cell(elsewhere)
    with pytest.raises(ValueError, match=f"there is no cell {first} any more"):
        session.make(PullOutline(first, 10.0, 10.0))
    session.undo()
    assert not session.edited and session.has_cell(first) and not len(session.find_removed())
    session.redo()
    assert not session.has_cell(first)
    assert session.redo() is None


def test_a_cell_that_nothing_was_done_to_is_as_it_was_found(session: SlideSession) -> None:
    first, second, _ = neighbours(session)
    session.make(LabelCell(second, "LSIL"))
    piece = session.open_at(first)
    result = piece.session.evolve()
    found = open_slide_result(session.run.store.out).read_window()
    for row, local in enumerate(piece.session.numbers):
        expected = found.radii[found.ids == piece.names[local]][0]
        np.testing.assert_allclose(result.radii[row], expected, atol=1 / 32)


def test_words_on_cells_need_no_clump(session: SlideSession) -> None:
    first, _, elsewhere = neighbours(session)
    session.make(JudgeCell(first, "accepted"))
    session.make(LabelCell(first, "HSIL"))
    session.make(JudgeCell(elsewhere, "rejected"))
    session.make(FinishImage(True))
    assert session.notes[first] == Note("accepted", "HSIL") and session.done and not session.pieces
    for _ in range(3):
        session.undo()
    assert session.notes[first] == Note("accepted", "") and not session.done
    with pytest.raises(ValueError, match="there is no cell 999 any more"):
        session.make(JudgeCell(999, "accepted"))


def test_a_missed_cell_gets_a_number_of_its_own(session: SlideSession) -> None:
    first, _, _ = neighbours(session)
    place = session.seeds[first - 1] + np.array([12, 0])
    session.make(DeleteCell(first))
    session.make(AddSeed(*place.astype(float).tolist()))
    (piece,) = session.edited
    added = len(session.ids) + 1
    assert added in piece.numbers
    session.make(MoveSeed(added, float(place[0] + 2), float(place[1])))
    assert added in piece.numbers
    with pytest.raises(ValueError, match="outside the slide"):
        session.make(AddSeed(-5.0, 3.0))


def empty_place(session: SlideSession) -> tuple[float, float]:
    """A place on the glass, far from any cell."""
    height, width = session.run.record.shape
    rows, columns = np.mgrid[40 : height - 40 : 20, 40 : width - 40 : 20]
    places = np.column_stack([rows.ravel(), columns.ravel()])
    distance = np.hypot(*(places[:, None] - session.seeds[None]).transpose(2, 0, 1)).min(axis=1)
    row, column = places[distance.argmax()].tolist()
    return float(row), float(column)


def test_a_cell_that_nobody_saw_is_painted_on_the_glass(session: SlideSession) -> None:
    row, column = empty_place(session)
    with pytest.raises(ValueError, match="there is no clump here"):
        session.make(AddSeed(row, column))
    session.make(PaintClump(((row, column), (row, column + 10)), 20.0, inside=True))
    session.make(AddSeed(row, column + 5))
    (piece,) = session.edited
    assert piece.clump == 0 and piece.numbers == [len(session.ids) + 1]
    assert piece.session.evolve().radii.max() > 5
    session.make(PaintClump(((row, column + 12),), 20.0, inside=True))
    assert session.edited == [piece]
    for _ in range(3):
        session.undo()
    assert not session.edited


def test_painting_between_two_clumps_makes_them_one(session: SlideSession) -> None:
    first, second, stroke = bridge(session)
    session.make(PullOutline(first, *(session.seeds[first - 1] + 30.0).tolist()))
    session.make(AddSeed(*(session.seeds[second - 1] + np.array([14.0, 0.0])).tolist()))
    added = len(session.ids) + 1
    apart = {piece.number: piece.numbers for piece in session.edited}
    assert len(apart) == 2
    session.make(JudgeCell(second, "accepted"))
    change = session.make(stroke)
    (whole,) = session.edited
    assert change.piece is whole and set(change.joins) == set(apart) == set(whole.members)
    assert {first, second, added} <= set(whole.numbers) == {number for numbers in apart.values() for number in numbers}
    assert whole.session.state.cells[whole.find_local(first)].drawn is not None
    assert ndimage.label(whole.session.corrected.clump, structure=np.ones((3, 3)))[1] == 1
    (place,) = session.show_clumps(Box(*session.seeds[second - 1], *(session.seeds[second - 1] + 1))).ravel().tolist()
    assert place == whole.number and session.open_at(second) is whole
    session.make(JoinNuclei(first, second))
    assert not session.has_cell(second)
    for _ in range(2):
        session.undo()
    assert {piece.number: piece.numbers for piece in session.edited} == apart
    session.redo()
    session.redo()
    assert session.edited == [whole] and not session.has_cell(second)
    for _ in range(5):
        session.undo()
    assert not session.edited and not len(session.find_removed())


def test_a_stroke_beyond_what_is_looked_at_opens_the_clump_anew(session: SlideSession) -> None:
    first, _, _ = neighbours(session)
    piece = session.open_at(first)
    row, column = session.seeds[first - 1].astype(float).tolist()
    clumps = session.show_clumps(Box(0, 0, *session.run.record.shape))
    ends = [(0.0, column), (session.run.record.shape[0] - 1.0, column), (row, 0.0)]
    for end in ends:
        along = np.rint(np.linspace((row, column), end, 400)).astype(int)
        far = not (piece.box.top <= end[0] < piece.box.bottom and piece.box.left <= end[1] < piece.box.right)
        if far and set(np.unique(clumps[tuple(along.T)])) <= {0, piece.number}:
            session.make(PaintClump(((row, column), end), 0.4, inside=True))
            (opened,) = session.edited
            assert opened is not piece and opened.members == (piece.number,) and first in opened.numbers
            return
    pytest.skip("every way from the clump to the border meets another one")


def test_what_concerns_two_clumps_and_makes_them_no_one_is_refused(session: SlideSession) -> None:
    first, second, stroke = bridge(session)
    with pytest.raises(ValueError, match="two clumps; paint the clump between them first"):
        session.make(JoinNuclei(first, second))
    with pytest.raises(ValueError, match="two clumps; on a slide they are erased one by one"):
        session.make(replace(stroke, inside=False))
    assert not session.history


def test_without_the_ledger_cells_are_judged_and_not_corrected(session: SlideSession) -> None:
    shutil.rmtree(session.run.store.work)
    session.make(JudgeCell(1, "accepted"))
    with pytest.raises(ValueError, match="work/ of this slide is gone"):
        session.make(DeleteCell(1))
