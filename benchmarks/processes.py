"""What processes take, as /proc tells it: Linux alone."""

from __future__ import annotations

import os
from pathlib import Path


def find_children(parent: int) -> list[int]:
    """Processes that a process started, and those that these started."""
    found = []
    try:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            for child in task.read_text().split():
                found += [int(child), *find_children(int(child))]
    except OSError:
        pass
    return found


def read_memory(process: int, what: str = "VmRSS") -> float:
    """Memory of a process in GB, or the height of it (``"VmHWM"``); 0 if it is gone."""
    try:
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(what):
                return int(line.split()[1]) / 2**20
    except OSError:
        pass
    return 0.0


def read_seconds(process: int) -> float:
    """Seconds of processor time that a process has had; 0 if it is gone."""
    try:
        values = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


def is_worker(process: int) -> bool:
    """Whether a process is one that works for Dask, not one that watches over others."""
    try:
        return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False
