"""All cells of a slide, in the order of a Hilbert curve, from the files of its jobs: a group of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.io.slide_results import NOT_NUMBERS, RADIUS_UNIT
from declump.measurements.columns import CELL_COLUMNS, arrange_columns
from declump.shapes import contours
from declump.slides.cells import JobPlan
from declump.slides.hilbert import hilbert_index
from declump.slides.store import Store

GROUP = 4096
"""Cells that are in memory at a time, and lie in one group of rows of a file."""
OPEN_JOBS = 1024
"""Files of jobs whose content is kept: cells of one group come from few of them."""
TRUTHS = ("whole", "touches_border")
"""Columns that are true or false."""


@dataclass(frozen=True, eq=False)
class Gathered:
    """Where the cells of a slide are.

    Attributes
    ----------
    store : Store
    names : tuple of str
        Of the jobs.
    job, row : (N,) int64
        Which row of which job each cell is, in the order of the curve.
    boxes : (N, 4) int32
        Their extents, within the slide.
    """

    store: Store
    names: tuple[str, ...]
    job: NDArray[np.int64]
    row: NDArray[np.int64]
    boxes: NDArray[np.int32]

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.job)

    @property
    def columns(self) -> list[str]:
        """Names of the measurements."""
        nothing = {column.name: np.empty(0) for column in CELL_COLUMNS}
        named = arrange_columns(nothing, CELL_COLUMNS, self.store.record.statistics.pixel_size)
        return [name for name in named if name not in NOT_NUMBERS]

    def groups(self) -> Iterator[tuple[int, dict[str, NDArray[Any]]]]:
        """Number of the first cell, from 0, and the values of ``GROUP`` cells by column, one group after the other."""
        wanted = ("clump", "seeds", "radii", "nucleus_radii", "at_cut", "table", "warnings")
        load = lru_cache(maxsize=OPEN_JOBS)(lambda job: self.store.load("cells", self.names[job], wanted))
        for first in range(0, len(self), GROUP):
            jobs, rows = self.job[first : first + GROUP], self.row[first : first + GROUP]
            group: dict[str, NDArray[Any]] = {}
            for job in np.unique(jobs).tolist():
                content, chosen = load(job), jobs == job
                for name in wanted:
                    values = content[name].astype(object) if name == "warnings" else content[name]
                    if name not in group:
                        group[name] = np.zeros((len(jobs), *values.shape[1:]), values.dtype)
                    group[name][chosen] = values[rows[chosen]]
            yield first, group


def gather(store: Store, plan: JobPlan) -> Gathered:
    """Find all cells of a slide, and order them."""
    seeds, jobs, rows, boxes = [], [], [], []
    for job, name in enumerate(plan.names):
        content = store.load("cells", name, ("seeds", "radii"))
        seeds.append(content["seeds"].astype(np.int64))
        jobs.append(np.full(len(content["seeds"]), job, np.int64))
        rows.append(np.arange(len(content["seeds"])))
        boxes.append(find_extents(content["seeds"], content["radii"], store.record.shape))
    places = np.concatenate([np.empty((0, 2), np.int64), *seeds])
    order = np.lexsort((places[:, 1], places[:, 0], hilbert_index(places[:, 0], places[:, 1])))
    return Gathered(
        store,
        plan.names,
        np.concatenate([np.empty(0, np.int64), *jobs])[order],
        np.concatenate([np.empty(0, np.int64), *rows])[order],
        np.concatenate([np.empty((0, 4), np.int32), *boxes])[order],
    )


def find_extents(seeds: NDArray[Any], radii: NDArray[np.uint16], shape: tuple[int, int]) -> NDArray[np.int32]:
    """Extents (N, 4) in whole pixels, within a slide (H, W), of outlines in sixteenths of a pixel."""
    if not len(seeds):
        return np.empty((0, 4), np.int32)
    sides = []
    for axis, towards in enumerate(contours.directions(radii.shape[1])):
        reach = radii * RADIUS_UNIT * towards
        low = np.floor(seeds[:, axis] + reach.min(axis=1))
        high = np.ceil(seeds[:, axis] + reach.max(axis=1)) + 1
        sides.append((np.clip(low, 0, shape[axis] - 1), np.clip(high, 1, shape[axis])))
    (top, bottom), (left, right) = sides
    return np.column_stack([top, left, bottom, right]).astype(np.int32)
