"""Tables as CSV: one line a figure, so that nothing has to be taken apart again."""

from __future__ import annotations

import csv
import io

import numpy as np

from declump_paper.research.tables import Table

COLUMNS = ("method", "title", "source", "figure", "value", "spread", "spread over images", "count")


def to_csv(table: Table) -> str:
    """Text of a table: method, its title, whose figure it is, which, its value, spread, count, and further numbers."""
    cells = [cell for row in table.rows for cell in row.cells if cell is not None]
    more = sorted({name for cell in cells for name in cell.more})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, *more])
    for row in table.rows:
        for name, cell in zip(table.columns, row.cells, strict=True):
            if cell is not None:
                numbers = [
                    cell.value,
                    cell.spread,
                    cell.over_images,
                    cell.count,
                    *(cell.more.get(part) for part in more),
                ]
                writer.writerow([row.method, row.label, row.source, name, *map(_number, numbers)])
    return out.getvalue()


def _number(value: float | None) -> str:
    return "" if value is None or np.isnan(value) else f"{value:.6g}"
