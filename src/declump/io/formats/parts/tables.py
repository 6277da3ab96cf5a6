"""The table of a result: one row a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.io.formats.parts.result import Result

Columns = dict[str, Sequence[Any]]


@lru_cache(maxsize=1)  # several formats of one result ask for them
def columns(result: Result) -> Columns:
    """Columns of the table, each with one value a cell: plain numbers, texts, or None where one is missing.

    The measurements, if there are any, with the numbers of the cells as ``id`` before them; otherwise what follows
    from the outlines alone.
    """
    count = len(result.segmentation)
    if result.measurements is None:
        return {**result.segmentation.to_columns()}
    measured = plain_columns(result.measurements)
    return measured if "id" in measured else {"id": list(range(1, count + 1)), **measured}


def plain_columns(measured: Mapping[str, Sequence[Any] | NDArray[Any]]) -> Columns:
    """Plain numbers and texts of measured columns, None where one is missing."""
    return {name: [plain(value) for value in values] for name, values in measured.items()}


def plain(value: Any) -> Any:
    """Give a number or text as JSON and CSV have it, None for one that is missing."""
    value = value.item() if isinstance(value, np.generic) else value
    missing = value is None or (isinstance(value, float) and np.isnan(value))
    if not missing and not isinstance(value, bool | int | float | str):
        raise ValueError(f"measurements are numbers and texts; {value!r} is a {type(value).__name__}")
    return None if missing else value
