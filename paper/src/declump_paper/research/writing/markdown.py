"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from declump_paper.research.tables import Table
from declump_paper.research.writing.cells import format_rows


def to_markdown(table: Table, *, level: int = 3) -> str:
    """Text of a table with its title and notes; our best figure of a column is bold, printed ones are italic."""
    lines = [f"{'#' * level} {table.title}", "", f"| | {' | '.join(table.columns)} |"]
    lines.append(f"|---|{'---|' * len(table.columns)}")
    for row, texts in format_rows(table, bold=lambda text: f"**{text}**", italic=lambda text: f"*{text}*"):
        label = f"*{row.label}*" if row.source == "printed" else row.label
        lines.append(f"| {label} | {' | '.join(texts)} |")
    return "\n".join([*lines, *_notes(table.notes)])


def _notes(notes: Iterable[str]) -> list[str]:
    return [line for note in notes for line in ("", note)]
