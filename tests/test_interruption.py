"""An interruption ends a process at whatever moment it arrives, and is one sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from declump import simulate
from support.waiting import LIMIT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
SCRIPT = """
import ctypes, os, signal, sys, time, weakref
from declump._interruption import Interrupted, Terminated, raise_on_signals

raise_on_signals()

class Thing:
    def __del__(self):
        os.kill(os.getpid(), NUMBER)
        time.sleep(0.01)

def weak(_):
    os.kill(os.getpid(), NUMBER)
    time.sleep(0.01)

@ctypes.CFUNCTYPE(None)
def callback():
    os.kill(os.getpid(), NUMBER)
    time.sleep(0.01)

try:
    PLACE
    while True:
        time.sleep(0.01)
except (Interrupted, Terminated) as end:
    print(type(end).__name__)
"""
PLACES = {
    "finaliser": "thing = Thing(); del thing",
    "weak reference": "thing = set(); kept = weakref.ref(thing, weak); del thing",
    "callback from C": "callback()",
    "plain code": "os.kill(os.getpid(), NUMBER)",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("number", "name"), [(signal.SIGINT, "Interrupted"), (signal.SIGTERM, "Terminated")])
def test_it_ends_code_in_which_nothing_can_be_raised(place: str, number: int, name: str) -> None:
    script = SCRIPT.replace("PLACE", PLACES[place]).replace("NUMBER", str(int(number)))
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=LIMIT, check=False)
    assert (ended.stdout, ended.stderr) == (f"{name}\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_first_run_ends_by_one_sentence(number: int, tmp_path: Path) -> None:
    """Nothing is compiled yet; ``benchmarks/kills.py --signals`` does this at a hundred moments."""
    Image.fromarray(simulate.smear((120, 120), cells=3, radius=20, rng=1).image).save(tmp_path / "smear.png")
    command = [sys.executable, "-m", "declump.cli", "segment", "smear.png", "-o", "out", "--regions", "classical"]
    surroundings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    with subprocess.Popen(
        command, cwd=tmp_path, env=surroundings, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while process.poll() is None and not (tmp_path / "kernels").is_dir():
            time.sleep(0.01)
        time.sleep(0.5)  # in the midst of it, on any machine that takes longer to compile
        process.send_signal(number)
        _, error = process.communicate(timeout=LIMIT)
    assert process.returncode in (0, 128 + number), error
    if process.returncode:
        assert len(error.splitlines()) == 1 and error.startswith("declump: interrupted"), error
        assert not (tmp_path / "out").exists() or not list((tmp_path / "out").rglob("contours.json"))
