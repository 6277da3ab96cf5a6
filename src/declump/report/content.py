"""What the script of the page reads: measurements of all cells, and the outlines of one image after the other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump import pictures
from declump.measurements import CELL_COLUMNS, Column
from declump.report.results import ImageResult

TENTHS = 10
"""Radii are given in tenths of a pixel, as whole numbers are short."""
_LABELS = {"id": "cell", "nucleus_to_cytoplasm_area_ratio": "N/C ratio", "overlap_degree": "overlap"}
_SHOWN = (
    "id",
    "area",
    "nucleus_area",
    "nucleus_to_cytoplasm_area_ratio",
    "overlap_degree",
    "circularity",
    "confidence",
    "warnings",
)
"""Columns of the table at first, without their units."""
_UNITS = {"px": "px", "px2": "px²", "um": "µm", "um2": "µm²"}


def describe(name: str) -> dict[str, Any]:
    """Label, unit, meaning and kind of a column of cells, and whether the table has it at first."""
    plain, _, ending = name.rpartition("_")
    stem = plain if ending in _UNITS else name
    column = next(column for column in CELL_COLUMNS if name in _names(column))
    unit = _UNITS.get(ending, "")
    label = _LABELS.get(stem, stem.replace("_", " "))
    return {
        "name": name,
        "label": f"{label} ({unit})" if unit else label,
        "meaning": column.meaning.replace("`", "") + f" [{unit or column.unit}]",
        "kind": {"true or false": "truth", "words": "text"}.get(column.unit, "number"),
        # Of twins the table shows those in micrometres.
        "shown": stem in _SHOWN,
    }


def all_cells(results: Sequence[ImageResult], min_confidence: float = 0.0) -> dict[str, Any]:
    """Columns and measurements of all cells, the colours to draw them with, and what the page shows at first."""
    names = list(results[0].measurements.cells) if results else []
    columns = [describe(name) for name in names]
    for column in columns:
        metric = column["name"].replace("_px", "_um")
        column["shown"] &= metric == column["name"] or metric not in names
    image = {"name": "image", "label": "image", "meaning": "name of the image", "kind": "text", "shown": True}
    return {
        "columns": [image, *columns],
        "images": [
            {
                "name": result.name,
                "values": [_numbers(result.measurements.cells[name]) for name in names],
                "colours": pictures.category_colours(result.segmentation).tolist(),
            }
            for result in results
        ],
        "categories": [_css(colour) for colour in pictures.COLOURS],
        "ramp": [list(colour) for colour in pictures.RAMP],
        "unknown": _css(pictures.UNKNOWN),
        "filter": {"name": "confidence", "least": min_confidence} if min_confidence > 0 and names else None,
    }


def outlines(result: ImageResult) -> dict[str, Any]:
    """Picture and outlines of one image, in the coordinates of an SVG: column before row, the first corner is 0."""
    segmentation = result.segmentation
    hidden = segmentation.hidden_edges
    tenths = np.rint(segmentation.radii * TENTHS).astype(int)
    return {
        "height": segmentation.shape[0],
        "width": segmentation.shape[1],
        "picture": result.picture,
        "burnt": result.burnt,
        "cells": [
            {
                "seed": [round(column + 0.5, 1), round(row + 0.5, 1)],
                "radii": radii.tolist() if radii.any() else [],
                "runs": pictures.runs(edges),
                "nucleus": [np.round(line[:, ::-1] + 0.5, 1).ravel().tolist() for line in traced],
            }
            for (row, column), radii, edges, traced in zip(
                segmentation.seeds.tolist(), tenths, hidden, pictures.nucleus_outlines(segmentation), strict=True
            )
        ],
    }


def embed(content: Any) -> str:
    """JSON that can stand in a script element: no name can end the element."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _names(column: Column) -> tuple[str, ...]:
    twin = column.in_micrometres
    return (column.name,) if twin is None else (column.name, twin[0])


def _numbers(values: NDArray[Any]) -> list[float | int | str | None]:
    """Give whole numbers and texts as they are, others with six digits; None for what is not known."""
    if values.dtype.kind == "U":
        return [str(value) for value in values]
    if values.dtype.kind in "biu":
        return [int(value) for value in values]
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values.tolist()]


def _css(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
