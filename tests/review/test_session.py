"""Edits change their clump and no other, and leave nothing behind once they are undone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

import declump
from declump.records.segmentation import Segmentation
from declump.review import Session
from declump.review.edits import (
    AddSeed,
    DeleteCell,
    Edit,
    JoinNuclei,
    JudgeCell,
    LabelCell,
    MarkSpot,
    MoveSeed,
    PaintClump,
    PartNucleus,
    PullOutline,
    read_edit,
)
from declump.review.found import read_found, write_found
from declump.review.state import Corrected
from support.reviews import found_smear


@pytest.fixture
def session() -> Session:
    return Session(*found_smear(seed=6))


def all_bytes(now: Corrected, result: Segmentation) -> list[bytes]:
    """Everything that results follow from, and the outlines."""
    arrays = [now.clump, now.nuclei, now.spots, now.seeds, now.probability, now.spot_probability, now.drawn]
    arrays += [result.seeds, result.radii, result.clump, result.second_nuclei]
    return [b"" if array is None else np.ascontiguousarray(array).tobytes() for array in arrays]


def draw_edit(session: Session, rng: np.random.Generator) -> Edit:
    """Any edit; many of them cannot be made."""
    height, width = session.state.clump.shape
    cell = int(rng.choice(session.numbers)) if session.numbers else 1
    row, column = (float(value) for value in rng.uniform(0, (height, width)))
    near = np.array(session.state.seed_of(cell)) + rng.normal(0, 25, 2) if session.numbers else np.zeros(2)
    other = int(rng.choice(session.numbers)) if session.numbers else 2
    seed = session.state.seed_of(cell) if session.numbers else (0.0, 0.0)
    kinds: list[Edit] = [
        AddSeed(row, column),
        MoveSeed(cell, float(near[0]), float(near[1])),
        DeleteCell(cell),
        MarkSpot(cell, str(rng.choice(["leukocyte", "other"]))),
        JoinNuclei(cell, other),
        PartNucleus(cell, seed[0], seed[1] - 20, seed[0], seed[1] + 20.5),
        PaintClump(((row, column), (row + 10, column + 10)), float(rng.uniform(2, 15)), bool(rng.random() < 0.5)),
        PullOutline(cell, float(near[0]), float(near[1])),
        JudgeCell(cell, str(rng.choice(["accepted", "rejected", ""]))),
        LabelCell(cell, "LSIL"),
    ]
    return kinds[rng.integers(len(kinds))]


def test_without_edits_the_cells_are_those_of_the_image(session: Session) -> None:
    plain, result = declump.segment(session.image), session.evolve()
    for name in ("seeds", "radii", "clump", "nuclei", "nucleus_probability"):
        np.testing.assert_array_equal(getattr(result, name), getattr(plain, name))
    assert result.clumps == plain.clumps and result.others.to_columns() == plain.others.to_columns()


def test_two_hundred_edits_undone_are_the_original_bytes_and_redone_the_edited_ones(session: Session) -> None:
    rng = np.random.default_rng(0)
    start = all_bytes(session.corrected, session.evolve())
    made = 0
    while made < 200:
        try:
            session.make(draw_edit(session, rng))
        except ValueError:
            continue
        made += 1
    edited = all_bytes(session.corrected, session.evolve())
    assert edited != start
    while session.undo():
        pass
    assert all_bytes(session.corrected, session.evolve()) == start
    while session.redo():
        pass
    assert all_bytes(session.corrected, session.evolve()) == edited and len(session.history) == 200


@pytest.mark.parametrize("seed", range(3))
def test_outlines_are_those_of_a_cold_start_after_any_edits(session: Session, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(6):
        made = None
        while made is None:
            try:
                made = session.make(draw_edit(session, rng))
            except ValueError:
                continue
        result = session.evolve()
    fresh = Session(*found_smear(seed=6))
    for change in session.history:
        fresh.make(change.edit)
    cold = fresh.evolve()
    assert cold.radii.tobytes() == result.radii.tobytes() and cold.clumps == result.clumps


@pytest.mark.parametrize("kind", [DeleteCell, MoveSeed, PullOutline, MarkSpot, AddSeed])
def test_an_edit_changes_no_other_clump(session: Session, kind: type[Edit]) -> None:
    before = session.evolve()
    row = int(np.argmax(np.bincount(before.clump)[before.clump]))
    number, (top, left) = session.numbers[row], before.seeds[row]
    others = {n: before.radii[i] for i, n in enumerate(session.numbers) if before.clump[i] != before.clump[row]}
    edits: dict[type[Edit], Edit] = {
        DeleteCell: DeleteCell(number),
        MoveSeed: MoveSeed(number, top + 14, left),
        PullOutline: PullOutline(number, top + before.radii[row, 90] + 8, left),
        MarkSpot: MarkSpot(number, "leukocyte"),
        AddSeed: AddSeed(top + 14, left + 3),
    }
    session.make(edits[kind])
    after = session.evolve()
    assert others and not np.array_equal(before.radii.sum(), after.radii.sum())
    for n, radii in others.items():
        assert after.radii[session.numbers.index(n)].tobytes() == radii.tobytes()


def test_only_the_changed_clump_evolves(session: Session) -> None:
    before = session.evolve()
    gone = session.numbers[0]
    clump = {n for n, label in zip(session.numbers, before.clump, strict=True) if label == before.clump[0]} - {gone}
    session.make(DeleteCell(gone))
    touched: set[int] = set()
    session.evolve(lambda cells, radii: touched.update(session.numbers[cell] for cell in cells))
    assert touched == clump


def test_a_dragged_outline_goes_where_it_was_dragged(session: Session) -> None:
    before = session.evolve()
    row = 0
    target = before.radii[row, 90] + 10
    session.make(PullOutline(session.numbers[row], before.seeds[row, 0] + target, before.seeds[row, 1]))
    after = session.evolve()
    assert abs(after.radii[row, 90] - target) < abs(before.radii[row, 90] - target) / 2


def test_a_marked_nucleus_is_no_cell_but_a_leukocyte(session: Session) -> None:
    number = session.numbers[2]
    place = session.state.seed_of(number)
    session.make(MarkSpot(number, "leukocyte"))
    result = session.evolve()
    assert result.others is not None and number not in session.numbers
    nearest = np.hypot(*(result.others.places - place).T).argmin()
    assert result.others.kinds[nearest] == "leukocyte" and result.others.probability[nearest] == 0
    session.make(AddSeed(*place))
    again = session.evolve()
    assert again.others is not None and len(again.others) == len(result.others) - 1


def test_parting_and_joining_a_nucleus(session: Session) -> None:
    number, (row, column) = session.numbers[0], session.state.seed_of(session.numbers[0])
    start = all_bytes(session.corrected, session.evolve())
    session.make(PartNucleus(number, row, column - 30, row + 0.5, column + 30))
    assert len(session.numbers) == len(session.found.result) + 1
    session.make(JoinNuclei(number, session.numbers[-1]))
    assert all_bytes(session.corrected, session.evolve()) == start


def test_what_cannot_be_is_refused_and_changes_nothing(session: Session) -> None:
    start = all_bytes(session.corrected, session.evolve())
    number = session.numbers[0]
    outside = np.argwhere(~session.state.clump)[0].astype(float)
    for edit, reason in (
        (AddSeed(*outside), "paint it in first"),
        (AddSeed(-10.0, 5.0), "outside the image"),
        (AddSeed(*session.state.seed_of(number)), "nucleus of cell"),
        (DeleteCell(10_000), "no cell 10000 any more"),
        (JoinNuclei(number, number), "given was one twice"),
        (PartNucleus(number, 0.0, 0.0, 0.0, 1.0), "does not part"),
        (PaintClump(((-50.0, -50.0),), 3.0, True), "outside the image"),
        (PullOutline(number, *map(float, np.rint(session.state.seed_of(number)))), "own seed"),
    ):
        with pytest.raises(ValueError, match=reason):
            session.make(edit)
    assert all_bytes(session.corrected, session.evolve()) == start and not session.history


def test_a_replayed_log_leads_to_the_same_bytes(session: Session) -> None:
    rng = np.random.default_rng(7)
    lines: list[str] = []
    while len(lines) < 30:
        if session.history and rng.random() < 0.2:
            session.undo()
            lines.append(json.dumps({"edit": "undo", "id": "x"}))
            continue
        edit = draw_edit(session, rng)
        try:
            session.make(edit)
        except ValueError:
            continue
        lines.append(json.dumps({**edit.to_record(), "id": "x"}))
    again = Session(*found_smear(seed=6))
    for line in lines:
        again.replay(json.loads(line))
    assert all_bytes(again.corrected, again.evolve()) == all_bytes(session.corrected, session.evolve())
    assert again.numbers == session.numbers


def test_clumps_as_they_were_found_are_not_solved_again(session: Session) -> None:
    evolved: list[Any] = []
    found = session.evolve(lambda *step: evolved.append(step))
    assert not evolved and found.radii.tobytes() == session.found.result.radii.tobytes()


def test_what_was_found_is_read_back(session: Session, tmp_path: Path) -> None:
    write_found(session.found, {"image": "x"}, tmp_path / "found.npz")
    found, origin = read_found(tmp_path / "found.npz")
    assert origin == {"image": "x"} and found.statistics == session.found.statistics
    again = Session(session.image, found)
    assert all_bytes(again.corrected, again.evolve()) == all_bytes(session.corrected, session.evolve())
    for one in (session, again):
        one.make(DeleteCell(one.numbers[0]))
    assert all_bytes(again.corrected, again.evolve()) == all_bytes(session.corrected, session.evolve())


def test_an_edit_of_another_shape_is_refused() -> None:
    for record, reason in (
        ({"edit": "explode"}, "no edit 'explode'"),
        ({"edit": "add seed", "row": 1}, "needs column, row"),
        ({"edit": "add seed", "row": 1, "column": float("nan")}, "finite"),
        ({"edit": "add seed", "row": True, "column": 2}, "finite"),
        ({"edit": "delete cell", "cell": "1"}, "whole number"),
        ({"edit": "judge cell", "cell": 1, "verdict": "maybe"}, "verdict"),
        ({"edit": "label cell", "cell": 1, "label": "x" * 81}, "80 letters"),
        ({"edit": "paint clump", "points": [[1, 2], [3]], "radius": 3, "inside": True}, "rows and columns"),
        ({"edit": "paint clump", "points": [], "radius": 3, "inside": True}, "points"),
        ({"edit": ["add seed"]}, "no edit"),
    ):
        with pytest.raises(ValueError, match=reason):
            read_edit(record)


def test_a_spot_that_is_too_large_for_a_nucleus_is_not_taken_whole() -> None:
    taken = 0
    for number in Session(*found_smear(seed=6)).numbers[:6]:
        session = Session(*found_smear(seed=6))
        state, place = session.state, session.state.seed_of(number)
        session.make(DeleteCell(number))
        spot = max(state.spots)
        around = ndimage.binary_dilation(state.spots_image == spot, iterations=25)
        state.spots_image[around & state.clump & (state.nuclei == 0) & (state.spots_image == 0)] = spot
        large = np.count_nonzero(state.spots_image == spot)
        session.make(AddSeed(*place))
        nucleus = np.count_nonzero(state.nuclei == max(state.cells))
        assert nucleus < large / 2
        assert (spot in state.spots) == (state.spots_image == spot).any() == (nucleus == 0)
        taken += nucleus > 0
    assert taken
