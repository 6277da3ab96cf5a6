"""A slide on the desk: cells by window, and edits told to all who look at it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the page needs the extra review: pip install 'declump[review]'")

from declump.review.albums import find_album
from declump.review.server import slide_desk
from declump.review.server.slide_desk import SlideDesk
from declump.review.server.slide_tiles import SlidePyramid
from declump.review.slides.image import ReviewedSlide
from declump.slides.readers import open_levels
from support.bridged_clumps import bridge
from support.waiting import wait_until


class Watched:
    """A desk, and what it told."""

    def __init__(self, results: Path) -> None:
        self.told: list[dict[str, Any]] = []
        entry = next(iter(find_album(results).entries.values()))
        pyramid = SlidePyramid(open_levels(entry.source.path))
        self.desk = SlideDesk(entry, ReviewedSlide(results), pyramid, self.told.append)
        self.made = 0

    def edit(self, **record: Any) -> dict[str, Any]:
        self.made += 1
        return self.desk.edit(record, f"edit-number-{self.made}")

    def settle(self) -> list[dict[str, Any]]:
        """What was told of the end of all edits."""
        wait_until(lambda: not self.desk.describe()["evolving"], "cells that evolved")
        return [message for message in self.told if message["type"] == "result"]

    def window(self) -> dict[str, Any]:
        return self.desk.window(0, 0, 10_000, 10_000)


@pytest.fixture
def watched(slide_results: Path) -> Iterator[Watched]:
    opened = Watched(slide_results)
    yield opened
    opened.desk.close()


def numbers(window: dict[str, Any]) -> set[int]:
    return {cell["n"] for cell in window["cells"]}


def test_a_window_tells_its_cells_and_no_others(watched: Watched) -> None:
    whole = watched.window()
    assert whole["outlined"] and whole["count"] == 14 and len(whole["cells"]) == 14 and whole["clump"]
    assert len(whole["measured"]["values"][0]) == 14
    part = watched.desk.window(0, 0, 200, 200)
    assert numbers(part) < numbers(whole)
    assert {cell["n"] for cell in whole["cells"] if max(cell["seed"]) < 200} <= numbers(part)


def test_from_afar_the_most_doubtful_cells_are_places(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slide_desk, "OUTLINED", 5)
    monkeypatch.setattr(slide_desk, "TOLD", 4)
    near = {cell["n"] for cell in watched.desk.window(0, 0, 200, 120)["cells"]}
    far = watched.window()
    assert not far["outlined"] and far["count"] == 14 and len(far["cells"]) == 4 and near
    assert all("radii" not in cell for cell in far["cells"])
    told = far["measured"]["values"][0]
    confidence = watched.desk.image.found.read_columns(("confidence",))["confidence"]
    np.testing.assert_allclose(told, np.sort(confidence)[:4], rtol=1e-4)


def test_doubtful_cells_come_in_order_until_all_are_judged(watched: Watched) -> None:
    confidence = watched.desk.image.found.read_columns(("confidence",))["confidence"]
    order = (np.argsort(confidence, kind="stable") + 1).tolist()
    first = watched.desk.find_doubtful(0)
    assert first is not None and first["n"] == order[0]
    second = watched.desk.find_doubtful(order[0])
    assert second is not None and second["n"] == order[1]
    watched.edit(edit="judge cell", cell=order[0], verdict="accepted")
    again = watched.desk.find_doubtful(0)
    assert again is not None and again["n"] == order[1]
    for number in order[1:]:
        watched.edit(edit="judge cell", cell=number, verdict="rejected")
    assert watched.desk.find_doubtful(0) is None


def test_edits_of_two_clumps_both_come_to_their_end(watched: Watched) -> None:
    before = {cell["n"]: cell["radii"] for cell in watched.window()["cells"]}
    session = watched.desk.image.session
    one = int(session.ids[0])
    other = int(session.ids[session.clumps != session.clumps[0]][0])
    for cell in (one, other):
        row, column = session.seeds[cell - 1].tolist()
        watched.edit(edit="pull outline", cell=cell, row=row + 40.0, column=float(column))
    assert watched.told[0]["type"] == "edited"
    assert watched.told[0]["starts"][0]["n"] == one
    watched.settle()
    after = {cell["n"]: cell["radii"] for cell in watched.window()["cells"]}
    assert after.keys() == before.keys()
    changed = {number for number in before if before[number] != after[number]}
    clumps = {int(session.clumps[number - 1]) for number in changed}
    assert {one, other} <= changed and clumps == {int(session.clumps[k - 1]) for k in (one, other)}
    watched.edit(edit="undo")
    watched.edit(edit="undo")
    watched.settle()
    assert {cell["n"]: cell["radii"] for cell in watched.window()["cells"]} == before
    with pytest.raises(ValueError, match="nothing to undo"):
        watched.edit(edit="undo")


def test_clumps_are_joined_and_parted_again(watched: Watched) -> None:
    before = {cell["n"]: cell["radii"] for cell in watched.window()["cells"]}
    lines = watched.window()["clump"]
    session = watched.desk.image.session
    first, second, stroke = bridge(session)
    row, column = session.seeds[first - 1].tolist()
    watched.edit(edit="pull outline", cell=first, row=row + 30.0, column=column + 30.0)
    watched.settle()
    pulled = {cell["n"]: cell["radii"] for cell in watched.window()["cells"]}
    watched.edit(**stroke.to_record())
    *_, result = watched.settle()
    assert {first, second} <= {cell["n"] for cell in result["cells"]}
    assert len(watched.window()["clump"]) < len(lines)
    watched.edit(edit="undo")
    watched.settle()
    assert {cell["n"]: cell["radii"] for cell in watched.window()["cells"]} == pulled
    assert len(watched.window()["clump"]) == len(lines)
    watched.edit(edit="undo")
    watched.settle()
    assert {cell["n"]: cell["radii"] for cell in watched.window()["cells"]} == before


def test_a_deleted_cell_is_gone_at_once_and_an_edit_sent_twice_is_made_once(watched: Watched) -> None:
    watched.edit(edit="delete cell", cell=3)
    assert watched.told[0]["gone"] == [3]
    watched.desk.edit({"edit": "delete cell", "cell": 3}, "edit-number-1")
    (result,) = watched.settle()
    assert 3 in result["gone"] and 3 not in {cell["n"] for cell in result["cells"]}
    assert watched.desk.describe()["edits"] == 1
    facts = watched.desk.save()
    assert facts["saved"] == facts["edits"] == 1


def test_a_chosen_cell_has_its_clump_opened(watched: Watched) -> None:
    watched.desk.look(1)
    watched.desk.look(999)
    (piece,) = watched.desk.image.session.pieces.values()
    assert 1 in piece.found and not piece.is_edited
