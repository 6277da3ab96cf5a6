"""``others.csv``: a row for each spot that was judged to be no nucleus."""

from __future__ import annotations

from pathlib import Path

from declump.io.formats.csv_table import write_table
from declump.io.formats.parts.result import Result

FILE = "others.csv"


def write(result: Result, path: Path) -> None:
    """Write a header and a row for each; no file where no judge looked."""
    others = result.segmentation.others
    if others is not None:
        write_table({name: list(values) for name, values in others.to_columns().items()}, path)
