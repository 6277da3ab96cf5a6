"""Tasks are all done, though workers die; what goes wrong is one sentence."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from declump.slides.workers import check_cluster, do_all, open_cluster
from support.waiting import LIMIT, wait_until

START = "from distributed.cli.dask_{0} import main; main()"


def die_once(folder: str, number: int) -> int:
    """End the process at the first try of the third task."""
    mark = Path(folder) / "died"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def lack_memory(number: int) -> int:
    raise MemoryError(f"task {number}")


def lack_room(number: int) -> int:
    raise OSError(28, "No space left on device", f"{number}.npz")


@pytest.mark.slow
def test_a_worker_that_dies_loses_no_task(tmp_path: Path) -> None:
    done: list[int] = []
    with open_cluster(2) as client:
        do_all(client, die_once, [(str(tmp_path), number) for number in range(8)], done.append)
    assert sorted(done) == list(range(8)) and (tmp_path / "died").exists()


def test_the_first_error_ends_all_and_is_told() -> None:
    with open_cluster(0) as client:
        with pytest.raises(ChildProcessError, match="out of memory; what is done is kept"):
            do_all(client, lack_memory, [(number,) for number in range(20)], print)
        with pytest.raises(OSError, match="No space left on device") as caught:
            do_all(client, lack_room, [(number,) for number in range(20)], print)
    assert caught.value.errno == 28


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A scheduler with a worker, each a process of its own."""

    def start(kind: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", START.format(kind), *options]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    file = tmp_path / "scheduler.json"
    first = start("scheduler", "--scheduler-file", str(file), "--no-dashboard", "--port", "0")
    while not file.is_file():
        time.sleep(0.05)
    address = json.loads(file.read_text())["address"]
    second = start("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny")
    yield first, address
    for process in (second, first):
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_scheduler_that_is_gone_is_told_of(scheduler: tuple[subprocess.Popen[bytes], str]) -> None:
    process, address = scheduler
    check_cluster(address, dashboard=False)

    def end(_: object) -> None:
        process.kill()

    with open_cluster(0, scheduler=address) as client:
        client.wait_for_workers(1)
        with pytest.raises(ConnectionError, match="the Dask scheduler is gone; what is done is kept"):
            do_all(client, time.sleep, [(0.05,) for _ in range(200)], end)
    with pytest.raises(ValueError, match="no Dask scheduler"):
        check_cluster("tcp://127.0.0.1:1", dashboard=False)


PATIENT = """
import time
from declump.slides.workers import do_all, open_cluster
try:
    print("begun", flush=True)
    with open_cluster(2) as client:
        print("open", flush=True)
        do_all(client, time.sleep, [(60,)] * 4, print)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a terminal of Windows has no groups of processes to signal")
@pytest.mark.parametrize(("moment", "after"), [("begun", 1.0), ("open", 0.5)])
def test_ctrl_c_ends_all_processes_without_a_word_of_the_workers(moment: str, after: float) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PATIENT], stdout=-1, stderr=-1, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        while process.stdout.readline().strip() != moment:
            pass
        time.sleep(after)
        os.killpg(process.pid, signal.SIGINT)
        told, complaints = process.communicate(timeout=LIMIT)
    assert told.endswith("interrupted\n") and not complaints
    wait_until(lambda: not is_alive(process.pid), "no process of the group is left")


def is_alive(group: int) -> bool:
    """Whether any process of a group is left."""
    with suppress(ProcessLookupError):
        os.killpg(group, 0)
        return True
    return False


def test_the_environment_of_the_caller_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before = dict(os.environ)
    with open_cluster(1) as client:
        assert client.submit(os.environ.get, "OMP_NUM_THREADS").result() == "1"
    assert dict(os.environ) == before
