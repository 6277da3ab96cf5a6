"""A run over a slide as a worker has it open: slide, networks and store, once a process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump.io.slide_results import RECORD_FILE
from declump.pipelines.by_clump import Pieces, find_view_reach
from declump.pipelines.cutting import CutClump
from declump.pipelines.solve import CellSolver
from declump.records.boxes import Box
from declump.records.statistics import ImageStatistics
from declump.regions.by_window import RegionFinder
from declump.regions.channels import to_channels
from declump.slides.readers import Slide, open_slide
from declump.slides.record import SlideRecord
from declump.slides.stitching import Stitched
from declump.slides.store import Store


@dataclass(frozen=True, eq=False)
class Opened:
    """What the tasks of a run share.

    Attributes
    ----------
    store : Store
    """

    store: Store

    @property
    def record(self) -> SlideRecord:
        """The record of the run."""
        return self.store.record

    @cached_property
    def slide(self) -> Slide:
        """The slide: one handle a process."""
        return open_slide(Path(self.record.slide), self.record.options.level)

    @cached_property
    def finder(self) -> RegionFinder:
        """What finds regions."""
        return self.record.options.find_regions(self.record.statistics, self.record.shape)

    @cached_property
    def solver(self) -> CellSolver:
        """How cells are found."""
        return self.record.options.cell_solver()

    @property
    def statistics(self) -> ImageStatistics:
        """Statistics of the slide, complete once its regions are found."""
        return self.store.statistics

    @cached_property
    def reach(self) -> int:
        """Pixels round a clump that are looked at."""
        return find_view_reach(self.statistics, self.solver)

    def see(self, box: Box) -> NDArray[np.float32]:
        """Channels (3, h, w) of a box of the slide."""
        return to_channels(self.slide.read(box), self.record.statistics.exposure, box)

    def load_stitched(self, name: str) -> Stitched:
        """Pieces of the slide by name, read once."""
        return _load_stitched(self.store, name)

    def choose(self, name: str, tile: int) -> NDArray[np.bool_]:
        """Which pieces of a tile are chosen: holes to fill, clumps to keep."""
        return _load_chosen(self.store, name)[self.load_stitched(name).of_tile(tile)]

    def load_pieces(self) -> Pieces:
        """Clumps of the slide, and parts of those that were cut, read once."""
        return _load_pieces(self.store)


@lru_cache(maxsize=4)
def _load_stitched(store: Store, name: str) -> Stitched:
    told = store.load("stitched", name)
    return Stitched(told["starts"], told["member"], told["areas"], told["boxes"])


@lru_cache(maxsize=4)
def _load_chosen(store: Store, name: str) -> NDArray[np.bool_]:
    return np.asarray(store.load("stitched", name)["chosen"])


@lru_cache(maxsize=2)
def _load_pieces(store: Store) -> Pieces:
    count = len(store.load("stitched", "clumps")["areas"])
    cuts = {}
    for number in store.load("stitched", "cuts")["clumps"].tolist():
        told = store.load("cuts", number)
        cuts[number] = CutClump(Box(*told["extent"].tolist()), told["parts"], int(told["first"]))
    return Pieces(count, cuts)


def open_run(out: str) -> Opened:
    """Open the run in a folder; kept as long as its record stays the same."""
    return _open_run(out, (Path(out) / RECORD_FILE).stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _open_run(out: str, _changed: int) -> Opened:
    return Opened(Store(Path(out), SlideRecord.read(Path(out))))
