from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from declump import _locks
from declump._locks import LOCK_FILE, hold_folder

HOLD = "import sys\nfrom declump._locks import hold_folder\nwith hold_folder(sys.argv[1]):\n print(); input()"


@contextmanager
def holder(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds a folder."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def test_a_folder_is_held_by_one_process_only_and_says_by_which(tmp_path: Path) -> None:
    with (
        holder(tmp_path) as process,
        pytest.raises(BlockingIOError, match=f"process {process.pid} on .*give another"),
        hold_folder(tmp_path),
    ):
        pass


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        process.kill()
        process.wait()
        assert (tmp_path / LOCK_FILE).is_file()
        with hold_folder(tmp_path):
            assert json.loads((tmp_path / LOCK_FILE).read_text())["process"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_of_another_computer_counts_as_long_as_it_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / LOCK_FILE
    lock.write_text(json.dumps({"process": 7, "computer": "elsewhere"}))
    with pytest.raises(BlockingIOError, match=r"process 7 on elsewhere.*30 s if it died"), hold_folder(tmp_path):
        pass
    assert "elsewhere" in lock.read_text()
    os.utime(lock, (lock.stat().st_mtime - 31,) * 2)
    monkeypatch.setattr(_locks, "BEAT", 0.01)
    with hold_folder(tmp_path):
        first = lock.stat().st_mtime_ns
        while lock.stat().st_mtime_ns == first:
            pass


@pytest.mark.parametrize("content", [b"", b"{", b"7", b"\xff"])
def test_a_lock_file_that_says_nothing_is_nobodys(content: bytes, tmp_path: Path) -> None:
    (tmp_path / LOCK_FILE).write_bytes(content)
    with hold_folder(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_got_nothing_is_taken_away_again(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="wrong"), hold_folder(tmp_path / "a" / "b"):
        raise ValueError("wrong")
    assert list(tmp_path.iterdir()) == []
    with hold_folder(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / "c").touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "b", "c"]
