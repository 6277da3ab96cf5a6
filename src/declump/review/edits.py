"""What a person can correct: one record a kind of edit, written to the log as JSON and read back strictly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from declump.errors import printable
from declump.records.others import KINDS

LONGEST_LABEL = 80
"""Letters of a label."""
LONGEST_STROKE = 10_000
"""Points of one stroke of paint."""
VERDICTS = ("accepted", "rejected", "")
"""What a person says of a cell; nothing takes it back."""


@dataclass(frozen=True)
class Edit:
    """One correction; see the kinds below. Places are rows and columns in pixels, cells the numbers of the session."""

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Refuse values of other kinds than are meant."""
        for field in fields(self):
            value = getattr(self, field.name)
            if not _is_a(value, str(field.type)):
                raise ValueError(f"{self.name}: {field.name} is {_MEANING[str(field.type)]}; given was {value!r}")

    def to_record(self) -> dict[str, Any]:
        """Give the edit as JSON has it."""
        return {"edit": self.name, **asdict(self)}


@dataclass(frozen=True)
class AddSeed(Edit):
    """A cell was missed: its nucleus is here."""

    row: float
    column: float
    name = "add seed"


@dataclass(frozen=True)
class MoveSeed(Edit):
    """The nucleus of a cell is here, not where it was found."""

    cell: int
    row: float
    column: float
    name = "move seed"


@dataclass(frozen=True)
class DeleteCell(Edit):
    """There is no such cell."""

    cell: int
    name = "delete cell"


@dataclass(frozen=True)
class MarkSpot(Edit):
    """What was taken for the nucleus of a cell is a leukocyte, or something else."""

    cell: int
    kind: str
    name = "mark spot"

    def __post_init__(self) -> None:
        """Refuse other kinds."""
        super().__post_init__()
        if self.kind not in KINDS:
            raise ValueError(f"a spot is {' or '.join(map(repr, KINDS))}; given was {self.kind!r}")


@dataclass(frozen=True)
class JoinNuclei(Edit):
    """Two nuclei are one: the second one's cell becomes part of the first."""

    cell: int
    other: int
    name = "join nuclei"


@dataclass(frozen=True)
class PartNucleus(Edit):
    """One nucleus is two: it is cut along the line through two points, and what is cut off gets a cell of its own."""

    cell: int
    row: float
    column: float
    end_row: float
    end_column: float
    name = "part nucleus"


@dataclass(frozen=True)
class PaintClump(Edit):
    """There is cell, or none, along a stroke of a round brush with a radius in pixels."""

    points: tuple[tuple[float, float], ...]
    radius: float
    inside: bool
    name = "paint clump"

    def __post_init__(self) -> None:
        """Take points as JSON has them, too."""
        if isinstance(self.points, list | tuple) and all(isinstance(point, list | tuple) for point in self.points):
            object.__setattr__(self, "points", tuple(tuple(point) for point in self.points))
        super().__post_init__()
        if not 0 < len(self.points) <= LONGEST_STROKE or not 0 < self.radius <= 1000:
            raise ValueError(
                f"a stroke has up to {LONGEST_STROKE} points, and a radius from 0 to 1000 pixels; given were "
                f"{len(self.points)} and {self.radius}"
            )


@dataclass(frozen=True)
class PullOutline(Edit):
    """The outline of a cell goes through here."""

    cell: int
    row: float
    column: float
    name = "pull outline"


@dataclass(frozen=True)
class JudgeCell(Edit):
    """A cell is good as it is, or is not to be used."""

    cell: int
    verdict: str
    name = "judge cell"

    def __post_init__(self) -> None:
        """Refuse other verdicts."""
        super().__post_init__()
        if self.verdict not in VERDICTS:
            raise ValueError(f"a verdict is {', '.join(map(repr, VERDICTS))}; given was {self.verdict!r}")


@dataclass(frozen=True)
class LabelCell(Edit):
    """A grade or word of the user's own for a cell; an empty one takes it back."""

    cell: int
    label: str
    name = "label cell"

    def __post_init__(self) -> None:
        """Refuse what no table could show."""
        super().__post_init__()
        if len(self.label) > LONGEST_LABEL or printable(self.label) != self.label:
            raise ValueError(f"a label has up to {LONGEST_LABEL} letters that can be printed; given was {self.label!r}")


@dataclass(frozen=True)
class FinishImage(Edit):
    """The whole image is reviewed, or is not after all."""

    done: bool
    name = "finish image"


EDITS: dict[str, type[Edit]] = {
    kind.name: kind
    for kind in (
        AddSeed,
        MoveSeed,
        DeleteCell,
        MarkSpot,
        JoinNuclei,
        PartNucleus,
        PaintClump,
        PullOutline,
        JudgeCell,
        LabelCell,
        FinishImage,
    )
}
"""Every kind of edit by its name."""


def read_edit(record: Mapping[str, Any]) -> Edit:
    """Read an edit from JSON.

    Raises
    ------
    ValueError
        If there is no such edit, or its values are not what it needs.
    """
    name = record.get("edit")
    kind = EDITS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ValueError(f"there is no edit {name!r}; the edits are {', '.join(EDITS)}")
    names = {field.name for field in fields(kind)}
    given = {key: value for key, value in record.items() if key != "edit"}
    if set(given) != names:
        raise ValueError(f"{name} needs {', '.join(sorted(names))}; given were {', '.join(sorted(given)) or 'none'}")
    return kind(**given)


_MEANING = {
    "int": "a whole number > 0",
    "float": "a finite number",
    "str": "a word",
    "bool": "true or false",
    "tuple[tuple[float, float], ...]": "a list of rows and columns",
}


def _is_a(value: object, kind: str) -> bool:
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "int":
        return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31
    if kind == "float":
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if kind == "str":
        return isinstance(value, str)
    return isinstance(value, tuple) and all(
        isinstance(point, tuple) and len(point) == 2 and all(_is_a(part, "float") for part in point) for point in value
    )
