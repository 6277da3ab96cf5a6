"""Names that go: they work for two minor releases more, and say what to use instead."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

RELEASES_KEPT = 2
"""Minor releases for which a deprecated name still works."""
REMOVALS: dict[str, str] = {}
"""Everything that is deprecated, and the release that takes it away; a test holds the version against it."""


def removal_release(since: str) -> str:
    """Release that takes a name away that is deprecated since another one."""
    major, minor, *_ = (int(part) for part in since.split("."))
    return f"{major}.{minor + RELEASES_KEPT}.0"


def deprecated(use: str, *, since: str) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Mark a function that goes.

    Parameters
    ----------
    use : str
        What to use instead.
    since : str
        First release that warns.
    """

    def mark(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        name = f"{function.__module__}.{function.__qualname__}"
        message = _announce(f"{name}()", use, since)

        @functools.wraps(function)
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)

        return call

    return mark


def renamed_argument(old: str, new: str, *, since: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Let a function take an argument by its former name, too.

    Parameters
    ----------
    old, new : str
        Former and present name of the argument.
    since : str
        First release that warns.
    """

    def mark(function: Callable[..., Result]) -> Callable[..., Result]:
        name = f"{function.__module__}.{function.__qualname__}({old}=)"
        message = _announce(name, f"{new}=", since)

        @functools.wraps(function)
        def call(*args: object, **kwargs: object) -> Result:
            if old in kwargs:
                if new in kwargs:
                    raise TypeError(f"{function.__qualname__}() got both {old!r}, its former name, and {new!r}")
                warnings.warn(message, DeprecationWarning, stacklevel=2)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return mark


def _announce(name: str, use: str, since: str) -> str:
    REMOVALS[name] = removal_release(since)
    return f"{name} is deprecated since declump {since} and goes in {REMOVALS[name]}: use {use}"
