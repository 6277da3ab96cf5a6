"""A quick slice of what docs/reliability.md shows: awkward input, kills, and many images."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.waiting import LIMIT

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="processes are watched"),
]


@pytest.mark.parametrize(
    "words", [["fuzz.py", "--cases", "150", "--jobs", "1"], ["kills.py", "--kills", "3"], ["soak.py", "--images", "60"]]
)
def test_a_slice_of_the_long_runs(words: list[str]) -> None:
    command = [sys.executable, str(BENCHMARKS / words[0]), *words[1:]]
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, env=surroundings)
    assert ended.returncode == 0, ended.stdout + ended.stderr
