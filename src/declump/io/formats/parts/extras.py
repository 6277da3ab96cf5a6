"""Libraries that only some formats need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from declump._installation import how_to_install
from declump.errors import MissingExtraError


def require(library: str, extra: str, purpose: str) -> Any:
    """Import a library, or say how to install it.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        return import_module(library)
    except ImportError:
        raise MissingExtraError(
            f"{purpose} needs {library.partition('.')[0]}: install it by {how_to_install(extra)}"
        ) from None
