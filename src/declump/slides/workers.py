"""Dask at work: many small tasks, a few of which are under way at a time, forgotten as they end."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from typing import Any

from declump.errors import MissingExtraError
from declump.models import THREADS
from declump.slides.readers import import_library

CONNECT = 10
"""Seconds until a scheduler that does not answer is taken to be missing."""
AHEAD = 3
"""Tasks a worker that are handed out at a time: the scheduler's memory does not grow with the slide."""
RETRIES = 5
"""A task is begun anew so often when its worker dies."""
DASHBOARD_PORT = 8787
_ONE_THREAD = dict.fromkeys((THREADS, "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Have processes that start meanwhile compute in one thread each, unless the user said otherwise.

    Afterwards the environment is as it was; what Dask itself puts into it for its workers is taken out, too.
    """
    before = dict(os.environ)
    for name, value in _ONE_THREAD.items():
        os.environ.setdefault(name, value)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Have threads that start meanwhile, and all processes that they will start, not hear Ctrl-C.

    A terminal sends it to every process of a run. The parent alone is to hear it, and ends the others. Pressed
    meanwhile, it is heard afterwards.
    """
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # begun later, it would let the thread that begins it hear again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def open_cluster(workers: int, *, scheduler: str | None = None, dashboard: bool = False) -> Iterator[Any]:
    """Give a Dask client.

    Parameters
    ----------
    workers : int
        Processes of this machine, each in one thread; 0 for one thread of this process, without any.
    scheduler : str, optional
        Address of a running cluster, such as ``tcp://host:8786``; no process is started then. Its workers must see the
        slide and the folder of the results by the same paths, and have declump installed.
    dashboard : bool
        Whether Dask's dashboard is served, on this machine alone.

    Raises
    ------
    ValueError
        If there is no scheduler at the address.
    """
    dask, distributed = import_library("dask"), import_library("distributed")
    settings = {
        "distributed.scheduler.allowed-failures": RETRIES,
        "distributed.worker.memory.terminate": False,
        "distributed.admin.tick.limit": "1h",
        # A worker that computes for minutes, or a machine that is busy, is not dead.
        "distributed.scheduler.worker-ttl": None,
        "distributed.comm.timeouts.connect": "120s",
        "distributed.comm.timeouts.tcp": "600s",
        "distributed.logging": {"distributed": "critical"},
    }
    with dask.config.set(settings):
        if scheduler is not None:
            try:
                client = distributed.Client(scheduler, timeout=CONNECT, set_as_default=False)
            except (OSError, ValueError) as error:
                raise ValueError(f"there is no Dask scheduler at {scheduler} ({error or 'no answer'})") from error
            with client:
                yield client
            return
        with _one_thread_each(), ExitStack() as opened:
            with _deaf_to_interrupts():
                cluster = opened.enter_context(
                    distributed.LocalCluster(
                        n_workers=max(workers, 1),
                        threads_per_worker=1,
                        processes=workers > 0,
                        # Its server of status pages runs even without a dashboard: on this machine alone, on any free
                        # port.
                        dashboard_address=f"127.0.0.1:{DASHBOARD_PORT if dashboard else 0}",
                        scheduler_kwargs={"dashboard": dashboard},
                        host="127.0.0.1" if workers else None,
                        silence_logs=50,
                        memory_limit=None,
                    )
                )
                # Left half made, a client would wait for minutes for answers that do not come.
                client = opened.enter_context(distributed.Client(cluster, set_as_default=False))
            yield client


def check_cluster(scheduler: str | None, dashboard: bool) -> None:
    """Refuse, before any work, a scheduler that is not there, or a dashboard that cannot be shown.

    Raises
    ------
    ValueError
        If there is no scheduler at the address, or what a dashboard needs is not installed.
    """
    if dashboard and find_spec("bokeh") is None:
        raise MissingExtraError("Dask's dashboard needs bokeh: pip install bokeh")
    if scheduler is not None:
        with open_cluster(0, scheduler=scheduler):
            pass


def do_all(client: Any, act: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], done: Callable[[Any], None]) -> None:
    """Do a function for many tasks, and tell as each is done; the first error ends all.

    Parameters
    ----------
    client : distributed.Client
    act : callable
        Leaves a file behind: what it gives is only told.
    tasks : sequence of tuple
        Arguments.
    done : callable
        Called with what the function gave.
    """
    distributed = import_library("distributed")
    left = iter(tasks)
    ahead = AHEAD * max(len(client.scheduler_info(n_workers=-1)["workers"]), 1)
    waiting = distributed.as_completed(loop=client.loop)
    pending: set[Any] = set()

    def hand_out() -> None:
        task = next(left, None)
        if task is not None:
            future = client.submit(act, *task, pure=False, retries=0)
            pending.add(future)
            waiting.add(future)

    for _ in range(ahead):
        hand_out()
    try:
        for future in waiting:
            try:
                result = future.result()
            except MemoryError as error:
                raise ChildProcessError(
                    "a worker ran out of memory; what is done is kept: resume with fewer workers"
                ) from error
            except distributed.KilledWorker as error:
                raise ChildProcessError(
                    "workers ended again and again at the same task, as where memory runs out; what is done is kept: "
                    "resume with fewer workers"
                ) from error
            except (CancelledError, TimeoutError, distributed.comm.CommClosedError) as error:
                raise ConnectionError(
                    "the Dask scheduler is gone; what is done is kept: resume when it is back"
                ) from error
            pending.discard(future)
            future.release()
            done(result)
            hand_out()
    finally:
        for future in pending:
            with suppress(Exception):
                future.cancel(force=True)
