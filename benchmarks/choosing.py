"""Choosing the values of a few settings by what they are worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

S = TypeVar("S")


def choose_best(start: S, choices: Mapping[str, Sequence[Any]], merit: Callable[[S], float], *, min_gain: float) -> S:
    """Change one field of a dataclass at a time for the better, by more than a least gain, until none is."""
    settings, best = start, merit(start)
    while True:
        before = best
        for name, values in choices.items():
            for value in values:
                trial = replace(settings, **{name: value})  # type: ignore[type-var]
                if trial != settings and (worth := merit(trial)) > best + min_gain:
                    settings, best = trial, worth
        if best == before:
            return settings
