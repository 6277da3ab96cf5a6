"""What the machine has to give, as far as it tells: cores and memory, within the limits of its containers."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

BASE = 450 * 2**20
"""Bytes that a process takes beside those that grow with its image: libraries, networks."""
PER_PIXEL = 400
"""Bytes a pixel that segmenting, measuring and writing an image takes at their height."""
PER_PLANE = 8
"""Bytes a pixel of each plane of a focus stack, which are held together while they are fused."""
_ROOT = Path("/")


def memory_for(pixels: int) -> int:
    """Estimate how many bytes a process needs that segments an image of so many pixels."""
    return BASE + PER_PIXEL * pixels


def check_memory(path: Path, shape: tuple[int, int], free: int | None, *, planes: int = 1) -> None:
    """Refuse an image that the memory will not do for, before time is spent on it or other programs are ended.

    Parameters
    ----------
    path : Path
        Of the image.
    shape : (H, W)
    free : int or None
        Bytes, see :func:`free_memory`.
    planes : int
        Of a focus stack.

    Raises
    ------
    ValueError
        If there is too little.
    """
    needed = (PER_PIXEL + (PER_PLANE * planes if planes > 1 else 0)) * shape[0] * shape[1]
    if free is not None and needed > free:
        raise ValueError(
            f"{path} has {shape[0]} x {shape[1]} pixels, for which about {needed / 2**30:.1f} GB of memory are needed, "
            f"and {free / 2**30:.1f} GB are free; segment fewer images at a time, or use 'declump slide'"
        )


def choose_jobs(images: int, largest: int, *, cores: int, free: int | None) -> int:
    """Choose a number of processes: one a core, as far as there are images, and memory for the largest of them."""
    fit = cores if free is None else free // memory_for(largest)
    return max(min(cores, images, fit), 1)


def usable_cores(root: Path = _ROOT) -> int:
    """Count the cores that this process may use: those it is bound to, within the share its container has."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for group in _groups(root):
        with suppress(OSError, ValueError):
            quota, period = (group / "cpu.max").read_text().split()
            cores = min(cores, math.ceil(int(quota) / int(period)))
    return max(cores, 1)


def free_memory(root: Path = _ROOT) -> int | None:
    """Tell how many bytes of memory are free, within what the container of this process may take; None if unknown."""
    found = []
    with suppress(OSError, ValueError, StopIteration):
        lines = (root / "proc" / "meminfo").read_text().splitlines()
        available = next(line for line in lines if line.startswith("MemAvailable:"))
        found.append(int(available.split()[1]) * 1024)
    for group in _groups(root):
        with suppress(OSError, ValueError):
            limit, used = (int((group / name).read_text()) for name in ("memory.max", "memory.current"))
            found.append(limit - used + _dropped(group))
    return max(min(found), 0) if found else None


def _groups(root: Path) -> Iterator[Path]:
    """Folders of the control groups that this process is in, the innermost first."""
    with suppress(OSError):
        for line in (root / "proc" / "self" / "cgroup").read_text().splitlines():
            if line.startswith("0::"):  # version 2, which all systems of today have
                mount = root / "sys" / "fs" / "cgroup"
                group = mount / line.removeprefix("0::").strip("/")
                yield from (place for place in (group, *group.parents) if mount in (place, *place.parents))


def _dropped(group: Path) -> int:
    """Bytes of a group that are copies of files, which give way where memory is needed."""
    with suppress(OSError, ValueError):
        for line in (group / "memory.stat").read_text().splitlines():
            name, number = line.split()
            if name == "inactive_file":
                return int(number)
    return 0
