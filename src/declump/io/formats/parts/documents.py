"""JSON from files that others may have written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

MAX_PIXELS = 2**31
"""A file that tells of a larger image is not believed: a few bytes must not take all memory."""


def read_json(path: Path) -> Any:
    """Read a document; numbers are finite.

    Raises
    ------
    ValueError, RecursionError
        If it is none.
    """
    return json.loads(path.read_bytes(), parse_constant=_refuse)


def check_size(height: Any, width: Any) -> tuple[int, int]:
    """Give the size (H, W) of an image that a file tells of, or refuse one that cannot be."""
    if type(height) is not int or type(width) is not int or min(height, width) < 0 or height * width > MAX_PIXELS:
        raise ValueError(f"its image has {height} x {width} pixels; at most {MAX_PIXELS} are read")
    return height, width


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}, which is no number")
