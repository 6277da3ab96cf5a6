"""What an edit changes of a review: pixels, cells and spots, before and after, so that it can be taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from declump.review.edits import Edit

Box = tuple[slice, slice]
Thing = TypeVar("Thing")


@dataclass(frozen=True, eq=False)
class CellNotes:
    """What is known of a cell beside its nucleus.

    Attributes
    ----------
    bare : (row, column), optional
        Its seed, if its nucleus is not known.
    probability : float
        Of its nucleus.
    drawn : (360,), optional
        Radii that a person drew; NaN elsewhere.
    verdict, label : str
    """

    bare: tuple[float, float] | None = None
    probability: float = 1.0
    drawn: NDArray[np.float64] | None = None
    verdict: str = ""
    label: str = ""


@dataclass(frozen=True)
class Spot:
    """What is known of a spot that is no nucleus: its probability to be one, and what it is by the word of a person."""

    probability: float
    kind: str = ""


@dataclass(frozen=True, eq=False)
class Patch:
    """Pixels of one of the images of a state, before and after an edit."""

    image: str
    box: Box
    before: NDArray[np.generic]
    after: NDArray[np.generic]


@dataclass(frozen=True, eq=False)
class Change:
    """What an edit changed; ``before`` and ``after`` hold cells and spots by number, None where there was none."""

    edit: Edit
    patches: tuple[Patch, ...]
    cells: Mapping[int, tuple[CellNotes | None, CellNotes | None]]
    spots: Mapping[int, tuple[Spot | None, Spot | None]]
    done: tuple[bool, bool]

    @property
    def created(self) -> list[int]:
        """Numbers of the cells that were not there before it."""
        return [number for number, (before, after) in self.cells.items() if before is None and after is not None]

    @property
    def evolves(self) -> bool:
        """Whether outlines follow from it."""
        if self.patches:
            return True
        return any(
            before is None or after is None or before.drawn is not after.drawn or before.bare != after.bare
            for before, after in self.cells.values()
        )


@dataclass
class Draft:
    """A change that is being made."""

    patches: list[Patch] = field(default_factory=list)
    cells: dict[int, CellNotes | None] = field(default_factory=dict)
    spots: dict[int, Spot | None] = field(default_factory=dict)
    done: bool | None = None


def put_back(own: dict[int, Thing], changed: Mapping[int, tuple[Thing | None, Thing | None]], which: int) -> None:
    """Give numbers what they had before (0) or after (1) a change."""
    for number, pair in changed.items():
        value = pair[which]
        if value is None:
            own.pop(number, None)
        else:
            own[number] = value
