"""What a run over a slide does, as it is kept in ``record.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from declump.batch import Options
from declump.pipelines.cutting import MAX_CELLS, MAX_SIDE, Limits
from declump.pipelines.solve import CellSolver
from declump.records.statistics import ImageStatistics
from declump.regions.by_window import RegionFinder

TILE = 1536
"""Sides in pixels of the parts in which a slide is looked at."""


@dataclass(frozen=True)
class SlideOptions:
    """How the cells of a slide are found.

    Attributes
    ----------
    cells : Options
        As for single images; what only changes files
        of single images is not heeded.
    level : int
        Of the pyramid.
    max_cells, max_side : int
        Above which clumps are cut: see :mod:`declump.pipelines.cutting`.
    tile : int
        Sides in pixels of the parts in which the slide is looked at. Changes no cell, but the memory.
    """

    cells: Options = field(default_factory=Options)
    level: int = 0
    max_cells: int = MAX_CELLS
    max_side: int = MAX_SIDE
    tile: int = TILE

    def __post_init__(self) -> None:
        """Refuse what cannot be, before any work."""
        _ = self.limits
        if self.cells.evidence not in (None, "rays", "clump"):
            raise ValueError(f"evidence must be 'rays' or 'clump', got {self.cells.evidence!r}")
        if not 128 <= self.tile <= 16384:
            raise ValueError(f"the sides of tiles are from 128 to 16384 pixels; given was {self.tile}")
        if self.cells.evidence is None:  # as the command line names it, so that each takes up what the other began
            evidence = "clump" if self.cell_solver().rays is None else "rays"
            object.__setattr__(self, "cells", replace(self.cells, evidence=evidence))

    @property
    def limits(self) -> Limits:
        """Above which clumps are cut."""
        return Limits(self.max_cells, self.max_side)

    def cell_solver(self) -> CellSolver:
        """How cells are found in clumps."""
        given = self.cells
        return CellSolver.from_names(given.evidence, given.rays, given.prior, given.setting, given.min_nucleus)

    def find_regions(self, statistics: ImageStatistics, shape: tuple[int, int]) -> RegionFinder:
        """Give what finds the regions of any part of a slide."""
        return RegionFinder(self.cells.region_options(statistics.pixel_size).in_pixels(), statistics, shape)

    def to_record(self) -> dict[str, Any]:
        """Give all that changes cells, as JSON takes it."""
        return {
            "cells": self.cells.record(),
            "level": self.level,
            "max_cells": self.max_cells,
            "max_side": self.max_side,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any], tile: int) -> SlideOptions:
        """Read them back."""
        return cls(Options.from_record(record["cells"]), record["level"], record["max_cells"], record["max_side"], tile)
