"""No command reaches for the network, or leaves anything in the home of the user: each is run in a fresh one."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image
from typer.main import get_command

import declump
from declump import simulate
from declump.cli.app import app
from declump.models import model_path
from support.waiting import LIMIT, start

BRIEF = ["--simulated", "1", "--steps", "2", "--size", "1"]
COMMANDS = {
    "segment": ["smear.png", "-o", "out", "--format", "csv,png"],
    "slide": ["smear.png", "-o", "out", "-j", "1"],
    "evolve": ["--clump", "clump.png", "--nuclei", "nuclei.png", "-o", "out"],
    "split": ["clump.png", "-o", "out"],
    "fuse": ["stack.tif", "-o", "fused.png"],
    "simulate": ["-o", "out", "--count", "1", "--cells", "3", "--size", "160"],
    "report": ["results"],
    "open": ["smear.png", "-o", "out", "--no-browser"],
    "evaluate": ["smears/1", "results"],
    "train prior": ["smears", "-o", "prior.npz", "--rays", "48"],
    "train regions": ["smears", "-o", "model.onnx", *BRIEF],
    "train rays": ["smears", "-o", "model.onnx", *BRIEF],
    "train judge": ["smears", "-o", "model.onnx", *BRIEF],
    "train quantise": [str(model_path("default", "rays.onnx")), "-o", "model.onnx"],
    "demo": ["-o", "out"],
    "info": ["results"],
    "doctor": [],
}
"""A short run of each."""
if find_spec("declump_paper"):
    COMMANDS |= {
        "compare": ["smear.png", "-o", "out", "--methods", "declump,mpw"],
        "importance": ["smears", "-o", "prior.npz", "--rays", "48", "--cycles", "1", "--tries", "1"],
        "reproduce": ["folder", "--data", "smears", "-o", "out", "--folds", "2", "--methods", "joint"],
    }
NEEDS = {"slide": "distributed", "open": "starlette", "train quantise": "onnx"}
NEEDS |= {f"train {network}": "torch" for network in ("regions", "rays", "judge")}
SOCKETS = "connect,sendto,sendmsg,sendmmsg"
ELSEWHERE = re.compile(r"sin6?_port=htons\((\d+)\).*?(?:inet_addr\(\"|inet_pton\(AF_INET6, \")([^\"]+)\"")


def list_commands(group: Any, before: str = "") -> Iterator[str]:
    """Names of all commands, those of groups too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from list_commands(command, f"{before}{name} ")
        else:
            yield before + name


UNTRIED = {"train smear"}
"""It begins with weights of an encoder, which are not shipped; ``tests/training/test_smear.py`` trains without them."""


def test_every_command_is_tried() -> None:
    assert set(list_commands(get_command(app))) == set(COMMANDS) | UNTRIED


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands are given."""
    folder = tmp_path_factory.mktemp("material")
    for number in range(1, 5):
        made = simulate.smear((160, 180), cells=3, radius=30, clumps=1, rng=number)
        simulate.write(made, folder / "smears" / str(number))
    Image.fromarray(made.image).save(folder / "smear.png")
    Image.fromarray(made.clump).save(folder / "clump.png")
    Image.fromarray(made.nuclei.any(axis=0)).save(folder / "nuclei.png")
    tifffile.imwrite(folder / "stack.tif", np.stack([made.image, made.image[::-1]]), metadata={"axes": "ZYX"})
    result = declump.segment(made.image, evidence="clump")
    declump.io.write_results(result, folder / "results", formats=("contours", "csv"))
    return folder


@pytest.fixture
def place(material: Path, tmp_path: Path) -> Path:
    """A folder with the material and a home of one's own."""
    shutil.copytree(material, tmp_path / "work")
    (tmp_path / "home").mkdir()
    return tmp_path


def fresh_home(home: Path) -> dict[str, str]:
    """Surroundings of a user who has never run anything, and who would not forbid reports."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_", "MPL", "DASK"))}
    return {**kept, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}


def can_trace() -> bool:
    """Whether strace may look into processes here."""
    return shutil.which("strace") is not None and subprocess.run(["strace", "-qq", "true"]).returncode == 0


def reached(log: str) -> list[str]:
    """Lines of a trace that go beyond this computer, or ask for an address (port 53)."""
    found = []
    for line in log.splitlines():
        place = ELSEWHERE.search(line)
        if place and (place[1] == "53" or not (place[2].startswith("127.") or place[2] == "::1")):
            found.append(line)
    return found


def test_a_trace_shows_what_goes_beyond_this_computer() -> None:
    here = '7 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0'
    asks = '7 connect(3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 16) = 0'
    far = '7 sendto(3, "x", 1, 0, {sa_family=AF_INET6, sin6_port=htons(443), inet_pton(AF_INET6, "2001::1", &a)}, 28)'
    assert reached("\n".join([here, asks, far, "7 connect(3, {sa_family=AF_UNIX}, 110) = 0"])) == [asks, far]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_reaches_for_the_network_or_writes_into_the_home(name: str, place: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    command = [sys.executable, "-m", "declump.cli", *name.split(), *COMMANDS[name]]
    log = place / "log"
    traced = can_trace()
    if traced:
        command = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={SOCKETS}", *command]
    with start(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=place / "work", env=fresh_home(place / "home")
    ) as process:
        if name == "open":  # it serves a page until it is stopped
            assert process.stdout is not None and process.stdout.readline()
            os.killpg(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 0 or name == "open", said
    assert not traced or reached(log.read_text()) == []
    assert list((place / "home").rglob("*")) == []
