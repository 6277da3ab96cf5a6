"""``cells.csv``: a row for each cell."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.errors import BROKEN, reason_of
from declump.io.formats.parts.result import Result
from declump.io.formats.parts.tables import Columns, columns

FILE = "cells.csv"
DIGITS = 9
"""Significant digits of a number that is not whole: enough for a thousandth of a pixel in the largest slide."""

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a text for a formula; an apostrophe before it says that it is none."""


def write(result: Result, path: Path) -> None:
    """Write a header and a row for each cell."""
    write_table(columns(result), path)


def write_table(table: Columns, path: Path) -> None:
    """Write a header and a row for each value of the columns; what is missing is empty."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        writer.writerows([_text(value) for value in row] for row in zip(*table.values(), strict=True))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULAS) else value
    # Adding 0 makes a plain 0 of a negative one.
    return f"{value + 0.0:.{DIGITS}g}" if isinstance(value, float) else str(value)


def read_column(path: Path, name: str) -> NDArray[np.float64]:
    """Read a column of numbers from a table; NaN where one is missing.

    Raises
    ------
    ValueError
        If there is no such table or column.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            values = [row[name] for row in csv.DictReader(file)]
        return np.array([float(value) if value else np.nan for value in values], dtype=np.float64)
    except (OSError, csv.Error, *BROKEN) as error:
        raise ValueError(f"{path} has no column {name!r} of numbers ({reason_of(error)})") from error


def read_numbers(path: Path) -> dict[str, NDArray[np.float64]]:
    """Read all columns of a table that hold numbers, or true and false; NaN where one is missing.

    Raises
    ------
    ValueError
        If it is no table.
    """
    words = {"": np.nan, "true": 1.0, "false": 0.0}
    found: dict[str, NDArray[np.float64]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        columns = zip(*rows, strict=True) if rows else ((),) * len(head)
        for name, values in zip(head, columns, strict=True):
            try:
                found[name] = np.array([words[text] if text in words else float(text) for text in values])
            except ValueError:
                continue  # texts
    except (OSError, csv.Error, *BROKEN) as error:
        raise ValueError(f"{path} is no table of cells ({reason_of(error)})") from error
    return found
