"""Processes that do one task after the other, such as the images of a run, each in a single thread."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any

from declump._interruption import raise_on_signals
from declump.errors import raise_ending, sentence
from declump.models import THREADS

PATIENCE = 10.0
"""Seconds that a process is given to clear away what it was writing before it is killed."""
_LIBRARY_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
Act = Callable[[Any], dict[str, Any]]
"""What the processes do: called with a task, it gives a record; called with None, it tries whether all is well."""
Hear = Callable[[Any, str], None]
"""Called with a task and what its process is doing just now."""
OFTEN = 0.1
"""Seconds between two words of a process on what it is doing: more would only keep its parent busy."""
_CONTEXT = multiprocessing.get_context("spawn")  # what threads a parent has, and which locks they hold, is not copied


@dataclass(frozen=True)
class Answer:
    """What became of a task: its record, or the reason why there is none."""

    record: dict[str, Any] | None
    reason: str
    seconds: float


@dataclass(frozen=True)
class _Word:
    """What a process is doing just now."""

    text: str


@dataclass
class _Worker:
    process: Any
    connection: Connection
    task: Any = None
    since: float = 0.0


class Workers:
    """Processes for the tasks of one run; ended, by force if need be, when the block is left.

    Parameters
    ----------
    count : int
    act : callable
        What is done with a task; it goes to the processes, and so do the tasks, as pickles do.
    hear : callable, optional
        What to do with a word of a process on its task: see :func:`tell_parent`.
    """

    def __init__(self, count: int, act: Act, hear: Hear | None = None) -> None:
        self._act, self._hear = act, hear or (lambda _task, _text: None)
        self._workers: list[_Worker] = []
        self._count = count
        self._ending = threading.Lock()

    def __enter__(self) -> Workers:
        """Start all processes; they load what they need while the first rehearses."""
        try:
            for _ in range(self._count):
                self._workers.append(self._started())
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all processes, whatever they are doing."""
        self.stop()

    def rehearse(self) -> None:
        """Try the action in the first process.

        Raises
        ------
        ValueError
            With the sentence that says what is wrong.
        """
        first = self._workers[0]
        first.connection.send(None)
        try:
            answer: Answer | _Word = first.connection.recv()
            while isinstance(answer, _Word):
                answer = first.connection.recv()
        except (EOFError, OSError):
            first.process.join()
            raise ValueError(_death(first.process.exitcode)) from None
        if answer.reason:
            raise ValueError(answer.reason)

    def answers(self, tasks: Iterable[Any]) -> Iterator[tuple[Any, Answer]]:
        """Do all tasks, each process one at a time; answers come as they are ready, and none is kept."""
        waiting = iter(tasks)
        for worker in self._workers:
            self._give(worker, next(waiting, None))
        while busy := {worker.connection: worker for worker in self._workers if worker.task is not None}:
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]  # wait() is typed to give sockets and numbers, too
                task = worker.task
                try:
                    answer: Answer | _Word = worker.connection.recv()
                    if isinstance(answer, _Word):
                        self._hear(task, answer.text)
                        continue
                except (EOFError, OSError):
                    worker.process.join()
                    answer = Answer(None, _death(worker.process.exitcode), time.monotonic() - worker.since)
                    worker.connection.close()
                    self._workers.remove(worker)
                    worker = self._started()
                    self._workers.append(worker)
                self._give(worker, next(waiting, None))
                yield task, answer

    def _give(self, worker: _Worker, task: Any) -> None:
        worker.task, worker.since = task, time.monotonic()
        if task is not None:
            with suppress(OSError):  # of a process that died meanwhile the end is seen when it is listened to
                worker.connection.send(task)

    def _started(self) -> _Worker:
        ours, theirs = _CONTEXT.Pipe()
        process = _CONTEXT.Process(target=_serve, args=(theirs, self._act), daemon=True)
        with _surroundings():
            process.start()
        theirs.close()
        return _Worker(process, ours)

    def stop(self) -> None:
        """End all processes; each clears away what it was writing."""
        with self._ending:  # whoever interrupts, and whoever leaves the block, may do so at once
            for worker in self._workers:
                worker.process.terminate()
            until = time.monotonic() + PATIENCE
            for worker in self._workers:
                worker.process.join(max(until - time.monotonic(), 0))
                if worker.process.is_alive():
                    worker.process.kill()
                    worker.process.join()
                worker.connection.close()
            self._workers.clear()


@contextmanager
def _surroundings() -> Iterator[None]:
    """What a process inherits: libraries keep to one thread, and Ctrl-C is left to the parent."""
    names = (THREADS, *_LIBRARY_THREADS)
    before = {name: os.environ.get(name) for name in names}
    main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        if main:
            signal.signal(signal.SIGINT, handler)


def _serve(connection: Connection, act: Act) -> None:
    """Run in a process of its own: take a task, answer, take the next; None asks for the rehearsal."""
    raise_on_signals()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _PARENT.append(connection)
    with suppress(EOFError, ConnectionError):
        while True:
            connection.send(_answer(connection.recv(), act))


_PARENT: list[Connection] = []
"""In a process of its own, the way to its parent."""
_told = 0.0


def tell_parent(text: str, *, now: bool = True) -> None:
    """Say in a process of :class:`Workers` what it is doing; nothing elsewhere, and not too often unless it is news."""
    global _told
    if _PARENT and (now or time.monotonic() > _told + OFTEN):
        _told = time.monotonic()
        with suppress(OSError):
            _PARENT[0].send(_Word(text))


def _answer(task: Any, act: Act) -> Answer:
    start, record, reason = time.monotonic(), None, ""
    try:
        record = act(task)
    except Exception as error:
        raise_ending(error)
        reason = sentence(error)
        if "DECLUMP_DEBUG" in os.environ:
            traceback.print_exc()
    return Answer(record, reason, time.monotonic() - start)


def _end_with_parent() -> None:
    """Wait for the parent to die without a word, as by kill -9, and end then: another run may go on in the folder."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def check_parent() -> None:
    """End a process whose parent has died, before it puts anything into a folder that may be another run's by now."""
    parent = multiprocessing.parent_process()
    if parent is not None and not parent.is_alive():
        sys.exit(1)


def _death(code: int | None) -> str:
    return (
        f"the process that worked on it ended unexpectedly (exit code {code}), perhaps for want of memory; try fewer "
        "jobs at a time, or a smaller image"
    )
