"""Edits in the order in which they are made: undone and redone without limit, as the lines of a log say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from declump.review.edits import Edit, read_edit

UNDO, REDO = "undo", "redo"

C = TypeVar("C")


class EditHistory(ABC, Generic[C]):
    """What edits are made on, and what each of them changed.

    Attributes
    ----------
    revision : int
        Number of edits, undone and redone ones included: tells states apart.
    history, future : list
        Changes that can be undone, the last one first, and redone.
    """

    def __init__(self) -> None:
        self.history: list[C] = []
        self.future: list[C] = []
        self.revision = 0

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether a person has said that all is reviewed."""

    @abstractmethod
    def _apply(self, edit: Edit) -> C:
        """Make an edit, and give what it changed; raises ValueError, and changes nothing, if it cannot be made."""

    @abstractmethod
    def _put(self, change: C, *, back: bool) -> None:
        """Make a change once more, or take it back."""

    def make(self, edit: Edit) -> C:
        """Make an edit; what was undone before cannot be redone any more.

        Raises
        ------
        ValueError
            If it cannot be made, with the reason.
        """
        change = self._apply(edit)
        self.history.append(change)
        self.future.clear()
        self.revision += 1
        return change

    def undo(self) -> C | None:
        """Take the last edit back; give what it had changed, or None if there is none."""
        return self._go(self.history, self.future, back=True)

    def redo(self) -> C | None:
        """Make the edit again that was undone last; None if there is none."""
        return self._go(self.future, self.history, back=False)

    def replay(self, record: Mapping[str, Any]) -> C | None:
        """Do what a line of the log says; None if there is nothing to undo or redo.

        Raises
        ------
        ValueError
            If it cannot be done, with the reason.
        """
        said = record.get("edit")
        if said == UNDO:
            return self.undo()
        return self.redo() if said == REDO else self.make(read_edit({k: v for k, v in record.items() if k != "id"}))

    def withdraw(self, record: Mapping[str, Any]) -> None:
        """Take back what :meth:`replay` did last, as if it had never been done."""
        said = record.get("edit")
        if said == UNDO:
            self.redo()
            return
        self.undo()
        if said != REDO:
            self.future.pop()

    def _go(self, source: list[C], target: list[C], *, back: bool) -> C | None:
        if not source:
            return None
        change = source.pop()
        self._put(change, back=back)
        target.append(change)
        self.revision += 1
        return change
