"""A folder that one process at a time writes into, whatever becomes of the processes."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

LOCK_FILE = ".lock-of-declump"
BEAT = 5.0
"""Seconds after which who holds a lock touches it again."""
PATIENCE = 30.0
"""Seconds after which a lock of another computer that was not touched is taken for left over."""


@contextmanager
def hold_folder(folder: str | Path) -> Iterator[None]:
    """Keep other processes of declump from writing into a folder until the block is left.

    The lock is the operating system's, on a file in the folder, so that it ends with the process, however that ends. A
    network disk may not carry such locks from one computer to another: the file says who holds it, and is touched every
    few seconds. What a process that was killed left behind does not count.

    Parameters
    ----------
    folder : str or Path
        Made if it is missing, and taken away again if nothing was written into it.

    Raises
    ------
    BlockingIOError
        If another process holds the folder.
    """
    folder = Path(folder)
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK_FILE
    try:
        number = _take(path)
        ended = threading.Event()
        beats = threading.Thread(target=_beat, args=(path, ended), daemon=True)
        beats.start()
        try:
            yield
        finally:
            ended.set()
            beats.join()
            os.ftruncate(number, 0)  # an empty file is nobody's
            with suppress(OSError):  # Windows takes no open file away
                path.unlink()
            os.close(number)
    finally:
        for place in missing:
            with suppress(OSError):  # what holds something stays
                place.rmdir()


def _take(path: Path) -> int:
    """Open the lock file and lock it, or say who holds it."""
    while True:
        number = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        try:
            locked, holder = _lock(number), _read(number)
            if locked is False:
                raise BlockingIOError(_describe(path.parent, holder, "wait for its end"))
            # A lock that was got proves the holder's end only to the computer that the holder ran on.
            proven = locked and holder.get("computer") == socket.gethostname()
            if holder and not proven and _is_beating(path, number):
                raise BlockingIOError(_describe(path.parent, holder, f"wait for its end, or {PATIENCE:g} s if it died"))
            if _is_at(path, number):  # else its holder has ended and taken the file away since it was opened
                os.ftruncate(number, 0)
                os.lseek(number, 0, os.SEEK_SET)
                os.write(number, json.dumps({"process": os.getpid(), "computer": socket.gethostname()}).encode())
                return number
        except BaseException:
            os.close(number)
            raise
        os.close(number)


def _lock(number: int) -> bool | None:
    """Whether the file could be locked; None where the disk knows no locks."""
    if sys.platform == "win32":  # what the file says must do there
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _read(number: int) -> dict[str, object]:
    """What the file says of its holder; nothing if nobody holds it, or it cannot be read."""
    os.lseek(number, 0, os.SEEK_SET)
    try:
        content = json.loads(os.read(number, 1000))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _is_beating(path: Path, number: int) -> bool:
    """Whether the file was touched of late, by the clock of the disk it lies on."""
    probe = path.with_name(f"{path.name}-{os.getpid()}")
    probe.touch()
    now = probe.stat().st_mtime
    probe.unlink(missing_ok=True)
    return now - os.fstat(number).st_mtime < PATIENCE


def _is_at(path: Path, number: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(number))
    except FileNotFoundError:
        return False


def _beat(path: Path, ended: threading.Event) -> None:
    while not ended.wait(BEAT):
        with suppress(OSError):
            os.utime(path)


def _describe(folder: Path, holder: dict[str, object], advice: str) -> str:
    who = f"process {holder.get('process', '?')} on {holder.get('computer', '?')}"
    return f"another run ({who}) is writing into the folder {folder}; {advice}, or give another folder"
