"""Kernels run wherever they can be compiled: without a folder for their cache, and with a damaged one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

KERNEL = """
from declump._kernels.compiling import compiled

@compiled
def double(number):
    return 2 * number
"""
CALL = "import kernel; print(kernel.double(21), sum(kernel.double.stats.cache_hits.values()))"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A module with a kernel, a home and a folder for temporary files."""
    (tmp_path / "kernel.py").write_text(KERNEL)
    (tmp_path / "temporary").mkdir()
    return tmp_path


def call(place: Path, before: str = "", **variables: str) -> str:
    """What the kernel gives in a process of its own, and how often it was found in the cache."""
    search = os.pathsep.join([str(place), *sys.path])
    surroundings = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "TMPDIR": str(place / "temporary")}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment = {**kept, **surroundings, "PYTHONPATH": search, **variables}
    command = [sys.executable, "-B", "-c", f"{before}\n{CALL}"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    return ended.stdout.strip()


def files(place: Path) -> list[Path]:
    return sorted([*place.rglob("*.nbi"), *place.rglob("*.nbc")])


def test_without_a_folder_of_its_own_the_cache_lies_among_temporary_files(place: Path) -> None:
    (place / "__pycache__").write_text("in the way")
    assert call(place) == "42 0" and call(place) == "42 1"
    (folder,) = (place / "temporary").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700 and len(files(folder)) == 2


def test_code_that_others_may_have_put_there_is_not_run(place: Path) -> None:
    (place / "__pycache__").write_text("in the way")
    call(place)
    (folder,) = (place / "temporary").iterdir()
    folder.chmod(0o777)
    assert call(place) == "42 0"


def test_without_any_folder_kernels_are_compiled_without_a_cache(place: Path) -> None:
    (place / "__pycache__").write_text("in the way")
    assert call(place, "import tempfile; tempfile.tempdir = '/dev/null'") == "42 0"
    assert files(place) == []


@pytest.mark.skipif(os.name == "nt", reason="there are no limits for files there")
def test_a_full_disk_costs_the_cache_only(place: Path) -> None:
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
    assert call(place, full) == "42 0"
    assert [path for path in files(place) if path.stat().st_size] == []


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "flipped": lambda content: content[:-200] + bytes([content[-200] ^ 255]) + content[-199:],
    "noise": lambda content: bytes(range(256)) * (len(content) // 256),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_a_damaged_file_is_dropped(ending: str, damage: str, place: Path) -> None:
    assert call(place) == "42 0" and call(place) == "42 1"
    (path,) = place.rglob(f"*{ending}")
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert call(place).startswith("42 ")
    assert call(place) == "42 1"
