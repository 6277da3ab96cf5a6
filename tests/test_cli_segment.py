"""``declump segment`` and ``declump train regions`` as a user meets them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

import declump
from declump import simulate

SMEAR = simulate.smear((300, 340), cells=5, overlap=0.3, blur=0.5, debris=0, rng=12)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "declump.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("images")
    Image.fromarray(SMEAR.image).save(path / "colour.png")
    Image.fromarray(255 - SMEAR.image).save(path / "inverted.png")
    Image.fromarray(SMEAR.image).convert("L").convert("1").save(path / "onebit.png")
    tifffile.imwrite(path / "deep.tif", SMEAR.image.astype(np.uint16) * 257, photometric="rgb")
    Image.fromarray(np.full((40, 50), 255, np.uint8)).save(path / "blank.png")
    Image.fromarray(np.full((1, 1), 9, np.uint8)).save(path / "dot.png")
    (path / "notes.txt").write_text("no image")
    return path


def test_a_folder_of_images_becomes_a_folder_of_results(folder: Path, tmp_path: Path) -> None:
    ended = run("segment", folder, "-o", tmp_path / "out", "--regions", "classical")
    assert ended.returncode == 0, ended.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "colour", "inverted", "onebit", "deep", "blank", "dot"
    }  # fmt: skip
    found = declump.io.read_contours(tmp_path / "out" / "colour" / "contours.json")
    deep = declump.io.read_contours(tmp_path / "out" / "deep" / "contours.json")
    assert len(found) == len(deep) == 5
    assert declump.score(SMEAR.cells, found.masks).dice_all > 0.7
    assert len(declump.io.read_contours(tmp_path / "out" / "blank" / "contours.json")) == 0


def test_errors_are_one_sentence_and_leave_nothing(folder: Path, tmp_path: Path) -> None:
    nan = tmp_path / "nan.tif"
    tifffile.imwrite(nan, np.full((20, 20), np.nan, np.float32))
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments, word in (
        ((tmp_path / "nowhere.png",), "no file"),
        ((nan,), "NaN"),
        ((empty,), "no image"),
        ((folder / "colour.png", "--regions", tmp_path / "none.onnx"), "no region model"),
        ((folder / "colour.png", "--pixel-size", "-1", "--regions", "classical"), "pixel size"),
        ((folder / "colour.png", folder / "colour.png"), "two images"),
    ):
        ended = run("segment", *arguments, "-o", tmp_path / "out")
        assert ended.returncode == 1, arguments
        assert word in ended.stderr
        assert ended.stderr.count("\n") == 1
        assert not (tmp_path / "out").exists()


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
    ended = run("segment", folder / "colour.png", "-o", tmp_path / "out", "--regions", tmp_path / "model.onnx")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out" / "colour" / "overlay.png").exists()
