"""Outlines that follow edits: evolved in a thread of its own, a newer edit ending the run of an older one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump.records.regions import Regions
from declump.records.segmentation import Segmentation
from declump.review.session import Session


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A state of a session: its revision, its regions, and the numbers of the cells in their order."""

    revision: int
    regions: Regions
    numbers: list[int]

    @classmethod
    def of(cls, session: Session) -> Snapshot:
        """Take one; the caller sees to it that nobody edits meanwhile."""
        return cls(session.revision, session.regions, session.numbers)


@dataclass(frozen=True, eq=False)
class Step:
    """Outlines on their way: numbers of cells with their radii (n, K)."""

    snapshot: Snapshot
    numbers: list[int]
    radii: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Done:
    """Outlines that a state leads to, in the order of its numbers; ``whole`` once nuclei are with them, too."""

    snapshot: Snapshot
    result: Segmentation
    whole: bool


class _Superseded(Exception):
    """A newer state is wanted."""


class Runner:
    """Evolves the latest state that it was asked for.

    Parameters
    ----------
    session : Session
    tell : callable
        Called in the runner's thread with every :class:`Step` and :class:`Done`, and with an exception where one was
        raised.
    """

    def __init__(self, session: Session, tell: Callable[[Step | Done | Exception], None]) -> None:
        self._session, self._tell = session, tell
        self._wanted: Snapshot | None = None
        self._ended = False
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def want(self, snapshot: Snapshot) -> None:
        """Ask for the outlines of a state; a run for an older one ends at its next step."""
        with self._news:
            self._wanted = snapshot
            self._news.notify()

    def stop(self) -> None:
        """End the thread; a run ends at its next step."""
        with self._news:
            self._ended = True
            self._news.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._wanted is not None or self._ended)
                if self._ended:
                    return
                snapshot = self._wanted
                self._wanted = None
            assert snapshot is not None
            try:
                self._evolve(snapshot)
            except _Superseded:
                continue
            except Exception as error:
                self._tell(error)

    def _evolve(self, snapshot: Snapshot) -> None:
        numbers = np.array(snapshot.numbers, dtype=np.int64)

        def show(cells: NDArray[np.int64], radii: NDArray[np.float64]) -> None:
            self._check()
            self._tell(Step(snapshot, numbers[cells].tolist(), radii))

        result = self._session.evolve(show, snapshot.regions)
        self._check()
        self._tell(Done(snapshot, result, False))
        whole = self._session.complete(result, snapshot.regions)
        self._check()
        self._tell(Done(snapshot, whole, True))

    def _check(self) -> None:
        if self._wanted is not None or self._ended:
            raise _Superseded
