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
@pytest.mark.parametrize("seconds", [0.3, 1.0, 2.5])
def test_a_run_ends_by_one_sentence(number: int, seconds: float, tmp_path: Path) -> None:
    """Early, while it imports, and in the midst; ``benchmarks/interruptions.py`` does this at a hundred moments."""
    Image.fromarray(simulate.smear((120, 120), cells=3, radius=20, rng=1).image).save(tmp_path / "smear.png")
    command = [sys.executable, "-m", "declump.cli", "segment", "smear.png", "-o", "out"]
    with subprocess.Popen(command, cwd=tmp_path, text=True, stderr=subprocess.PIPE) as process:
        time.sleep(seconds)
        process.send_signal(number)
        error = process.communicate(timeout=LIMIT)[1]
    assert process.returncode in (0, 128 + number, -number), error
    if process.returncode > 0:
        assert len(error.splitlines()) == 1 and error.startswith("declump: interrupted"), error
    result = tmp_path / "out" / "smear"
    assert not result.exists() or (result / "summary.json").is_file()
