"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from declump.research.tables import Table
from declump.research.writing.cells import best, format_cell


def to_markdown(table: Table, *, level: int = 3) -> str:
    """Text of a table with its title and notes; our best figure of a column is bold, printed ones are italic."""
    lines = [f"{'#' * level} {table.title}", "", f"| | {' | '.join(table.columns)} |"]
    lines.append(f"|---|{'---|' * len(table.columns)}")
    winners = [best(table.rows, index, name) for index, name in enumerate(table.columns)]
    for row in table.rows:
        texts = [format_cell(cell) for cell in row.cells]
        if row.source == "printed":
            texts = [f"*{text}*" if text else "" for text in texts]
        else:
            texts = [
                f"**{text}**" if winner == row.method and text else text
                for text, winner in zip(texts, winners, strict=True)
            ]
        label = f"*{row.label}*" if row.source == "printed" else row.label
        lines.append(f"| {label} | {' | '.join(texts)} |")
    return "\n".join([*lines, *_notes(table.notes)])


def _notes(notes: Iterable[str]) -> list[str]:
    return [line for note in notes for line in ("", note)]
