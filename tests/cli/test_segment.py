"""``declump segment`` and ``declump train regions`` as a user meets them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image, ImageFilter

import declump
from declump import simulate
from support.waiting import LIMIT

SMEAR = simulate.smear((300, 340), cells=5, overlap=0.3, blur=0.5, debris=0, rng=1)
QUICK = ("--evidence", "clump")


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "declump.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, cwd=cwd)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("images")
    Image.fromarray(SMEAR.image).save(path / "colour.png")
    Image.fromarray(255 - SMEAR.image).save(path / "inverted.png")
    Image.fromarray(SMEAR.image).convert("L").convert("1").save(path / "onebit.png")
    tifffile.imwrite(path / "deep.tif", SMEAR.image.astype(np.uint16) * 257, photometric="rgb", tile=(64, 64))
    Image.fromarray(np.full((40, 50), 255, np.uint8)).save(path / "blank.png")
    Image.fromarray(np.full((1, 1), 9, np.uint8)).save(path / "dot.png")
    (path / "notes.txt").write_text("no image")
    return path


@pytest.mark.slow
def test_a_folder_of_images_becomes_a_folder_of_results(folder: Path, tmp_path: Path) -> None:
    formats = "coco,geojson,imagej,csv,parquet,tiff,zarr,png"
    ended = run("segment", folder, "-o", tmp_path / "out", *QUICK, "--format", formats)
    assert ended.returncode == 0, ended.stderr
    warned = {Path(line.split(": ")[2]).name: line.split(": ")[3] for line in ended.stderr.splitlines()}
    assert warned == {"blank.png": "no cell was found in it", "dot.png": "no cell was found in it"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "colour", "inverted", "onebit", "deep", "blank", "dot", "run.json", "images.csv", "coco.json"
    }  # fmt: skip
    assert {path.name for path in (tmp_path / "out" / "colour").iterdir()} == {
        "cells.csv", "cells.geojson", "cells.ome.zarr", "cells.parquet", "clumps.csv", "coco.json", "contours.json",
        "label-planes.tif", "labels-flat-lossy.tif", "others.csv", "overlay.png", "rois.zip", "summary.json",
    }  # fmt: skip
    found = declump.io.read_contours(tmp_path / "out" / "colour" / "contours.json")
    deep = declump.io.read_contours(tmp_path / "out" / "deep" / "contours.json")
    assert len(found) == len(deep) == 5
    assert declump.score(SMEAR.cells, found.masks).dice_all > 0.7
    assert len(declump.io.read_contours(tmp_path / "out" / "blank" / "contours.json")) == 0
    with (tmp_path / "out" / "colour" / "cells.csv").open() as table:
        rows = list(csv.DictReader(table))
    assert len(rows) == 5 and {"confidence", "nucleus_to_cytoplasm_area_ratio", "overlap_degree"} <= set(rows[0])
    with (tmp_path / "out" / "images.csv").open() as table:
        cells = {row["name"]: row["cells"] for row in csv.DictReader(table)}
    assert cells["colour"] == "5" and cells["blank"] == cells["dot"] == "0"


def test_leukocytes_doubtful_cells_and_blur_are_told(here: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    smear = simulate.smear((260, 280), cells=5, overlap=0.3, debris=8, stain="grey", rng=12)
    Image.fromarray(smear.image).save(tmp_path / "sharp.png")
    Image.fromarray(smear.image).filter(ImageFilter.GaussianBlur(5)).save(tmp_path / "soft.png")
    code, _, errors = here(
        "segment", tmp_path / "sharp.png", tmp_path / "soft.png", "-o", tmp_path / "all", "--others", "--jobs", 1
    )
    assert code == 0 and "soft.png: " in errors
    with (tmp_path / "all" / "images.csv").open() as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert rows["sharp"]["quality"] == "good" and rows["soft"]["quality"] in ("out of focus", "empty")
    found = declump.io.read(tmp_path / "all" / "sharp")
    assert found.others is not None and int(rows["sharp"]["others"]) == len(found.others)
    with (tmp_path / "all" / "sharp" / "others.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(found.others)
    trusted = tmp_path / "trusted"
    code, _, _ = here(
        "segment", tmp_path / "sharp.png", "-o", trusted, "--min-confidence", 0.9, "--min-nucleus", 0.3, "--jobs", 1
    )
    summary = json.loads((trusted / "sharp" / "summary.json").read_text())
    everything = here("segment", tmp_path / "sharp.png", "-o", tmp_path / "lax", "--min-nucleus", 0.3, "--jobs", 1)
    assert code == everything[0] == 0
    left = len(declump.io.read(trusted / "sharp"))
    assert left + summary["cells_left_out"] == len(declump.io.read(tmp_path / "lax" / "sharp"))
    command = json.loads((tmp_path / "all" / "run.json").read_text())["command"]
    assert command.endswith("--others")


@pytest.mark.slow
def test_pages_and_sizes_of_pixels(tmp_path: Path) -> None:
    """Each page is an image; metadata tells the size of a pixel, unless the command does."""
    size = {"PhysicalSizeX": 300, "PhysicalSizeXUnit": "nm", "PhysicalSizeY": 300, "PhysicalSizeYUnit": "nm"}
    tifffile.imwrite(tmp_path / "slide.ome.tif", SMEAR.image, metadata={"axes": "YXS", **size})
    tifffile.imwrite(tmp_path / "pages.tif", np.stack([SMEAR.image] * 2), photometric="rgb")
    stack = np.stack([SMEAR.image[..., 0]] * 4)
    tifffile.imwrite(tmp_path / "channels.ome.tif", stack, metadata={"axes": "CYX"}, photometric="minisblack")
    ended = run("segment", "*.tif", "-o", "out", *QUICK, cwd=tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        "declump: 1 of 4 images failed:",
        "declump: channels.ome.tif: has 4 channels; give a grey image or one in red, green and blue, or save the "
        "channel you mean",
    ]
    assert "pixels of 0.3 µm (OME metadata)" in ended.stdout
    content = json.loads((tmp_path / "out" / "run.json").read_text())
    images = {image["name"]: image for image in content["images"]}
    assert set(images) == {"slide", "channels", "pages-page0001", "pages-page0002"}
    assert images["pages-page0002"]["page"] == 2 and images["pages-page0002"]["cells"] == 5
    assert (images["slide"]["pixel_size"], images["slide"]["pixel_size_from"]) == (0.3, "OME metadata")
    assert images["channels"]["status"] == "failed" and "4 channels" in images["channels"]["reason"]
    assert "area_um2" in (tmp_path / "out" / "slide" / "cells.csv").read_text().splitlines()[0]
    with (tmp_path / "out" / "images.csv").open() as table:
        rows = {row["name"]: row for row in csv.DictReader(table)}
    assert rows["slide"]["height_um"] == "90" and rows["pages-page0001"]["height_um"] == ""
    ended = run("segment", tmp_path / "slide.ome.tif", "-o", tmp_path / "own", *QUICK, "--pixel-size", 0.25)
    assert json.loads((tmp_path / "own" / "run.json").read_text())["images"][0]["pixel_size"] == 0.25
    assert str(tmp_path / "own" / "slide" / "overlay.png") in ended.stdout


def test_errors_are_one_sentence_and_leave_nothing(
    here: Callable[..., tuple[int, str, str]], folder: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    Image.new("L", (9, 9)).save(tmp_path / "colour.tif")
    for name in ("notes.txt", "frame.svs"):
        (tmp_path / name).write_text("no image")
    for arguments, word in (
        ((tmp_path / "nowhere.png",), "no file"),
        ((tmp_path / "*.gif",), "holds no image"),
        ((tmp_path / "notes.txt", folder / "colour.png"), "notes.txt is no image that declump reads"),
        ((tmp_path / "frame.svs",), "give it to 'declump slide'"),
        ((empty,), "holds no image"),
        ((folder / "colour.png", "--format", "csv,bmp"), "no format 'bmp'; the formats are masks, contours, csv"),
        ((folder / "colour.png", "--regions", tmp_path / "none.onnx"), "no region model"),
        ((folder / "colour.png", "--judge", tmp_path / "none.onnx"), "judge must be 'default' with this region model"),
        ((folder / "colour.png", "--rays", tmp_path / "none.onnx"), "no ray model"),
        ((folder / "colour.png", *QUICK, "--prior", tmp_path / "none.npz"), "no prior"),
        ((folder / "colour.png", *QUICK, "--pixel-size", "-1"), "pixel size"),
        ((folder / "colour.png", tmp_path / "colour.tif"), "two images are called colour"),
    ):
        code, told, error = here("segment", *arguments, "-o", tmp_path / "out")
        assert (code, told) == (1, ""), arguments
        assert word in error and error.count("\n") == 1
        assert not (tmp_path / "out").exists()


def test_a_folder_that_may_not_be_written_to(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "out").mkdir()
        Path(place).chmod(0o755)
        (Path(place) / "out").chmod(0o555)
        arguments = ["segment", str(folder / "colour.png"), "-o", f"{place}/out"]
        # Root may write anywhere, so the command asks as if it were somebody else.
        program = (
            "import os, sys; from declump import cli; access = os.access\n"
            "may = lambda path, mode: mode != os.W_OK or bool(os.stat(path).st_mode & 0o222)\n"
            "os.access = lambda path, mode: access(path, mode) and may(path, mode)\n"
            f"sys.argv = ['declump', *{arguments!r}]; cli.main()"
        )
        ended = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=LIMIT, check=False
        )
        assert (ended.returncode, ended.stdout) == (1, "")
        assert "may not be written to" in ended.stderr and ended.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_model_can_be_trained_and_used(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs the extra 'train'")
    simulate.write(simulate.smear((200, 200), cells=3, rng=1), tmp_path / "data" / "one")
    simulate.write(simulate.smear((200, 200), cells=3, rng=2), tmp_path / "data" / "two")
    command = ("train", "regions", tmp_path / "data", "-o", tmp_path / "model.onnx", "--held-out", "two")
    ended = run(*command, "--steps", 2, "--simulated", 1, "--size", 1)
    assert ended.returncode == 0, ended.stderr
    assert "cytoplasm_dice" in ended.stdout
    again = run(*command)
    assert again.returncode == 1 and "exists" in again.stderr
    model = ("--regions", tmp_path / "model.onnx", "--evidence", "clump")
    ended = run("segment", folder / "colour.png", "-o", tmp_path / "out", *model)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out" / "colour" / "overlay.png").exists()


def test_names_do_no_harm_to_a_terminal_that_knows_few_letters(tmp_path: Path) -> None:
    """An emoji that a terminal lacks, and a sequence that would set its title."""
    for name in ("smile 😀.png", "title \x1b]0;mine\a.png"):
        Image.fromarray(SMEAR.image[:80, :80]).save(tmp_path / name)
    command = [sys.executable, "-m", "declump.cli", "segment", str(tmp_path), "-o", str(tmp_path / "out"), *QUICK]
    surroundings = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    ended = subprocess.run(command, capture_output=True, timeout=LIMIT, check=False, env=surroundings)
    assert ended.returncode == 1 and b"\x1b" not in ended.stdout + ended.stderr
    assert rb"smile \U0001f600.png: " in ended.stdout and b"1 of 2 images failed" in ended.stderr


def test_without_a_folder_results_lie_beside_the_image_and_numbers_can_be_seen(
    here: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    Image.fromarray(SMEAR.image).save(tmp_path / "smear.png")
    assert here("segment", tmp_path / "smear.png", *QUICK)[0] == 0
    assert here("segment", tmp_path / "smear.png", *QUICK, "--numbers", "-o", tmp_path / "numbered")[0] == 0
    plain, numbered = (
        np.asarray(Image.open(tmp_path / name / "smear" / "overlay.png")) for name in ("smear-declump", "numbered")
    )
    assert plain.shape == numbered.shape and (plain != numbered).any()
    assert here("segment", tmp_path / "smear.png", tmp_path / "b.png", *QUICK)[0] == 2
    assert here("segment", str(tmp_path / "*.png"), *QUICK)[0] == 2
    before = sorted(tmp_path.iterdir())
    code, _, said = here("segment", tmp_path / "typing-error.png", *QUICK)
    assert code == 1 and "there is no file" in said and sorted(tmp_path.iterdir()) == before


def test_shells_complete_commands() -> None:
    surroundings = {**os.environ, "_DECLUMP_COMPLETE": "complete_bash", "COMP_WORDS": "declump seg", "COMP_CWORD": "1"}
    command = [sys.executable, "-m", "declump.cli"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, env=surroundings)
    assert ended.stdout.split() == ["segment"]
