"""``declump compare`` as a user meets it."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from declump import simulate
from support.waiting import LIMIT

QUICK = ("--methods", "mpw,cf")


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "declump.cli", "compare", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)


@pytest.fixture(scope="module")
def smear(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("smears") / "one"
    simulate.write(simulate.smear((200, 240), cells=4, overlap=0.3, blur=0.5, debris=0, rng=1), path)
    return path


def test_methods_side_by_side(smear: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = run(smear / "image.png", "-o", out, "--truth", smear, *QUICK)
    assert ended.returncode == 0 and ended.stderr == "", ended.stderr
    assert {path.name for path in out.iterdir()} == {"comparison.png", "comparison.csv", "comparison.md"}
    with (out / "comparison.csv").open() as table:
        rows = {row["method"]: row for row in csv.DictReader(table)}
    assert list(rows) == ["mpw", "cf"]
    for name, row in rows.items():
        assert float(row["dice_all"]) > 0.7 and float(row["seconds"]) > 0
        assert f"{float(row['dice_all']):.3f}" in next(
            line for line in ended.stdout.splitlines() if f" {name} " in line
        )
    assert str(out / "comparison.png") in ended.stdout
    again = run(smear / "image.png", "-o", out, *QUICK)
    assert again.returncode == 1 and "not empty" in again.stderr


def test_errors_are_one_sentence_and_leave_nothing(smear: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    simulate.write(simulate.smear((150, 150), cells=1, rng=2), other)
    image = smear / "image.png"
    for arguments, words in (
        ((tmp_path / "nowhere.png",), "nowhere.png"),
        ((image, "--methods", "mpw,snake"), "there is no method 'snake'; the methods are declump, "),
        ((image, *QUICK, "--truth", other), "the truth is of another image"),
        ((image, *QUICK, "--refined", "--regions", tmp_path / "none.onnx"), "there is no region model at"),
    ):
        ended = run(*arguments, "-o", tmp_path / "out")
        assert ended.returncode == 1, arguments
        assert ended.stdout == "" and words in ended.stderr
        assert ended.stderr.count("\n") == 1
        assert not (tmp_path / "out").exists()
