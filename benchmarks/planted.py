"""A million planted cells, through all of a slide's way but its networks and its evolution.

The region network is stubbed by planted discs, and the evolution by planted outlines: that is said where figures of
this are shown. Tiles, stitching, cuts, plan, ledger and output are those of ``declump slide``.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

import declump
from declump._files import write_atomically
from declump.io import open_slide_result
from declump.records.boxes import Box
from declump.records.spots import Spots
from declump.slides import SlideOptions
from declump.slides import cells as slide_cells
from declump.slides import regions as slide_regions
from declump.slides.cells import make_plan, quantise
from declump.slides.gathering import Gathered, gather
from declump.slides.geojson import write_geojson
from declump.slides.labels import write_labels
from declump.slides.opened import open_run
from declump.slides.overview import write_overview
from declump.slides.record import SlideRecord
from declump.slides.store import CLUMP, Store
from declump.slides.tables import write_geoparquet, write_parquet
from declump.slides.workers import do_all, open_cluster
from processes import find_children, read_memory, read_seconds

PITCH, NUCLEUS, LARGEST = 100, 8, 45
"""One cell a square of so many pixels, with a nucleus of this radius; the largest radius of a cell."""
TILE = 2048
SECONDS = "seconds.json"
DISCS = {
    radius: np.hypot(*np.mgrid[-radius : radius + 1, -radius : radius + 1]) <= radius
    for radius in range(4, LARGEST + 1)
}


def plant(box: Box) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Middles (N, 2) and radii (N,) of planted cells whose middle lies in a box."""
    rows, columns = np.mgrid[box.top // PITCH : -(-box.bottom // PITCH), box.left // PITCH : -(-box.right // PITCH)]
    places, radii = _draw(rows.ravel(), columns.ravel())
    inside = (places >= np.array(box[:2])).all(axis=1) & (places < np.array(box[2:])).all(axis=1)
    return places[inside], radii[inside]


def _draw(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Middles (N, 2) and radii (N,) of the cells of some squares."""
    mixed = (rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ (
        columns.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    )
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    down, right = (((mixed >> np.uint64(shift)) % np.uint64(40)).astype(np.int64) for shift in (20, 34))
    radii = 24 + ((mixed >> np.uint64(48)) % np.uint64(LARGEST - 23)).astype(np.int64)
    return np.column_stack([rows * PITCH + 30 + down, columns * PITCH + 30 + right]), radii


def draw_planted(box: Box, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Mask (h, w) of all planted cells in a box of a slide."""
    around = box.grow(LARGEST, shape)
    places, radii = plant(around)
    mask = np.zeros([side + 2 * LARGEST for side in around.shape], np.bool_)
    corner = np.array(around[:2]) - LARGEST
    for (row, column), radius in zip((places - corner).tolist(), radii.tolist(), strict=True):
        mask[row - radius : row + radius + 1, column - radius : column + radius + 1] |= DISCS[radius]
    return mask[box.move(-int(corner[0]), -int(corner[1])).slices]


def plant_tile(out: str, tile: int) -> None:
    """Write the clump and the spots of a tile, as the networks would have."""
    store = open_run(out).store
    if store.has("tiles", tile):
        return
    box = store.grid.box(tile)
    store.write(CLUMP, tile, draw_planted(box, store.record.shape))
    # A spot belongs to the tile that its first pixel lies in: the top of the disc.
    places = plant(box.grow(NUCLEUS + 1, store.record.shape))[0]
    tops = places - np.array([NUCLEUS, 0])
    own = places[(tops >= np.array(box[:2])).all(axis=1) & (tops < np.array(box[2:])).all(axis=1)]
    boxes = np.column_stack([own - NUCLEUS, own + NUCLEUS + 1]).astype(np.int64)
    count = len(own)
    spots = Spots(boxes, [DISCS[NUCLEUS]] * count, np.full(count, 0.9), np.full(count, 0.5)).sort()
    store.save("tiles", tile, {**spots.to_arrays(), "whole": np.array(True)})


def plant_solved(out: str, name: str, pieces: list[int], extents: list[list[int]]) -> int:
    """Write the planted cells of a job, as the evolution would have; measurements are drawn at random."""
    run = open_run(out)
    if run.store.has("cells", name):
        return 0
    seeds, clumps = [], []
    for piece, extent in zip(pieces, extents, strict=True):
        spots, owners, _ = run.store.load_spots(Box(*extent))
        own = spots.boxes[owners == piece]
        middles = (own[:, :2] + own[:, 2:]) // 2
        seeds.append(middles)
        clumps.append(np.full(len(own), run.load_pieces().find_clump(piece), np.int64))
    places = np.concatenate(seeds)
    radii = _draw(*places.T // PITCH)[1]
    wave = 1 + 0.1 * np.sin(3 * np.arange(360) * np.pi / 180)
    columns = len(Gathered(run.store, (), *np.empty((2, 0), np.int64), np.empty((0, 4), np.int32)).columns)
    content: dict[str, NDArray[Any]] = {
        "clump": np.concatenate(clumps),
        "seeds": places.astype(np.int32),
        "radii": quantise(radii[:, None] * wave),
        "nucleus_radii": np.full((len(places), 64), NUCLEUS * 16, np.uint16),
        "at_cut": np.zeros(len(places), np.bool_),
        "table": np.random.default_rng(int(name[:8], 16)).random((len(places), columns)),
        "solved": np.array(pieces, np.int64),
        "warnings": np.full(len(places), ""),
    }
    run.store.save("cells", name, content)
    return len(places)


@dataclass
class Stages:
    """Seconds of each stage, added up over runs that go on where one stopped, and the height of the memory."""

    path: Path
    clock: dict[str, float] = field(default_factory=dict)
    parent: dict[str, float] = field(default_factory=dict)
    workers: dict[str, float] = field(default_factory=dict)
    parent_gb: float = 0.0
    worker_gb: float = 0.0
    _running: dict[str, tuple[float, float, float]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        """Take up what earlier runs have taken."""
        if self.path.is_file():
            for name, value in json.loads(self.path.read_text()).items():
                setattr(self, name, value)

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Add what a stage takes, also of a run that is killed in it."""
        self._running[stage] = self._look()
        yield
        self._add()
        with self._lock:
            del self._running[stage]
        self.keep()
        print(f"{stage}: {self.clock[stage]:.0f} s, processor {self.parent[stage]:.0f} s here, "
              f"{self.workers[stage]:.0f} s in workers; parent {self.parent_gb:.2f} GB, "
              f"workers {self.worker_gb:.2f} GB at most", flush=True)  # fmt: skip

    def watch(self, ended: threading.Event) -> None:
        """Keep what is measured until the end."""
        while not ended.wait(2):
            self.parent_gb = max(self.parent_gb, read_memory(os.getpid()))
            self.worker_gb = max([self.worker_gb, *map(read_memory, find_children(os.getpid()))])
            self._add()
            self.keep()

    def keep(self) -> None:
        """Put away what was measured."""
        told = {name: value for name, value in vars(self).items() if name != "path" and not name.startswith("_")}
        with self._lock:
            write_atomically(self.path, json.dumps(told))

    def _add(self) -> None:
        """Add what the stages under way have taken since the last time."""
        with self._lock:
            now = self._look()
            for stage, before in list(self._running.items()):
                for counts, one, two in zip((self.clock, self.parent, self.workers), before, now, strict=True):
                    counts[stage] = counts.get(stage, 0.0) + max(two - one, 0.0)
                self._running[stage] = now

    def _look(self) -> tuple[float, float, float]:
        """Seconds of the clock, and those that this process and its workers have had of the processor."""
        return time.monotonic(), time.process_time(), self._read_workers()

    @staticmethod
    def _read_workers() -> float:
        return sum(map(read_seconds, find_children(os.getpid())))


def run_planted(out: Path, side: int, workers: int, formats: list[str]) -> tuple[Stages, Gathered]:
    """Take planted regions through stitching and output; goes on where it was stopped."""
    statistics = declump.ImageStatistics(230.0, None, 22.0, 1.0, 380.0, 3600.0, 0.25)
    out.mkdir(parents=True, exist_ok=True)
    if not (out / "record.json").is_file():
        options = SlideOptions(tile=TILE)
        SlideRecord("planted", "planted", (side, side), statistics, options, {}, None).write(out)
    store = Store(out, SlideRecord.read(out))
    store.create_arrays()
    stages, ended = Stages(out / SECONDS), threading.Event()
    threading.Thread(target=stages.watch, args=(ended,), daemon=True).start()
    tiles = list(range(len(store.grid)))
    slide_regions.look_at_tile = plant_tile  # type: ignore[assignment]  # the stub of the network
    slide_cells.BATCH_SECONDS = 180.0  # planted cells are found much faster
    with open_cluster(workers) as client:

        def run_tiles(act: Any, tiles: list[int], stage: str, together: int = 1) -> None:
            with stages.measure(f"tiles: {stage}"):
                tasks = slide_regions.make_tasks(act, str(out), tiles, together)
                do_all(client, slide_regions.do_tiles, tasks, lambda _: None)

        with stages.measure("all of stitching"):
            slide_regions.find_all_clumps(store, tiles, run_tiles)
        with stages.measure("plan"):
            plan = make_plan(store, tiles)
        bounds = zip(plan.starts[:-1].tolist(), plan.starts[1:].tolist(), plan.names, strict=True)
        tasks = [
            (str(out), name, plan.pieces[first:last].tolist(), plan.extents[first:last].tolist())
            for first, last, name in bounds
        ]
        with stages.measure("planted jobs"):
            do_all(client, plant_solved, tasks, lambda _: None)
    with stages.measure("gather"):
        cells = gather(store, plan)
    _write_all(cells, out, formats, stages)
    ended.set()
    return stages, cells


def _write_all(cells: Gathered, out: Path, formats: list[str], stages: Stages) -> None:
    with stages.measure("cells.parquet"):
        write_parquet(cells, out / "cells.parquet")
    if "geojson" in formats:
        with stages.measure("cells.geojson.gz"):
            write_geojson(cells, out / "cells.geojson.gz")
    if "geoparquet" in formats:
        with stages.measure("cells.geo.parquet"):
            write_geoparquet(cells, out / "cells.geo.parquet")
    if "png" in formats:
        with stages.measure("overview.png"):
            write_overview(cells, np.full((2000, 2000), 230, np.uint8), out / "overview.png")
    if "zarr" in formats:
        with stages.measure("cells.ome.zarr"):
            write_labels(open_slide_result(out), out / "cells.ome.zarr")


def count_wrong(out: Path) -> tuple[int, int]:
    """Planted cells that are missing, or too many, in the file; and clumps that are not as planted around the corners
    of tiles."""
    result = open_slide_result(out)
    height, width = result.shape
    planted = plant(Box(0, 0, height, width))[0]
    found = np.concatenate([result.read_group(group).seeds for group in result.find_groups(0, 0, height, width)])
    missing = len(set(map(tuple, planted.tolist())) ^ set(map(tuple, found.tolist()))) + len(found) - len(planted)
    wrong, draw = 0, np.random.default_rng(0)
    for _ in range(20):
        row, column = (TILE * int(draw.integers(1, max(side // TILE, 2))) for side in result.shape)
        box = Box(row - 1500, column - 1500, row + 1500, column + 1500).meet(Box(0, 0, height, width))
        labels, count = ndimage.label(draw_planted(box, result.shape), structure=np.ones((3, 3)))
        window = result.read_window(*box, columns=("clump",))
        places = window.seeds - np.array(box[:2])
        inside = ((places >= 0) & (places < np.array(labels.shape))).all(axis=1)
        at, clump = labels[tuple(places[inside].T)], window.columns["clump"][inside]
        border = np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))
        for number in set(range(1, count + 1)) - set(border.tolist()):
            own = np.unique(clump[at == number])
            wrong += len(own) != 1 or not np.isin(at[clump == own[0]], number).all()
    return missing, wrong


def time_windows(out: Path, side: int = 4000) -> tuple[int, list[float], list[float]]:
    """Open the file anew and read windows: cells of the last, seconds of the clock and of the processor of each."""
    clock, processor, count = [], [], 0
    shape = open_slide_result(out).shape
    for seed in range(20):
        top, left = (int(np.random.default_rng(seed).integers(0, max(extent - side, 1))) for extent in shape)
        start, used = time.perf_counter(), time.process_time()
        count = len(open_slide_result(out).read_window(top, left, top + side, left + side))
        clock.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    return count, clock, processor
