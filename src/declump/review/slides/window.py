"""Cells of a slide under review, as a window of it shows them: those that were found, and those of edited clumps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from declump.io.slide_results import BOX, OUTLINES, PLACE, RADIUS_UNIT, SlideResult
from declump.records.boxes import Box
from declump.review.slides.pieces import SolvedPiece


@dataclass(frozen=True, eq=False)
class ShownCells:
    """Cells with their outlines and measurements.

    Attributes
    ----------
    numbers, clumps : (n,) int64
    seeds : (n, 2) int64
    radii, nucleus_radii : (n, K) float64
        In pixels.
    table : (n, columns) float64
        Measurements in the order of :func:`measured_columns`.
    """

    numbers: NDArray[np.int64]
    clumps: NDArray[np.int64]
    seeds: NDArray[np.int64]
    radii: NDArray[np.float64]
    nucleus_radii: NDArray[np.float64]
    table: NDArray[np.float64]

    @classmethod
    def join(cls, parts: Sequence[ShownCells]) -> ShownCells:
        """Put cells together."""
        return cls(*(np.concatenate([getattr(part, name.name) for part in parts]) for name in fields(cls)))

    def choose(self, rows: NDArray[np.bool_]) -> ShownCells:
        """Some of them."""
        return ShownCells(*(getattr(self, name.name)[rows] for name in fields(self)))


def measured_columns(found: SlideResult) -> list[str]:
    """Names of the measurements of the cells of a slide."""
    return [name for name in found.columns if name not in (*PLACE, *BOX, *OUTLINES, "warnings")]


def read_found(found: SlideResult, box: Box) -> ShownCells:
    """Read the cells in a window as they were found."""
    names = measured_columns(found)
    read = found.read_window(*box, columns=names)
    table = np.array([np.asarray(read.columns[name], np.float64) for name in names])
    return ShownCells(
        read.ids, read.columns["clump"].astype(np.int64), read.seeds, read.radii, read.nucleus_radii, table.T
    )


def show_solved(solved: SolvedPiece) -> ShownCells:
    """Cells of an edited piece."""
    rows = solved.rows
    return ShownCells(
        np.array(solved.numbers, np.int64),
        rows["clump"],
        rows["seeds"].astype(np.int64),
        np.asarray(rows["radii"] * RADIUS_UNIT, np.float64),
        np.asarray(rows["nucleus_radii"] * RADIUS_UNIT, np.float64),
        rows["table"],
    )
