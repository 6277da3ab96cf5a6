"""What the page is told: cells, spots and clumps as JSON."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump import pictures
from declump.measurements import Measurements
from declump.records.crops import crop_labels
from declump.records.others import Others
from declump.records.segmentation import Segmentation
from declump.report.content import describe
from declump.review.changes import CellNotes
from declump.shapes import contours

TENTHS = 10
"""Radii are given in tenths of a pixel."""


def pack(radii: NDArray[np.float64]) -> str:
    """Radii (K,) in tenths of a pixel, two bytes each, the low one first, as base64."""
    tenths = np.clip(np.rint(radii * TENTHS), 0, 65535).astype("<u2")
    return base64.b64encode(tenths.tobytes()).decode()


def describe_steps(numbers: Sequence[int], radii: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Outlines on their way."""
    return [{"n": number, "radii": pack(outline)} for number, outline in zip(numbers, radii, strict=True)]


def describe_cells(
    result: Segmentation,
    nuclei: NDArray[np.int32],
    numbers: Sequence[int],
    rows: Iterable[int] | None = None,
) -> list[dict[str, Any]]:
    """Everything that is drawn of cells.

    Parameters
    ----------
    result : Segmentation
    nuclei : (H, W) int32
        Number of the row, from 1, at its nucleus.
    numbers : sequence of int
        Of the cells, a row each.
    rows : iterable of int, optional
        Which; by default all.
    """
    chosen = list(range(len(result)) if rows is None else rows)
    hidden = _find_hidden(result, chosen)
    traced = _trace_nuclei(nuclei, chosen, len(result))
    described = []
    for row, edges, lines in zip(chosen, hidden, traced, strict=True):
        described.append(
            {
                "n": numbers[row],
                "seed": np.round(result.seeds[row], 1).tolist(),
                "clump": int(result.clump[row]),
                "radii": pack(result.radii[row]),
                "runs": [[first, count, int(dashed)] for first, count, dashed in pictures.runs(edges)],
                "nucleus": lines,
            }
        )
    return described


def add_notes(described: Iterable[dict[str, Any]], cells: Mapping[int, CellNotes]) -> None:
    """Add to what is told of cells what a person said of them."""
    for told in described:
        cell = cells.get(told["n"], CellNotes())
        told |= {"verdict": cell.verdict, "label": cell.label, "bare": cell.bare is not None}


def find_affected(
    before: Segmentation | None, earlier: Sequence[int], now: Segmentation, numbers: Sequence[int]
) -> list[int]:
    """Rows of cells that are drawn otherwise than before: those that changed, and those that a changed one lies on."""
    if before is None:
        return list(range(len(now)))
    rows = {number: row for row, number in enumerate(earlier)}
    changed = [
        row
        for row, number in enumerate(numbers)
        if number not in rows
        or now.clump[row] != before.clump[rows[number]]
        or not np.array_equal(now.seeds[row], before.seeds[rows[number]])
        or not np.array_equal(now.radii[row], before.radii[rows[number]])
    ]
    gone = [rows[number] for number in set(earlier) - set(numbers)]
    old = [rows[numbers[row]] for row in changed if numbers[row] in rows]
    seeds = np.vstack([now.seeds[changed], before.seeds[[*gone, *old]]])
    if not len(seeds):
        return []
    reach = np.concatenate([now.radii[changed].max(axis=1), before.radii[[*gone, *old]].max(axis=1)])
    own = now.radii.max(axis=1, initial=0)
    near = [row for row in range(len(now)) if (np.hypot(*(seeds - now.seeds[row]).T) < reach + own[row]).any()]
    return sorted({*changed, *near})


def describe_others(others: Others | None) -> list[dict[str, Any]]:
    """Spots that are no nuclei."""
    if others is None:
        return []
    return [
        {"kind": kind, "place": np.round(place, 1).tolist()}
        for kind, place in zip(others.kinds, others.places, strict=True)
    ]


def describe_clump(clump: NDArray[np.bool_]) -> list[list[float]]:
    """Edges of the clumps: polylines, column and row in turn."""
    from skimage.measure import find_contours

    lines = find_contours(np.pad(clump, 1).astype(np.float32), 0.5)
    return [_flat(line - 1) for line in lines]


def describe_measurements(measured: Measurements, numbers: Sequence[int]) -> dict[str, Any]:
    """Columns of the table, and their values by cell."""
    names = list(measured.cells)
    columns = [describe(name) for name in names]
    for column in columns:
        metric = column["name"].replace("_px", "_um")
        column["shown"] = bool(column["shown"] and (metric == column["name"] or metric not in names))
    return {
        "columns": columns,
        "numbers": list(numbers),
        "values": [_plain(measured.cells[name]) for name in names],
    }


def _plain(values: NDArray[Any]) -> list[float | int | str | None]:
    if values.dtype.kind == "U":
        return [str(value) for value in values]
    if values.dtype.kind in "biu":
        return [int(value) for value in values]
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in values.tolist()]


def _flat(line: NDArray[np.float64]) -> list[float]:
    return [float(value) for value in np.round(line[:, ::-1], 1).ravel()]


def _find_hidden(result: Segmentation, rows: list[int]) -> NDArray[np.bool_]:
    """Which edges of the outlines of some cells lie inside others."""
    if len(rows) == len(result):
        return result.hidden_edges
    reach = result.radii.max(axis=1, initial=0)
    near = set(rows)
    for row in rows:
        near.update(np.flatnonzero(np.hypot(*(result.seeds - result.seeds[row]).T) < reach + reach[row]).tolist())
    order = [*rows, *sorted(near - set(rows))]
    return contours.hidden_edges(result.seeds[order], result.radii[order])[: len(rows)]


def _trace_nuclei(nuclei: NDArray[np.int32], rows: list[int], count: int) -> list[list[list[float]]]:
    from skimage.measure import find_contours

    crops = list(crop_labels(nuclei, count))
    traced = []
    for row in rows:
        crop = crops[row]
        lines = find_contours(np.pad(crop.mask, 1).astype(np.float32), 0.5) if crop.area else []
        traced.append([_flat(line + np.array([crop.top - 1, crop.left - 1])) for line in lines])
    return traced
