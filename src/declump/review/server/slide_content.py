"""What the page is told of the cells of a slide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump import pictures
from declump.report.content import describe
from declump.review.server.content import pack
from declump.review.slides.session import Note
from declump.review.slides.window import ShownCells
from declump.shapes import contours


def describe_shown(shown: ShownCells, notes: Mapping[int, Note], names: Sequence[str]) -> dict[str, Any]:
    """Everything that is drawn of cells, and their measurements."""
    numbers = shown.numbers.tolist()
    hidden = contours.hidden_edges(shown.seeds.astype(np.float64), shown.radii) if numbers else ()
    down, right = contours.directions(shown.nucleus_radii.shape[1])
    cells = []
    for row, (number, edges) in enumerate(zip(numbers, hidden, strict=True)):
        (top, left), reach = shown.seeds[row], shown.nucleus_radii[row]
        line = np.round(np.column_stack([left + reach * right, top + reach * down]), 1) if reach.any() else None
        cells.append(
            {
                **describe_place(number, shown.seeds[row], notes),
                "clump": int(shown.clumps[row]),
                "radii": pack(shown.radii[row]),
                "runs": [[first, count, int(dashed)] for first, count, dashed in pictures.runs(edges)],
                "nucleus": [] if line is None else [line.ravel().tolist()],
                "bare": line is None,
            }
        )
    return {"cells": cells, "measured": describe_columns(names, numbers, shown.table)}


def describe_place(number: int, seed: NDArray[np.int64], notes: Mapping[int, Note]) -> dict[str, Any]:
    """What is told of a cell that is seen from afar: where it is, and what a person said of it."""
    note = notes.get(number, Note())
    return {"n": number, "seed": [int(part) for part in seed], "verdict": note.verdict, "label": note.label}


def describe_columns(names: Sequence[str], numbers: Sequence[int], table: NDArray[np.float64]) -> dict[str, Any]:
    """Columns of the table of cells, and values (n, columns) by cell."""
    columns = [describe(name) for name in names]
    for column in columns:
        metric = column["name"].replace("_px", "_um")
        column["shown"] = bool(column["shown"] and (metric == column["name"] or metric not in names))
    values = [
        [float(f"{value:.5g}") if np.isfinite(value) else None for value in column] for column in table.T.tolist()
    ]
    return {"columns": columns, "numbers": list(numbers), "values": values}
