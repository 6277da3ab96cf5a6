"""Parameter studies of the paper: accuracy and time by K, by t and by the threshold E*."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from declump.evolution.settings import SETTINGS
from declump_paper.research.learning import FULL, PLAIN, Learning
from declump_paper.research.methods import ExperimentMethod
from declump_paper.research.results import Results
from declump_paper.research.tables import Cell, Row, Table

Name = Literal["K", "t", "E"]
TITLES = {"K": "radii of an outline, K", "t": "modes, t", "E": "threshold E*, share of the clump"}
STUDIES: dict[Name, tuple[float, ...]] = {
    "K": (90, 180, 360, 720, 1080),
    "t": (2, 5, 10, 15, 20, 30),
    "E": (0.0, 0.01, 0.02, 0.05, 0.1, 0.2),
}
"""What is tried; the paper names these K and prints t = 20 and E* = 5 %."""
_SETTINGS = {"joint": ("declump", FULL), "paper": ("paper without importance", PLAIN)}


@dataclass(frozen=True)
class Study:
    """One parameter tried.

    Attributes
    ----------
    name : "K", "t" or "E"
    values : tuple of float
    lines : mapping of str to tuples of ExperimentMethod
        By the title of a setting: one method a value.
    """

    name: Name
    values: tuple[float, ...]
    lines: dict[str, tuple[ExperimentMethod, ...]]

    @property
    def methods(self) -> tuple[ExperimentMethod, ...]:
        """All methods to run."""
        return tuple(method for line in self.lines.values() for method in line)


def choose_studies(words: Sequence[str]) -> list[Study]:
    """Give studies by name: ``"K"`` of all settings, ``"K:paper"`` of one.

    Raises
    ------
    ValueError
        If there is no such study or setting.
    """
    asked: dict[str, set[str]] = {}
    for word in words:
        name, _, setting = word.partition(":")
        if name not in STUDIES:
            raise ValueError(f"there is no study {name!r}; the studies are {', '.join(STUDIES)}")
        if setting and setting not in _SETTINGS:
            raise ValueError(f"{setting!r} is not studied; the settings are {', '.join(_SETTINGS)}")
        asked.setdefault(name, set()).update([setting] if setting else _SETTINGS)
    return [_study(name, [one for one in _SETTINGS if one in asked[name]]) for name in STUDIES if name in asked]


def study_table(results: Results, study: Study) -> Table:
    """Accuracy and time at each value, for each setting."""
    rows = []
    for title, line in study.lines.items():
        for value, method in zip(study.values, line, strict=True):
            score = results.pooled(method.name)
            hidden = score.dice[score.overlap_degree > 0]
            accuracy = Cell(float(hidden.mean()), float(hidden.std()), hidden.size) if hidden.size else None
            rows.append(
                Row(
                    f"{title}, {study.name} = {value:g}",
                    (accuracy, Cell(milliseconds(results, method.name), digits=1)),
                    method=method.name,
                )
            )
    note = "Dice of overlapping cells (mean ± standard deviation over cells) and processor time."
    if study.name == "t":
        note += " Where the training shapes have fewer modes than t, all of them are taken."
    return Table(
        f"study-{study.name}",
        f"Study of {TITLES[study.name]}",
        ("Dice, overlapping", "ms a cell"),
        tuple(rows),
        (note,),
    )


def milliseconds(results: Results, method: str) -> float:
    """Processor time a cell."""
    tested = [one for _, one in results.tested[method]]
    cells = sum(len(one.score.dice) for one in tested)
    return 1e3 * float(np.sum([one.seconds for one in tested])) / max(cells, 1)


def _study(name: Name, settings: Sequence[str]) -> Study:
    values = STUDIES[name]
    lines = {
        title: tuple(_method(name, value, setting, learning) for value in values)
        for setting, (title, learning) in ((setting, _SETTINGS[setting]) for setting in settings)
    }
    return Study(name, values, lines)


def _method(name: Name, value: float, setting: str, learning: Learning) -> ExperimentMethod:
    settings = SETTINGS[setting]
    if name == "K":
        learning = replace(learning, rays=int(value))
    elif name == "t":
        learning = replace(learning, modes=int(value))
    else:
        settings = replace(settings, explained=value)
    label = f"{setting}-{name}{value:g}"
    return ExperimentMethod(label, label, settings, learning, group="study")
