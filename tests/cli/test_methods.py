"""``declump segment --method`` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import declump
from declump import simulate
from declump.compared import find_method
from support.waiting import LIMIT

SMEAR = simulate.smear((300, 340), cells=5, overlap=0.3, blur=0.5, debris=0, rng=1)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "declump.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("images") / "smear.png"
    Image.fromarray(SMEAR.image).save(path)
    return path


@pytest.mark.slow
def test_another_method_gives_the_same_files_and_is_resumed_told_and_reported(image: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("segment", image, "-o", out, "--regions", "classical", "-j", 1, "--method", "mpw")
    ended = run(*command)
    assert ended.returncode == 0 and ended.stderr == "", ended.stderr
    found = declump.io.read_contours(out / "smear" / "contours.json")
    assert len(found) == 5 and declump.score(SMEAR.cells, found.masks).dice_all > 0.7
    assert {record.stopped for record in found.clumps} == {"masks"}
    regions = declump.find_regions(declump.io.read_image(image), model="classical")
    again = find_method("mpw")(declump.io.read_image(image), regions)
    assert abs(again.radii - found.radii).max() < 0.01
    told = json.loads((out / "run.json").read_text())
    assert told["settings"]["method"] == "mpw" and "--method mpw" in told["command"]
    resumed = run(*command, "--resume")
    assert resumed.returncode == 0 and "done earlier" in resumed.stdout
    other = run(*command[:-1], "cf", "--resume")
    assert other.returncode == 1 and "method was 'mpw', now 'cf'" in other.stderr
    assert "cells     5" in run("info", out / "smear" / "contours.json").stdout
    reported = run("report", out)
    assert reported.returncode == 0, reported.stderr
    assert "mpw" in (out / "report.html").read_text()


def test_what_a_method_does_not_heed_is_refused_in_one_sentence(image: Path, tmp_path: Path) -> None:
    for arguments, sentence in (
        (("snake",), "there is no method 'snake'; the methods are declump, "),
        (("mpw", "--evidence", "rays"), "evidence would change nothing with the method mpw; leave it out"),
        (("cf", "--prior", tmp_path / "none.npz"), "there is no prior at"),
    ):
        ended = run("segment", image, "-o", tmp_path / "out", "--regions", "classical", "--method", *arguments)
        assert ended.returncode == 1, arguments
        assert ended.stdout == "" and sentence in ended.stderr and ended.stderr.count("\n") == 1
        assert not (tmp_path / "out").exists()
