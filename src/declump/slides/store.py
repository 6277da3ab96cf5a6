"""Where the work of a run over a slide lies: a folder of files that are whole or not there.

A file that is in place is done: that is the ledger of the run, whatever became of its processes.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import sync_file, write_atomically
from declump.pipelines.by_clump import OwnedCandidates
from declump.records.boxes import Box
from declump.records.spots import Spots
from declump.records.statistics import ImageStatistics
from declump.slides.grid import Grid
from declump.slides.readers import import_library
from declump.slides.record import SlideRecord

WORK, REGIONS = "work", "regions.zarr"
CLUMP, FILLED, CLEAN, NUMBERS = "clump", "filled", "clean", "numbers"
"""Arrays of the Zarr store: where the network sees any cell, the same without holes and without specks, and the numbers
of clumps."""
KEPT_TILES = 32
"""Tiles whose spots a worker keeps: one clump after the other lies near them."""
SIZES = ("scale", "nucleus_area", "cell_area")
"""What the regions of a slide add to its statistics."""


@dataclass(frozen=True, eq=False)
class Store:
    """The work of one run.

    Attributes
    ----------
    out : Path
        Folder of the results.
    record : SlideRecord
    """

    out: Path
    record: SlideRecord

    @property
    def grid(self) -> Grid:
        """The tiles."""
        return Grid(self.record.shape, self.record.options.tile)

    @property
    def work(self) -> Path:
        """Folder of the work; another tile size has another."""
        return self.out / WORK

    def path(self, kind: str, name: str | int) -> Path:
        """Where a file of a kind of work lies."""
        return self.work / kind / f"{name}.npz"

    def has(self, kind: str, name: str | int) -> bool:
        """Whether a piece of work is done."""
        return self.path(kind, name).is_file()

    def save(self, kind: str, name: str | int, arrays: Mapping[str, Any]) -> None:
        """Put a piece of work into place, whole; the same arrays give the same bytes."""
        path = self.path(kind, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        content = io.BytesIO()
        np.savez(content, **arrays)
        write_atomically(path, content.getvalue())

    def load(self, kind: str, name: str | int, keys: Sequence[str] | None = None) -> dict[str, NDArray[Any]]:
        """Read a piece of work, or those of its arrays that are asked for."""
        with np.load(self.path(kind, name), allow_pickle=False) as archive:
            return {key: archive[key] for key in (archive.files if keys is None else keys)}

    def write(self, name: str, tile: int, values: NDArray[Any]) -> None:
        """Write a tile of an array of the Zarr store, and have it on the disk before any file says that it is done."""
        box = self.grid.box(tile)
        array = self.arrays[name]
        array[box.slices] = values.astype(array.dtype)
        row, column = divmod(tile, self.grid.counts[1])
        chunk = self.work / REGIONS / name / "c" / str(row) / str(column)
        if chunk.is_file():  # one of nothing but zeros is not written
            sync_file(chunk)

    def create_arrays(self) -> None:
        """Make the Zarr store, if it is not there."""
        zarr = import_library("zarr")
        group = zarr.open_group(self.work / REGIONS, mode="a")
        side = self.record.options.tile
        for name, kind in ((CLUMP, "uint8"), (FILLED, "uint8"), (CLEAN, "uint8"), (NUMBERS, "uint32")):
            if name not in group:
                group.create_array(name, shape=self.record.shape, chunks=(side, side), dtype=kind, fill_value=0)

    @cached_property
    def arrays(self) -> Any:
        """The Zarr store."""
        return import_library("zarr").open_group(self.work / REGIONS, mode="r+")

    def read_numbers(self, box: Box) -> NDArray[np.uint32]:
        """Numbers of clumps in a box."""
        return np.asarray(self.arrays[NUMBERS][box.slices])

    @property
    def statistics(self) -> ImageStatistics:
        """Statistics of the slide: as recorded, completed by the sizes that its regions told, once they have."""
        recorded = self.record.statistics
        return self._completed if not recorded.is_complete and self.has("stitched", "sizes") else recorded

    @cached_property
    def _completed(self) -> ImageStatistics:
        told = self.load("stitched", "sizes")
        sizes = {name: float(told[name]) for name in SIZES}
        return ImageStatistics.from_record({**self.record.statistics.to_record(), **sizes})

    @cached_property
    def _farthest(self) -> int:
        """Longest side of any candidate: so far it reaches out of the tile that it begins in."""
        return int(self.load("stitched", "sizes")["farthest"])

    def load_candidates(self, box: Box) -> OwnedCandidates:
        """Load the candidates that may meet a box, in their order, and the pieces that they belong to."""
        found = []
        for tile in self.grid.find_meeting(box.grow(self._farthest, self.record.shape)):
            owned = _load_owned(self, tile)
            near = owned.candidates.meet(box)
            if len(near):
                found.append(owned.choose(near))
        every = OwnedCandidates.join(found)
        return every.choose(np.lexsort(every.candidates.first_pixels.T[::-1]))


@lru_cache(maxsize=KEPT_TILES)
def _load_owned(store: Store, tile: int) -> OwnedCandidates:
    """Candidates of a tile, and the pieces that they belong to."""
    owned = store.load("owners", tile)
    candidates = Spots.from_arrays(store.load("tiles", tile))
    return OwnedCandidates(candidates, owned["owners"], owned["accepted"], owned["areas"])
