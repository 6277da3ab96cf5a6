"""All tables and figures of a run as one HTML page that needs no other file."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape

from declump_paper.research.tables import Table
from declump_paper.research.writing.cells import best, format_cell

STYLE = """
body { margin: 0 auto; max-width: 1500px; padding: 1rem; color: #1d2329; background: #fff; }
body { font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #d5dadf; text-align: left; white-space: nowrap; }
thead th { background: #f1f3f5; }
tr.printed { color: #5d6770; font-style: italic; }
tr.printed th { padding-left: 1.6rem; font-weight: normal; }
.best { font-weight: 700; }
.note, dd { color: #5d6770; max-width: 75rem; margin: .3rem 0; }
dl { display: grid; grid-template-columns: max-content auto; gap: .1rem 1rem; } dd { margin: 0; }
img { display: block; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; }
"""


def html_page(
    title: str,
    facts: Mapping[str, str],
    tables: Sequence[Table],
    *,
    picture: bytes | None = None,
    plots: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Text of the page.

    Parameters
    ----------
    title : str
    facts : mapping of str to str
        What was run, by name.
    tables : sequence of Table
    picture : bytes, optional
        The visual comparison as PNG.
    plots : mapping of str to sequences of str, optional
        By the name of a table: SVG elements that stand above it.
    """
    told = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    parts = [f"<h1>{escape(title)}</h1>", f"<dl>{told}</dl>"]
    for table in tables:
        parts.append(f"<h2>{escape(table.title)}</h2>")
        drawn = (plots or {}).get(table.name, ())
        parts += [f'<div class="plots">{"".join(drawn)}</div>'] if drawn else []
        parts.append(_table(table))
        parts += [f'<p class="note">{escape(note)}</p>' for note in table.notes]
    if picture is not None:
        data = base64.b64encode(picture).decode()
        note = (
            "Of each image the clump of three to ten cells with the largest mean overlap degree; those of the four "
            "images where that is largest. Dashed: hidden parts of an outline."
        )
        parts.append("<h2>Visual comparison</h2>")
        shown = f'<img alt="One row an example, one column a method" src="data:image/png;base64,{data}">'
        parts.append(f'<div class="wide">{shown}</div>')
        parts.append(f'<p class="note">{note}</p>')
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    winners = [best(table.rows, index, name) for index, name in enumerate(table.columns)]
    lines = []
    for row in table.rows:
        cells = []
        for cell, winner in zip(row.cells, winners, strict=True):
            mark = ' class="best"' if row.source == "ours" and winner == row.method else ""
            cells.append(f"<td{mark}>{escape(format_cell(cell))}</td>")
        lines.append(f'<tr class="{row.source}"><th scope="row">{escape(row.label)}</th>{"".join(cells)}</tr>')
    body = "".join(lines)
    return f'<div class="wide"><table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table></div>'
