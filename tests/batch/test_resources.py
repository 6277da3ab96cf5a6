"""Cores and memory, also in containers, which are folders of a made-up machine here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from declump.batch.resources import (
    BASE,
    PER_PIXEL,
    check_memory,
    choose_jobs,
    free_memory,
    memory_for,
    usable_cores,
)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """8 GB are free, of which a job may take 3 and half a core, its step 2; 1 is used, half of it by files."""
    files = {
        "proc/meminfo": "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n",
        "proc/self/cgroup": "0::/job/step\n",
        "sys/fs/cgroup/job/memory.max": f"{3 * 2**30}\n",
        "sys/fs/cgroup/job/memory.current": f"{2**30}\n",
        "sys/fs/cgroup/job/step/memory.max": f"{2 * 2**30}\n",
        "sys/fs/cgroup/job/step/memory.current": f"{2**30}\n",
        "sys/fs/cgroup/job/step/memory.stat": f"anon 5\ninactive_file {2**29}\n",
        "sys/fs/cgroup/job/step/cpu.max": "max 100000\n",
        "sys/fs/cgroup/job/cpu.max": "50000 100000\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_container_has_what_it_was_given(machine: Path) -> None:
    assert free_memory(machine) == 2**30 + 2**29
    assert usable_cores(machine) == 1


def test_without_limits_all_that_is_free_counts(machine: Path) -> None:
    (machine / "proc" / "self" / "cgroup").unlink()
    assert free_memory(machine) == 8 * 2**30
    if hasattr(os, "sched_getaffinity"):
        assert usable_cores(machine) == len(os.sched_getaffinity(0))


def test_a_machine_that_tells_nothing_refuses_nothing(tmp_path: Path) -> None:
    assert free_memory(tmp_path) is None
    check_memory(Path("a.png"), (10**6, 10**6), None)
    assert choose_jobs(9, 10**12, cores=4, free=None) == 4


def test_an_image_that_memory_will_not_do_for_is_refused_by_its_name() -> None:
    check_memory(Path("a.png"), (1000, 1000), PER_PIXEL * 10**6)
    words = r"a\.png has 9000 x 9000 pixels, .* 30\.2 GB of memory .* 1\.0 GB are free.* 'declump slide'"
    with pytest.raises(ValueError, match=words):
        check_memory(Path("a.png"), (9000, 9000), 2**30)


def test_processes_are_as_many_as_memory_allows() -> None:
    assert memory_for(10**6) == BASE + PER_PIXEL * 10**6
    assert choose_jobs(100, 10**6, cores=8, free=3 * memory_for(10**6)) == 3
    assert choose_jobs(2, 10**6, cores=8, free=2**40) == 2
    assert choose_jobs(0, 0, cores=8, free=0) == 1
