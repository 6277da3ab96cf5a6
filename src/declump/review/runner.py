"""Outlines that follow edits: evolved in a thread of its own, a newer edit ending the run of an older one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from declump.records.segmentation import Segmentation
from declump.review.session import Session
from declump.review.state import Corrected


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A state of a session: its revision, what was corrected, and the numbers of the cells in their order."""

    revision: int
    corrected: Corrected
    numbers: list[int]

    @classmethod
    def of(cls, session: Session) -> Snapshot:
        """Take one; the caller sees to it that nobody edits meanwhile."""
        return cls(session.revision, session.corrected, session.numbers)


@dataclass(frozen=True, eq=False)
class EvolutionStep:
    """Outlines on their way: numbers of cells with their radii (n, K)."""

    snapshot: Snapshot
    numbers: list[int]
    radii: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Done:
    """Outlines that a state leads to, in the order of its numbers."""

    snapshot: Snapshot
    result: Segmentation


Task = TypeVar("Task")


class Latest(Generic[Task]):
    """A thread that works on the latest task that it was given, and forgets older ones.

    Parameters
    ----------
    act : callable
        Called with a task, and a function to call now and then, which ends it by an exception if a newer one waits.
    fail : callable
        Called with what else ``act`` raises.
    """

    def __init__(self, act: Callable[[Task, Callable[[], None]], None], fail: Callable[[Exception], None]) -> None:
        self._act, self._fail = act, fail
        self._wanted: list[Task] = []
        self._ended = False
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def want(self, task: Task) -> None:
        """Give it a task; an older one ends at its next check."""
        with self._news:
            self._wanted[:] = [task]
            self._news.notify()

    def stop(self) -> None:
        """End the thread; its task ends at its next check."""
        with self._news:
            self._ended = True
            self._news.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._wanted or self._ended)
                if self._ended:
                    return
                task = self._wanted.pop()
            try:
                self._act(task, self._check)
            except _Superseded:
                continue
            except Exception as error:
                self._fail(error)

    def _check(self) -> None:
        if self._wanted or self._ended:
            raise _Superseded


class _Superseded(Exception):
    """A newer task waits."""


def evolve_snapshot(
    session: Session, snapshot: Snapshot, tell: Callable[[EvolutionStep | Done], None], check: Callable[[], None]
) -> None:
    """Evolve a state of a session, and tell of every step and of the end."""
    numbers = np.array(snapshot.numbers, dtype=np.int64)

    def show(cells: NDArray[np.int64], radii: NDArray[np.float64]) -> None:
        check()
        tell(EvolutionStep(snapshot, numbers[cells].tolist(), radii))

    result = session.evolve(show, snapshot.corrected)
    check()
    tell(Done(snapshot, result))
