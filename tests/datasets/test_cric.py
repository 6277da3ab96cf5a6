from __future__ import annotations

import json
from pathlib import Path

import imageio.v3 as imageio
import numpy as np
import pytest

from declump.datasets.cric import PARTS, read

CHECKOUT = Path(__file__).parents[2] / "marks" / "cric"
SQUARE = [[2.0, 3.0], [2.0, 12.5], [11.0, 12.5], [11.0, 3.0]]


def draw(folder: Path, part: str = "train", name: str = "a") -> Path:
    """Make an image and its marks; return the folder of the marks of the frame."""
    images, place = folder / "images", folder / "marks" / part / name
    images.mkdir(exist_ok=True)
    place.mkdir(parents=True)
    imageio.imwrite(images / f"{name}.png", np.full((20, 30, 3), 200, np.uint8))
    levels = np.zeros((20, 30), np.uint8)
    levels[2:12, 3:13], levels[15:, 20:] = 255, 128
    imageio.imwrite(place / "clump.png", levels)
    cell = {"nucleus": [6, 7.5], "outline": SQUARE, "confidence": 0.7, "hidden": True, "border": False}
    (place / "cells.json").write_text(json.dumps([cell]))
    nuclei = {"complete": True, "nuclei": [{"outline": [[5, 6], [5, 9], [8, 7]], "sure": False}]}
    (place / "nuclei.json").write_text(json.dumps(nuclei))
    (place / "points.csv").write_text("row,column,kind\n14,2.5,leukocyte\n1,1,background\n")
    return place


def test_all_that_is_drawn_is_read(tmp_path: Path) -> None:
    draw(tmp_path)
    (frame,) = read(tmp_path / "images", tmp_path / "marks")
    assert (frame.name, frame.part, frame.image.shape) == ("a", "train", (20, 30, 3))
    assert (frame.clump.sum(), frame.unknown.sum()) == (100, 50) and not (frame.clump & frame.unknown).any()
    (cell,) = frame.cells
    assert cell.outline.tolist() == SQUARE and cell.nucleus.tolist() == [6, 7.5]
    assert (cell.confidence, cell.is_hidden, cell.is_cut) == (0.7, True, False)
    (nucleus,) = frame.nuclei
    assert nucleus.outline.tolist() == [[5, 6], [5, 9], [8, 7]] and not nucleus.is_sure and frame.has_all_nuclei
    assert frame.points.tolist() == [[14, 2.5], [1, 1]] and frame.kinds == ("leukocyte", "background")


def test_parts_come_in_order_and_second_readings_only_when_asked_for(tmp_path: Path) -> None:
    for part, name in (("report", "b"), ("train", "d"), ("train", "c"), ("second", "b")):
        draw(tmp_path, part, name)
    places = tmp_path / "images", tmp_path / "marks"
    assert [(one.part, one.name) for one in read(*places)] == [("train", "c"), ("train", "d"), ("report", "b")]
    assert [one.name for one in read(*places, part="report")] == ["b"]
    assert [one.part for one in read(*places, part="second")] == ["second"]


def test_a_frame_without_points_has_none(tmp_path: Path) -> None:
    (draw(tmp_path) / "points.csv").write_text("row,column,kind\n")
    (frame,) = read(tmp_path / "images", tmp_path / "marks")
    assert frame.points.shape == (0, 2) and frame.kinds == ()


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("points.csv", "row,column,kind\n1,1,fly\n", "got 'fly'"),
        ("points.csv", "row,column\n1,1\n", "kind"),
        ("cells.json", "[{}]", "nucleus"),
        ("cells.json", "[", "cannot be read"),
        ("nuclei.json", '{"complete": true, "nuclei": [{"outline": [[1, 2]], "sure": true}]}', "at least 3 points"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path: Path, file: str, content: str, said: str) -> None:
    (draw(tmp_path) / file).write_text(content)
    with pytest.raises(ValueError, match=said):
        list(read(tmp_path / "images", tmp_path / "marks"))


@pytest.mark.parametrize(("levels", "said"), [((20, 29, 0), "shape"), ((20, 30, 7), "alone")])
def test_a_clump_that_does_not_fit_is_refused(tmp_path: Path, levels: tuple[int, int, int], said: str) -> None:
    imageio.imwrite(draw(tmp_path) / "clump.png", np.full(levels[:2], levels[2], np.uint8))
    with pytest.raises(ValueError, match=said):
        list(read(tmp_path / "images", tmp_path / "marks"))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="Nothing is drawn"):
        read(tmp_path, tmp_path)
    draw(tmp_path)
    (tmp_path / "images" / "a.png").unlink()
    with pytest.raises(FileNotFoundError, match="no image of the frame a"):
        list(read(tmp_path / "images", tmp_path / "marks"))
    with pytest.raises(ValueError, match="part must be"):
        read(tmp_path, tmp_path, part="test")


@pytest.mark.checkout
def test_the_drawn_frames_of_the_repository_are_whole(tmp_path: Path) -> None:
    rows = [line.split(",") for line in (CHECKOUT / "frames.csv").read_text().splitlines()[1:]]
    for row in rows:
        imageio.imwrite(tmp_path / f"{row[0]}.png", np.zeros((1020, 1376, 3), np.uint8), compress_level=1)
    frames = {one.name: one for part in PARTS for one in read(tmp_path, CHECKOUT, part)}
    assert len(rows) == len(frames) == 80
    for name, part, _, _, complete, look, _, cells, nuclei, points in rows:
        one = frames[name]
        assert (one.part, one.has_all_nuclei) == (part, complete == "1") and look in ("clean", "hard")
        assert (len(one.cells), len(one.nuclei), len(one.points)) == (int(cells), int(nuclei), int(points))
        assert one.clump.mean() > 0.01
