"""The terminated E of training clumps under priors that are tried, on one core or several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from types import TracebackType

Task = tuple[int, int | None]
"""A clump, and the example whose weight is raised once; None is none."""


class Energies:
    """Computes E in the order it is asked for, and guesses ahead what will be asked for next.

    What is asked next depends on whether a try is accepted; most are not. While one is awaited, other threads work on
    those that follow if it is not (the kernels of the evolution release Python's lock). After an acceptance these are
    thrown away, so that the answers, and the order in which they are used, are those of a single thread.

    Parameters
    ----------
    compute : callable
        Gives E of a task; called from several threads.
    workers : int
        Number of threads; with 1 nothing is computed before it is asked for.
    """

    def __init__(self, compute: Callable[[Task], int], workers: int) -> None:
        self._compute = compute
        self._executor = ThreadPoolExecutor(workers) if workers > 1 else None
        self._ahead = workers
        self._known: dict[Task, int] = {}
        self._begun: dict[Task, Future[int]] = {}

    def __enter__(self) -> Energies:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for what is being computed, and begin nothing more."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def energy(self, task: Task, following: Iterable[Task]) -> int:
        """E of a task; ``following`` are those that will be asked for if this one changes nothing."""
        if task not in self._known:
            if self._executor is None:
                self._known[task] = self._compute(task)
            else:
                unknown = (other for other in following if other != task and other not in self._known)
                for wanted in (task, *islice(unknown, self._ahead)):
                    if wanted not in self._begun:
                        self._begun[wanted] = self._executor.submit(self._compute, wanted)
                self._known[task] = self._begun.pop(task).result()
        return self._known[task]

    def forget(self, but: Mapping[Task, int]) -> None:
        """Drop all that was computed, and what is being computed, but a few energies that still hold."""
        for future in self._begun.values():
            future.cancel()
        self._begun.clear()
        self._known = dict(but)
