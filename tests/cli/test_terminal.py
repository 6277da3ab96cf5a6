"""The command line on a terminal: progress by stage, and what Ctrl-C says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from declump import simulate
from support.waiting import LIMIT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="there are no such terminals")]


def on_terminal(
    words: list[object], folder: Path, interrupt: Callable[[str], bool] = lambda _seen: False
) -> tuple[int, str]:
    """Run a command on a terminal of its own, and give its exit code and all that was seen; press Ctrl-C once."""
    import pty
    import select

    command = [sys.executable, "-m", "declump.cli", *map(str, words)]
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover (another process)
        os.chdir(folder)
        os.environ["COLUMNS"] = "140"
        os.execv(sys.executable, command)
    seen, pressed, end = b"", False, time.monotonic() + LIMIT
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                more = os.read(terminal, 65536)
            except OSError:  # the other side is gone
                break
            if not more:
                break
            seen += more
        if not pressed and interrupt(seen.decode(errors="replace")):
            os.write(terminal, b"\x03")
            pressed = True
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode(errors="replace")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("terminal") / "smear.png"
    Image.fromarray(simulate.smear((300, 300), cells=9, radius=36, rng=2).image).save(path)
    return path


OPTIONS = ("--evidence", "clump", "--format", "csv")


def test_a_single_image_shows_its_stages_on_a_terminal_and_nothing_elsewhere(image: Path) -> None:
    code, seen = on_terminal(["segment", image, "-o", image.parent / "shown", *OPTIONS], image.parent)
    assert code == 0
    stages = ["loading", "regions", "measurements", "writing"]
    places = [seen.find(stage) for stage in stages]
    assert places[1] >= 0 and [place for place in places if place >= 0] == sorted(
        place for place in places if place >= 0
    )
    words = [sys.executable, "-m", "declump.cli", "segment", str(image), "-o", str(image.parent / "quiet"), *OPTIONS]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=True)
    assert "regions" not in ended.stdout + ended.stderr and "━ 0/1" not in ended.stderr


def test_ctrl_c_says_what_is_done_and_how_to_go_on_after_the_bar(image: Path) -> None:
    out = image.parent / "stopped"
    code, seen = on_terminal(
        ["segment", image, "-o", out, *OPTIONS], image.parent, lambda seen: "reading" in seen or "regions" in seen
    )
    if code == 0:
        pytest.skip("it was done before the key was pressed")
    assert code == 130
    said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\n", seen).replace("\r", "\n").splitlines()
    assert (
        "declump: interrupted: 0 of 1 image done; the same command with --resume (and without --overwrite) goes on"
        in [line.strip() for line in said]
    )
    assert not list(out.rglob(".declump-*"))


def test_ctrl_c_in_a_command_that_writes_at_its_end_says_that_nothing_is_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:600, :600]
    clump, nuclei = np.zeros((600, 600), bool), np.zeros((600, 600), np.uint8)
    for row, column in rng.integers(60, 540, (100, 2)):
        clump |= np.hypot(rows - row, columns - column) < 40
        nuclei[row - 2 : row + 3, column - 2 : column + 3] = 255
    Image.fromarray(clump).save(tmp_path / "clump.png")
    Image.fromarray(nuclei).save(tmp_path / "nuclei.png")
    words = ["evolve", "--clump", "clump.png", "--nuclei", "nuclei.png", "-o", "out"]
    code, seen = on_terminal(words, tmp_path, lambda seen: "cells" in seen)
    if code == 0:
        pytest.skip("it was done before the key was pressed")
    assert code == 130 and not (tmp_path / "out").exists()
    assert "declump: interrupted: what was not finished has not been written; run the same command again" in seen
