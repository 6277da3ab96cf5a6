"""What is open on a desk: edits of all its tabs in one order, kept in the log, and what follows told to all."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from declump.errors import sentence
from declump.review.album import Entry
from declump.review.history import EditHistory
from declump.review.images import saved_edits
from declump.review.log import EditLog
from declump.review.server.slide_tiles import SlidePyramid
from declump.review.server.tiles import TilePyramid

Publish = Callable[[dict[str, Any]], None]

C = TypeVar("C")


class Reviewed(Protocol[C]):
    """An image or a slide with its edits."""

    folder: Path
    log: EditLog

    @property
    def session(self) -> EditHistory[C]:
        """What the edits are made on."""

    def save(self, lock: AbstractContextManager[Any] | None = None) -> dict[str, Any]:
        """Write the results; the lock is held while the state is looked at."""

    def close(self) -> None:
        """Let go of the log."""


class Desk(ABC, Generic[C]):
    """An image or a slide that is open, and everybody who looks at it.

    Parameters
    ----------
    entry : Entry
        Prepared.
    image : Reviewed
    pyramid : TilePyramid or SlidePyramid
        Its tiles.
    publish : callable
        Called from any thread with what all tabs are to know.
    """

    def __init__(self, entry: Entry, image: Reviewed[C], pyramid: TilePyramid | SlidePyramid, publish: Publish) -> None:
        self.entry, self.pyramid = entry, pyramid
        self._reviewed, self._publish = image, publish
        self.lock = threading.RLock()
        self._saving = threading.Lock()

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What a page that opens it has to know."""

    @abstractmethod
    def _is_evolving(self) -> bool:
        """Whether there are edits whose outlines are not known yet."""

    @abstractmethod
    def _preview(self, change: C) -> dict[str, Any]:
        """What is seen of an edit at once: marks, cells that are gone, and where others start from."""

    @abstractmethod
    def _follow(self, change: C) -> None:
        """Have outlines found that follow from an edit."""

    @abstractmethod
    def _stop(self) -> None:
        """End all work that goes on beside."""

    @property
    def edits(self) -> int:
        """Number of lines of the log."""
        return len(self._reviewed.log.records)

    @property
    def finished(self) -> bool:
        """Whether it is reviewed."""
        return self._reviewed.session.done

    def edit(self, record: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Make an edit, put it into the log, and have its clump evolve.

        Parameters
        ----------
        record : mapping
            See :mod:`declump.review.edits`; also ``undo`` and ``redo``.
        name : str
            Whoever sends an edit gives it a name of its own: sent twice, it is made once.

        Raises
        ------
        ValueError
            If it cannot be made, with the reason.
        """
        with self.lock:
            session, log = self._reviewed.session, self._reviewed.log
            if name in log.names:
                return self._facts()
            change = session.replay(record)
            if change is None:
                raise ValueError(f"there is nothing to {record.get('edit')}")
            # What is seen at once does not wait for the disk; whoever sent the edit does.
            self._publish({"type": "edited", "id": self.entry.id, **self._facts(), **self._preview(change)})
            try:
                log.append(record, name)
            except OSError:
                session.withdraw(record)
                self._publish({"type": "reload"})
                raise
            self._follow(change)
            return self._facts()

    def save(self) -> dict[str, Any]:
        """Write the results as they follow from the edits so far."""
        with self._saving:
            self.entry.record = self._reviewed.save(self.lock)
        with self.lock:
            facts = self._facts()
        self._publish({"type": "saved", "id": self.entry.id, **facts})
        return facts

    def close(self) -> None:
        """End all work on it."""
        self._stop()
        with self._saving:
            self._reviewed.close()

    def _facts(self) -> dict[str, Any]:
        session = self._reviewed.session
        return {
            "revision": session.revision,
            "undo": len(session.history),
            "redo": len(session.future),
            "finished": session.done,
            "evolving": self._is_evolving(),
            "edits": self.edits,
            "saved": saved_edits(self._reviewed.folder),
        }

    def _fail(self, error: Exception) -> None:
        self._publish({"type": "trouble", "id": self.entry.id, "reason": sentence(error)})
