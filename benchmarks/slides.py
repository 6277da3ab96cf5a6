"""Slides put to the test: the same bytes whatever the tiles, workers and kills; flat memory; a million cells.

python benchmarks/slides.py mosaic FOLDER -o mosaic.tif --side 20000   # of the frames in a folder, such as cervix93
python benchmarks/slides.py equality IMAGE                  # three tilings, 1, 2 and 4 workers, against segment()
python benchmarks/slides.py kills IMAGE --kills 10          # of parent, worker and scheduler
python benchmarks/slides.py memory MOSAIC -o OUT            # height of the memory of each process over time
python benchmarks/slides.py million --side 100000 -o OUT    # a million planted cells, no network: stitching and output
python benchmarks/slides.py stages IMAGE                    # seconds of each stage, and what a million cells take
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import declump
from declump.batch import Options
from declump.io import open_slide_result, read_image
from declump.records.boxes import Box
from declump.records.spots import Spots
from declump.slides import SlideOptions, segment_slide
from declump.slides import cells as slide_cells
from declump.slides import regions as slide_regions
from declump.slides.cells import make_plan, quantise
from declump.slides.gathering import gather
from declump.slides.geojson import write_geojson
from declump.slides.labels import write_labels
from declump.slides.opened import open_run
from declump.slides.record import SlideRecord
from declump.slides.store import CLUMP, Store
from declump.slides.tables import write_geoparquet, write_parquet
from declump.slides.workers import do_all, open_cluster


def make_mosaic(folder: Path, out: Path, side: int) -> None:
    """Lay frames side by side, in an order that is drawn once, turned by quarters; a tiled BigTIFF."""
    import tifffile

    frames = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".png", ".tif", ".jpg"))
    height, width = read_image(frames[0]).shape[:2]
    rows, columns = -(-side // height), -(-side // width)
    chosen = np.random.default_rng(0).integers(0, len(frames), (rows, columns))
    flips = np.random.default_rng(1).integers(0, 4, (rows, columns))

    def strip(row: int) -> NDArray[Any]:
        parts = []
        for column in range(columns):
            frame = read_image(frames[chosen[row, column]])[:height, :width]
            flip = flips[row, column]
            parts.append(frame[:: 1 - 2 * (flip & 1), :: 1 - (flip & 2)])
        return np.concatenate(parts, axis=1)[:, :side]

    def tiles() -> Iterator[NDArray[Any]]:
        band, first, held = np.empty((0, side), np.uint8), 0, 0
        for top in range(0, side, 512):
            while first + len(band) < min(top + 512, side):
                band = np.concatenate([band, strip(held)])
                held += 1
            part = band[top - first : top - first + 512][: side - top]
            for left in range(0, side, 512):
                tile = np.zeros((512, 512), np.uint8)
                piece = part[:, left : left + 512]
                tile[: piece.shape[0], : piece.shape[1]] = piece
                yield tile
            band, first = band[top + 512 - first :], top + 512

    tifffile.imwrite(
        out, tiles(), shape=(side, side), dtype=np.uint8, bigtiff=True, tile=(512, 512), photometric="minisblack",
        compression="zlib", compressionargs={"level": 1},
    )  # fmt: skip
    print(f"{out}: {side} x {side} pixels of {len(frames)} frames, {out.stat().st_size / 1e6:.0f} MB")


def read_files(out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.relative_to(out).parts[0] not in ("work", "record.json")
    }


def count_ledger(out: Path) -> tuple[int, int]:
    """Clumps in the ledger, and different ones among them."""
    store = Store(out, SlideRecord.read(out))
    solved = [n for path in (out / "work" / "cells").glob("*.npz") for n in store.load("cells", path.stem)["solved"]]
    return len(solved), len(set(solved))


def check_equality(image: Path, tiles: list[int], workers: list[int]) -> None:
    pixels = read_image(image)
    statistics = declump.find_statistics(pixels)
    whole = declump.segment(pixels, statistics=statistics)
    wanted = sorted(
        (*map(int, seed), radii.tobytes()) for seed, radii in zip(whole.seeds, quantise(whole.radii) / 16, strict=True)
    )
    first: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for tile, count in zip(tiles, workers, strict=False):
            out = Path(scratch) / f"{tile}-{count}"
            segment_slide(image, out, SlideOptions(tile=tile), chosen=statistics.to_record(), workers=count,
                          formats=("geojson", "geoparquet", "zarr", "png"))  # fmt: skip
            cells = open_slide_result(out).read_window()
            found = sorted(
                (*map(int, seed), radii.tobytes()) for seed, radii in zip(cells.seeds, cells.radii, strict=True)
            )
            files = read_files(out)
            first = first or files
            print(
                f"tiles of {tile}, {count} workers: {len(found)} cells, as in the whole image: {found == wanted}, "
                f"all {len(files)} files as the first: {files == first}, ledger {count_ledger(out)}", flush=True
            )  # fmt: skip


def check_kills(image: Path, kills: int, seed: int) -> None:
    """Kill parent, worker or scheduler at random moments, go on each time, and compare with a run left alone."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as scratch:
        alone, killed = Path(scratch) / "alone", Path(scratch) / "killed"
        command = [sys.executable, "-m", "declump.cli", "slide", str(image), "--tile", "320", "-j", "2"]
        start = time.monotonic()
        subprocess.run([*command, "-o", str(alone)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        usual = time.monotonic() - start
        done, tried = 0, []
        while done < kills:
            run = [*command, "-o", str(killed)] + (["--resume"] if (killed / "record.json").is_file() else [])
            process = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
            time.sleep(draw.uniform(0.05, 0.9) * usual)
            kind = ("parent", "worker")[done % 2]
            if process.poll() is None:
                children = find_children(process.pid)
                victim = process.pid if kind == "parent" or not children else draw.choice(children)
                os.kill(victim, signal.SIGKILL)
                done += 1
                tried.append(kind if victim != process.pid else "parent")
            if tried and tried[-1] == "worker":
                process.wait(timeout=1200)
            else:
                process.kill()
                process.wait()
            if (killed / "summary.json").is_file() and done < kills:
                shutil.rmtree(killed)
        run = [*command, "-o", str(killed), "--resume"]
        if not (killed / "record.json").is_file():
            run.remove("--resume")
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(f"killed {tried}; same bytes: {read_files(alone) == read_files(killed)}; ledger {count_ledger(killed)}")


def find_children(parent: int) -> list[int]:
    """Processes that a process started, and those that these started."""
    found = []
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *find_children(int(child))]
    return found


def measure_memory(slide: Path, out: Path, workers: int) -> None:
    """Watch the memory of all processes while a slide is segmented."""
    heights: list[tuple[float, float, float]] = []
    ended, start = threading.Event(), time.monotonic()

    def watch() -> None:
        while not ended.wait(2):
            sizes = [read_rss(process) for process in find_children(os.getpid())]
            heights.append((time.monotonic() - start, read_rss(os.getpid()), max(sizes, default=0.0)))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    told: dict[str, int] = {}
    outcome = segment_slide(
        slide, out, workers=workers, resume=(out / "record.json").is_file(), formats=("png",),
        begin=lambda record, count, needed: told.update(workers=count, needed=needed),
        progress=lambda *now: print(f"{time.monotonic() - start:7.0f} s", *now, heights[-1:], flush=True),
    )  # fmt: skip
    ended.set()
    thread.join()
    table = np.array(heights)
    parts = np.array_split(table, 5)
    print(f"{outcome.cells} cells, {outcome.clumps} clumps, {outcome.cut} cut, {time.monotonic() - start:.0f} s")
    print(f"said in advance: {told['needed'] / 2**30:.2f} GB a worker, {told['workers']} workers")
    for part in parts:
        print(
            f"{part[0, 0]:6.0f} to {part[-1, 0]:6.0f} s: parent {part[:, 1].max():.2f} GB, "
            f"largest worker {part[:, 2].max():.2f} GB"
        )


def read_rss(process: int) -> float:
    """Memory of a process in GB."""
    try:
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 2**20
    except OSError:
        pass
    return 0.0


PITCH, NUCLEUS = 100, 8


def plant(box: Box) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Middles (N, 2) and radii (N,) of planted cells whose middle lies in a box: one a square of 100 pixels."""
    rows, columns = np.mgrid[box.top // PITCH : -(-box.bottom // PITCH), box.left // PITCH : -(-box.right // PITCH)]
    rows, columns = rows.ravel(), columns.ravel()
    mixed = (rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ (
        columns.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    )
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    jitter = (
        ((mixed >> np.uint64(20)) % np.uint64(40)).astype(np.int64),
        ((mixed >> np.uint64(34)) % np.uint64(40)).astype(np.int64),
    )
    radii = 24 + ((mixed >> np.uint64(48)) % np.uint64(22)).astype(np.int64)
    places = np.column_stack([rows * PITCH + 30 + jitter[0], columns * PITCH + 30 + jitter[1]])
    inside = (places >= np.array(box[:2])).all(axis=1) & (places < np.array(box[2:])).all(axis=1)
    return places[inside], radii[inside]


DISCS = {radius: np.hypot(*np.mgrid[-radius : radius + 1, -radius : radius + 1]) <= radius for radius in range(4, 60)}


def plant_tile(out: str, tile: int) -> None:
    """Write the clump and the spots of a tile, as the networks would have."""
    store = open_run(out).store
    if store.has("tiles", tile):
        return
    box = store.grid.box(tile)
    around = box.grow(60, store.record.shape)
    places, radii = plant(around)
    mask = np.zeros((around.shape[0] + 120, around.shape[1] + 120), np.uint8)
    for (row, column), radius in zip((places - np.array(around[:2]) + 60).tolist(), radii.tolist(), strict=True):
        mask[row - radius : row + radius + 1, column - radius : column + radius + 1] |= DISCS[radius]
    inner = box.move(60 - around.top, 60 - around.left)
    store.arrays[CLUMP][box.slices] = mask[inner.slices]
    disc = DISCS[NUCLEUS]
    own = [
        (row, column)
        for row, column in places.tolist()
        if box.holds(Box(row - NUCLEUS, column, row - NUCLEUS + 1, column + 1))
        and min(row, column) >= NUCLEUS and max(row, column) + NUCLEUS < store.record.shape[0]
    ]  # fmt: skip
    boxes = np.array([(r - NUCLEUS, c - NUCLEUS, r + NUCLEUS + 1, c + NUCLEUS + 1) for r, c in own], np.int64).reshape(
        -1, 4
    )
    count = len(own)
    spots = Spots(boxes, [disc] * count, np.full(count, 0.9), np.full(count, 0.5)).sort()
    store.save("tiles", tile, {**spots.to_arrays(), "whole": np.array(True)})


def plant_solved(out: str, name: str, pieces: list[int], extents: list[list[int]]) -> int:
    """Write the planted cells of a job, as the evolution would have."""
    run = open_run(out)
    if run.store.has("cells", name):
        return 0
    seeds, clumps = [], []
    for piece, extent in zip(pieces, extents, strict=True):
        spots, owners, _ = run.store.load_spots(Box(*extent))
        own = spots.boxes[owners == piece]
        seeds.append((own[:, :2] + own[:, 2:]) // 2)
        clumps.append(np.full(len(own), run.load_pieces().find_clump(piece), np.int64))
    places = np.concatenate(seeds)
    radii = np.array([plant(Box(r, c, r + 1, c + 1))[1][0] for r, c in places.tolist()], np.float64)
    wave = 1 + 0.1 * np.sin(3 * np.arange(360) * np.pi / 180)
    rng = np.random.default_rng(int(name[:8], 16))
    content: dict[str, NDArray[Any]] = {
        "clump": np.concatenate(clumps), "seeds": places.astype(np.int32),
        "radii": quantise(radii[:, None] * wave), "nucleus_radii": np.full((len(places), 64), NUCLEUS * 16, np.uint16),
        "at_cut": np.zeros(len(places), np.bool_), "table": rng.random((len(places), run_columns(run))),
        "solved": np.array(pieces, np.int64), "warnings": np.full(len(places), ""),
    }  # fmt: skip
    content |= {"others_places": np.empty((0, 2)), "others_areas": np.empty(0), "others_probability": np.empty(0),
                "others_kinds": np.empty(0, np.uint8)}  # fmt: skip
    run.store.save("cells", name, content)
    return len(places)


def run_columns(run: Any) -> int:
    from declump.slides.gathering import Gathered

    nothing = np.empty(0, np.int64)
    return len(Gathered(run.store, (), nothing, nothing, np.empty((0, 4), np.int32)).columns)


def plant_million(out: Path, side: int, workers: int, formats: list[str]) -> None:
    """Take planted regions through stitching and output; the network and the evolution are left out."""
    statistics = declump.ImageStatistics(230.0, None, 22.0, 1.0, 380.0, 380.0, 3600.0, 0.25)
    options = SlideOptions(Options(), tile=4096)
    out.mkdir(parents=True, exist_ok=True)
    record = SlideRecord("planted", "planted", (side, side), statistics, options, {}, None)
    if not (out / "record.json").is_file():
        record.write(out)
    store = Store(out, SlideRecord.read(out))
    store.create_arrays()
    tiles = list(range(len(store.grid)))
    peak, seconds, ended = [0.0], {}, threading.Event()

    def watch() -> None:
        while not ended.wait(1):
            peak[0] = max(peak[0], read_rss(os.getpid()))

    threading.Thread(target=watch, daemon=True).start()

    def timed(name: str, start: float) -> None:
        seconds[name] = round(time.monotonic() - start, 1)
        print(f"{name}: {seconds[name]} s, parent at most {peak[0]:.2f} GB", flush=True)

    with open_cluster(workers) as client:

        def run_tiles(act: Any, chosen: list[int], stage: str) -> None:
            start = time.monotonic()
            do_all(client, act, [(str(out), tile) for tile in chosen], lambda _: None)
            timed(f"{stage} {act.__name__}", start)

        slide_regions.look_at_tile = plant_tile  # type: ignore[assignment]
        slide_regions.find_all_clumps(store, tiles, run_tiles)
        start = time.monotonic()
        slide_cells.BATCH_SECONDS = 60.0
        plan = make_plan(store, tiles)
        timed("plan", start)
        start = time.monotonic()
        tasks = []
        for job in range(len(plan)):
            first, last = plan.starts[job], plan.starts[job + 1]
            tasks.append(
                (str(out), plan.names[job], plan.pieces[first:last].tolist(), plan.extents[first:last].tolist())
            )
        do_all(client, plant_solved, tasks, lambda _: None)
        timed("jobs", start)
    start = time.monotonic()
    cells = gather(store, plan)
    timed("gather", start)
    for name, write in (("parquet", write_parquet), ("geojson", write_geojson), ("geoparquet", write_geoparquet)):
        if name in formats:
            start = time.monotonic()
            path = (
                out
                / {"parquet": "cells.parquet", "geojson": "cells.geojson.gz", "geoparquet": "cells.geo.parquet"}[name]
            )
            write(cells, path)
            timed(f"{name}, {path.stat().st_size / 1e9:.2f} GB", start)
    if "zarr" in formats:
        start = time.monotonic()
        planes = write_labels(open_slide_result(out), out / "cells.ome.zarr")
        timed(f"zarr, {planes} planes", start)
    ended.set()
    check_planted(out, side, len(cells))


def check_planted(out: Path, side: int, count: int) -> None:
    """Compare what came out with what was planted, and time windows."""
    result = open_slide_result(out)
    times = []
    wrong = 0
    for seed in range(10):
        draw = np.random.default_rng(seed)
        top, left = draw.integers(100, max(side - 4200, 101), 2).tolist()
        start = time.perf_counter()
        window = open_slide_result(out).read_window(top, left, top + 4000, left + 4000)
        times.append(time.perf_counter() - start)
        places, _ = plant(Box(top + 60, left + 60, top + 3940, left + 3940))
        known = {tuple(seed) for seed in window.seeds.tolist()}
        wrong += sum(tuple(place) not in known for place in places.tolist())
    start = time.perf_counter()
    large = result.read_window(side // 3, side // 3, side // 3 + 14000, side // 3 + 14000)
    print(f"{count} cells; planted ones missing in ten windows: {wrong}")
    print(
        f"a window of 4000 x 4000 pixels, {len(window)} cells, opened and read: median {np.median(times):.3f} s, "
        f"longest {max(times):.3f} s; {len(large)} cells: {time.perf_counter() - start:.3f} s"
    )


def time_stages(image: Path, tile: int) -> None:
    """Seconds of one core for tiles and for cells, and what a million cells take on paper."""
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        marks: list[tuple[str, float]] = []
        outcome = segment_slide(image, out, replace(SlideOptions(), tile=tile), workers=1, formats=(),
                                progress=lambda stage, *_: marks.append((stage, time.monotonic())),
                                begin=lambda *_: marks.append(("cluster", time.monotonic())))  # fmt: skip
        for (_, before), (stage, now) in pairwise(marks):
            seconds[stage] = seconds.get(stage, 0.0) + now - before
        shape = outcome.record.shape
    print({stage: round(value, 2) for stage, value in seconds.items()}, f"{outcome.cells} cells, {shape}")
    pixels = shape[0] * shape[1]
    core = (seconds["regions"] + seconds["cells"] + seconds["stitching"] + seconds["numbering"]) / outcome.cells
    told = {count: f"{1e6 * core / count / 3600:.1f} h" for count in (2, 16, 256)}
    print(
        f"one core: regions {seconds['regions'] / pixels * 1e6:.2f} s a megapixel, "
        f"cells {seconds['cells'] / outcome.cells:.3f} s a cell"
    )
    print(f"a million cells like these, on so many cores, if they share nothing: {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("mosaic", "equality", "kills", "memory", "million", "stages"))
    parser.add_argument("path", type=Path, nargs="?")
    parser.add_argument("-o", "--out", type=Path, default=Path("slide"))
    parser.add_argument("--side", type=int, default=20000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tile", type=int, default=1536)
    parser.add_argument("--formats", default="parquet,geojson,geoparquet,zarr")
    given = parser.parse_args()
    if given.what == "mosaic":
        make_mosaic(given.path, given.out, given.side)
    elif given.what == "equality":
        check_equality(given.path, [320, 512, 1536], [1, 2, 4])
    elif given.what == "kills":
        check_kills(given.path, given.kills, given.seed)
    elif given.what == "memory":
        measure_memory(given.path, given.out, given.workers)
    elif given.what == "million":
        plant_million(given.out, given.side, given.workers, given.formats.split(","))
    else:
        time_stages(given.path, given.tile)


if __name__ == "__main__":
    main()
