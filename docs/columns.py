"""Writes the tables of all measured columns into docs/measurements.md.

python docs/columns.py
"""

from __future__ import annotations

import sys
from pathlib import Path

from declump.measurements import CELL_COLUMNS, CLUMP_COLUMNS, IMAGE_COLUMNS, Column

PAGE = "docs/measurements.md"
TABLES = {"cell columns": CELL_COLUMNS, "clump columns": CLUMP_COLUMNS, "image columns": IMAGE_COLUMNS}


def table(columns: tuple[Column, ...]) -> str:
    """Columns as a Markdown table; one in micrometres shares the row of its twin in pixels."""
    lines = ["| column | unit | meaning |", "|---|---|---|"]
    for column in columns:
        twin = column.in_micrometres
        names = f"`{column.name}`" + (f", `{twin[0]}`" if twin else "")
        unit = column.unit + (f", {column.unit.replace('px', 'µm')}" if twin else "")
        lines.append(f"| {names} | {unit} | {column.meaning} |")
    return "\n".join(lines)


def main() -> None:
    """Write all tables."""
    # The command that puts text into a page is shared with the benchmarks, which are no package.
    sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
    from pages import replace_part

    for part, columns in TABLES.items():
        replace_part(PAGE, part, table(columns))


if __name__ == "__main__":
    main()
