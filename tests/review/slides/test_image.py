"""A reviewed slide is saved whole: corrected clumps from their regions, all others to the byte as they were."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from declump.io import open_slide_result
from declump.review import list_unsaved
from declump.review.edits import DeleteCell, Edit, JudgeCell, LabelCell, PullOutline
from declump.review.session import Session
from declump.review.slides.image import NOTES, ReviewedSlide
from declump.review.slides.pieces import OpenPiece
from declump.slides.cells import quantise
from support.bridged_clumps import bridge
from support.reviews import save_again


def files(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}


def make(image: ReviewedSlide, *edits: Edit) -> None:
    for number, edit in enumerate(edits):
        image.session.make(edit)
        image.log.append(edit.to_record(), f"edit-{len(image.log.records)}-{number}")


def pulled(image: ReviewedSlide, number: int) -> PullOutline:
    row, column = image.session.seeds[number - 1].astype(float).tolist()
    return PullOutline(number, row + 35, column)


def test_edits_that_are_undone_leave_the_same_bytes(slide_results: Path) -> None:
    before, image = files(slide_results), ReviewedSlide(slide_results)
    make(image, DeleteCell(3), pulled(image, 8))
    for name in ("undo", "undo"):
        image.session.replay({"edit": name})
    image.save()
    image.close()
    after = files(slide_results)
    assert {name for name in before if before[name] != after[name]} == {"summary.json"}


def test_a_corrected_clump_is_a_cold_start_and_others_stay(slide_results: Path) -> None:
    before, image = open_slide_result(slide_results).read_window(), ReviewedSlide(slide_results)
    make(image, pulled(image, 3), JudgeCell(3, "accepted"), LabelCell(8, "LSIL"), DeleteCell(4))
    image.save()
    (piece,) = image.session.edited
    assert isinstance(piece, OpenPiece)
    view = piece.view
    cold = Session(piece.session.image, piece.session.found, image.run.record.options.cells, view.channels)
    for change in piece.session.history:
        cold.make(change.edit)
    expected = cold.evolve()
    image.close()
    after = open_slide_result(slide_results).read_window()
    at = {tuple(seed): radii for seed, radii in zip(after.seeds.tolist(), after.radii, strict=True)}
    assert len(after) == len(before) - 1
    corner = np.array([piece.box.top, piece.box.left])
    for seed, radii in zip((expected.seeds + corner).astype(int).tolist(), expected.radii, strict=True):
        np.testing.assert_array_equal(at[tuple(seed)], quantise(radii) / 16)
    for number, seed, radii in zip(before.ids, before.seeds.tolist(), before.radii, strict=True):
        if number not in piece.found:
            np.testing.assert_array_equal(at[tuple(seed)], radii)
    with (slide_results / NOTES).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["verdict"], row["label"]) for row in rows] == [("accepted", ""), ("", "LSIL")]
    place = after.seeds[after.ids == int(rows[0]["id"])][0].tolist()
    assert place == before.seeds[2].tolist() == [int(rows[0]["seed_row"]), int(rows[0]["seed_column"])]


def test_clumps_that_were_joined_are_saved_as_one(slide_results: Path) -> None:
    before, image = open_slide_result(slide_results).read_window(), ReviewedSlide(slide_results)
    first, second, stroke = bridge(image.session)
    make(image, pulled(image, first), stroke)
    image.save()
    (piece,) = image.session.edited
    image.close()
    after = open_slide_result(slide_results).read_window()
    at = {tuple(seed): row for row, seed in enumerate(after.seeds.tolist())}
    assert len(at) == len(after) == len(before) - len(piece.found) + len(piece.numbers)
    clumps = {int(after.columns["clump"][at[tuple(before.seeds[number - 1].tolist())]]) for number in (first, second)}
    assert clumps == {piece.clump}
    for number, seed, radii in zip(before.ids, before.seeds.tolist(), before.radii, strict=True):
        if number not in piece.found:
            np.testing.assert_array_equal(after.radii[at[tuple(seed)]], radii)
    saved = files(slide_results)
    save_again(slide_results)
    assert files(slide_results) == saved


def test_the_log_gives_the_same_files_again(slide_results: Path) -> None:
    image = ReviewedSlide(slide_results)
    make(image, pulled(image, 3), DeleteCell(8))
    image.close()
    assert [entry.folder for entry in list_unsaved(slide_results)] == [slide_results]
    save_again(slide_results)
    assert len(open_slide_result(slide_results).read_window()) == len(image.session.ids) - 1
    assert not list_unsaved(slide_results)
    saved = files(slide_results)
    save_again(slide_results)
    assert files(slide_results) == saved
    again = ReviewedSlide(slide_results)
    assert again.session.revision == 2 and not again.session.has_cell(8)
    again.close()


def test_a_log_of_another_run_is_put_aside(slide_results: Path) -> None:
    image = ReviewedSlide(slide_results)
    make(image, JudgeCell(1, "accepted"))
    image.close()
    log = slide_results / "review" / "edits.jsonl"
    head, *lines = log.read_text().splitlines()
    log.write_text("\n".join([json.dumps({**json.loads(head), "found": "of another"}), *lines]) + "\n")
    anew = ReviewedSlide(slide_results)
    assert not anew.session.history and (slide_results / "review" / "edits-1.jsonl").is_file()
    anew.close()


def test_links_out_of_the_folder_are_refused(slide_results: Path, tmp_path: Path) -> None:
    (slide_results / "review").symlink_to(tmp_path)
    with pytest.raises(FileExistsError):
        ReviewedSlide(slide_results)
