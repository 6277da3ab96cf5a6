"""Entries of tables as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from declump_paper.research.tables import Cell, Row, Table


def format_cell(cell: Cell | None, plus_minus: str = " ± ", nothing: str = "") -> str:
    """Text of an entry: value and spread, or what stands for them."""
    if cell is None:
        return nothing
    if cell.text is not None:
        return cell.text
    if np.isnan(cell.value):
        return nothing or "-"
    value = f"{cell.value:.{cell.digits}f}"
    if cell.spread is None:
        return value
    over_images = "" if cell.over_images is None else f" ({cell.over_images:.{cell.digits}f})"
    return f"{value}{plus_minus}{cell.spread:.{cell.digits}f}{over_images}"


def format_rows(
    table: Table, *, bold: Callable[[str], str], italic: Callable[[str], str], escape: Callable[[str], str] = str
) -> Iterator[tuple[Row, list[str]]]:
    """Give each row with the texts of its entries: our best figure of a column in bold, printed ones in italics."""
    winners = [best(table.rows, index, name) for index, name in enumerate(table.columns)]
    for row in table.rows:
        texts = [escape(format_cell(cell)) for cell in row.cells]
        if row.source == "printed":
            yield row, [italic(text) if text else "" for text in texts]
        else:
            marks = [bold if winner == row.method else str for winner in winners]
            yield row, [mark(text) if text else "" for mark, text in zip(marks, texts, strict=True)]


def best(rows: tuple[Row, ...], column: int, name: str) -> str | None:
    """Method of ours with the best mean of a column; None where that means nothing."""
    if name not in _BETTER:
        return None
    known = [(row.cells[column], row.method) for row in rows if row.source == "ours"]
    values = [(cell.value, method) for cell, method in known if cell is not None and cell.text is None]
    values = [(value, method) for value, method in values if not np.isnan(value)]
    if len(values) < 2:
        return None
    return min(values, key=lambda pair: _BETTER[name] * round(pair[0], 3))[1]


_BETTER = {"TPR": -1, "TNR": -1, "FPR": 1, "FNR A": 1, "FNR B": 1}
_BETTER |= dict.fromkeys(("(0, 1/4)", "[1/4, 1/2)", "[1/2, 3/4)", "[3/4, 1)", "overall", "all cells"), -1)
