"""Slides put to the test: the same bytes whatever the tiles, workers and kills; flat memory; a million cells.

python benchmarks/slides.py equality IMAGE                    # three tilings by 1, 2 and 4 workers, against segment()
python benchmarks/slides.py kills IMAGE [--kills 10]          # of parent, worker and scheduler
python benchmarks/slides.py faults                            # a corrupt slide, a missing level, a full disk, ...
python benchmarks/slides.py real SLIDE                        # a slide as it came, such as CMU-1-Small-Region.svs
python benchmarks/slides.py mosaic FOLDER -o mosaic.tif [--side 20000]   # of frames, such as those of cervix93
python benchmarks/slides.py windows SLIDE                     # memory that tiles and the widest windows take
python benchmarks/slides.py memory SLIDE -o OUT               # of each process over time; goes on where it stopped
python benchmarks/slides.py million -o OUT [--side 100000]    # planted cells, no network; goes on where it stopped
python benchmarks/slides.py stages SLIDE --planted OUT        # seconds of each stage; what a million cells take

``--write`` puts what was found into docs/slides.md. Needs /proc, and so Linux; a full disk needs the right to mount.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import tifffile

import declump
from declump import simulate
from declump.io import open_slide_result, read_image
from declump.records.boxes import Box
from declump.regions.by_window import MOST_ROOM, ROOM
from declump.regions.levels import HALF
from declump.slides import FORMATS, SlideOptions, open_slide, segment_slide
from declump.slides.cells import quantise
from declump.slides.record import SlideRecord
from declump.slides.run import memory_for
from declump.slides.store import Store
from mosaics import make_mosaic
from pages import commit, replace_part
from planted import SECONDS, Stages, count_wrong, run_planted, time_windows
from processes import find_children, is_worker, read_memory, read_seconds

PAGE = "docs/slides.md"
TILES, WORKERS = (320, 512, 1536), (1, 2, 4)
TARGETS = ("parent", "worker", "scheduler")
CORES = (2, 16, 256)
WINDOWS = (
    (22.0, 256, ROOM),
    (22.0, 1024, ROOM),
    (22.0, 1536, ROOM),
    (22.0, 192, MOST_ROOM),
    (16.0, 1536, ROOM),
    (30.0, 1536, ROOM),
)
"""Diameters of nuclei, sides of tiles, and diameters of room round them: as is usual, and as is the most."""
DASK = "from distributed.cli.dask_{0} import main; main()"


def read_files(out: Path) -> dict[str, bytes]:
    """What a run gives: all its files but the ledger, and the record, which names the tiles."""
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.relative_to(out).parts[0] not in ("work", "record.json")
    }


def read_ledger(out: Path) -> list[int]:
    """Numbers of the clumps, and parts of clumps, in the ledger."""
    store = Store(out, SlideRecord.read(out))
    files = sorted((out / "work" / "cells").glob("*.npz"))
    return [int(number) for path in files for number in store.load("cells", path.stem, ("solved",))["solved"]]


def list_cells(out: Path, *, uncut: set[int] | None = None) -> list[tuple[int, int, bytes]]:
    """Seeds and radii of all cells, or of those in some clumps, in order."""
    cells = open_slide_result(out).read_window()
    kept = np.array([uncut is None or int(number) in uncut for number in cells.columns["clump"]], np.bool_)
    return sorted(
        (int(seed[0]), int(seed[1]), radii.tobytes())
        for seed, radii in zip(cells.seeds[kept], cells.radii[kept], strict=True)
    )


def check_equality(image: Path) -> str:
    """Compare slides in all tilings, by all numbers of workers, with the whole image."""
    pixels = read_image(image)
    statistics = declump.find_statistics(pixels)
    whole = declump.segment(pixels, statistics=statistics)
    wanted = sorted(
        (int(seed[0]), int(seed[1]), radii.tobytes())
        for seed, radii in zip(whole.seeds, quantise(whole.radii) / 16, strict=True)
    )
    first: dict[str, bytes] = {}
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for tile in TILES:
            for count in WORKERS:
                out = Path(scratch) / "out"
                segment_slide(image, out, SlideOptions(tile=tile), statistics=statistics, workers=count,
                              formats=tuple(FORMATS), overwrite=True)  # fmt: skip
                files, solved = read_files(out), read_ledger(out)
                first = first or files
                same = [name for name in first.keys() | files.keys() if first.get(name) != files.get(name)]
                rows.append(
                    (tile, count, list_cells(out) == wanted, not same, len(solved), len(solved) == len(set(solved)))
                )
                print(rows[-1], same, flush=True)
        cut = Path(scratch) / "cut"
        most = max(np.bincount(whole.clump)) // 2
        done = segment_slide(image, cut, SlideOptions(tile=TILES[0], max_cells=int(most)), formats=(), workers=2,
                             statistics=statistics)  # fmt: skip
        of_cut = set(np.load(cut / "work" / "stitched" / "cuts.npz")["clumps"].tolist())
        uncut = {number + 1 for number in range(len(whole.clumps))} - of_cut
        same_uncut = list_cells(cut, uncut=uncut) == list_cells(Path(scratch) / "out", uncut=uncut)
        told = int(open_slide_result(cut).read_window().columns["at_cut"].sum())
    height, width = pixels.shape[:2]
    right = sum(row[2] and row[3] and row[5] for row in rows)
    return (
        f"`python benchmarks/slides.py equality {image.name}` (commit {commit()}): an image of {height} x {width} "
        "pixels "
        f"with {len(wanted)} cells in {len(whole.clumps)} clumps, in tiles of {', '.join(map(str, TILES))} pixels by "
        f"{', '.join(map(str, WORKERS))} workers. In {right} of {len(rows)} runs every cell is, to the byte, as "
        f"`segment(image, statistics=)` has it, all {len(first)} files are those of the first run, and each clump "
        "is once "
        f"in the ledger. With clumps of more than {most} nuclei cut ({done.cut} of them, {told} cells told as at "
        "a cut) the "
        f"cells of all other clumps are {'the same bytes' if same_uncut else 'NOT the same'}."
    )


class Cluster:
    """A scheduler and two workers of Dask, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        """Start them, and wait for the scheduler."""
        file = folder / "scheduler.json"
        file.unlink(missing_ok=True)
        self.scheduler = self._start("scheduler", "--scheduler-file", file, "--no-dashboard", "--port", 0)
        while not file.is_file():
            time.sleep(0.1)
        self.address = json.loads(file.read_text())["address"]
        options = ("--nthreads", 1, "--no-dashboard", "--death-timeout", 60)
        self.workers = [self._start("worker", self.address, *options) for _ in range(2)]

    @staticmethod
    def _start(kind: str, *options: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", DASK.format(kind), *map(str, options)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def end(self) -> None:
        """End all of them."""
        for process in (*self.workers, self.scheduler):
            for one in (*find_children(process.pid), process.pid):
                if process.poll() is None:
                    os.kill(one, signal.SIGKILL)
            process.wait()


def count_work(out: Path) -> int:
    return sum(1 for _ in (out / "work").rglob("*.npz"))


def check_kills(image: Path, kills: int, seed: int) -> str:
    """Kill one process after the other as the work goes on, each time take the run up, and compare the end."""
    draw = random.Random(seed)
    command = [sys.executable, "-m", "declump.cli", "slide", str(image), "--tile", "192", "--format", ",".join(FORMATS)]
    tried: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        alone, killed = Path(scratch) / "alone", Path(scratch) / "killed"
        subprocess.run([*command, "-o", str(alone), "-j", "2"], check=True, capture_output=True)
        every = count_work(alone)
        moments = sorted(draw.uniform(0, every) for _ in range(kills))
        for number, moment in enumerate(moments):
            target = TARGETS[number % len(TARGETS)]
            said = _kill_once(command, killed, target, moment, draw, Path(scratch))
            tried.append(f"{target} at {count_work(killed)}")
            print(f"{target}: {count_work(killed)} of {every} files; said: {said}", flush=True)
            if (killed / "summary.json").is_file():
                print("it had come to its end")
        resumed = ["--resume"] if (killed / "record.json").is_file() else []
        subprocess.run([*command, "-o", str(killed), "-j", "2", *resumed], check=True, capture_output=True)
        one, two = read_files(alone), read_files(killed)
        same, solved = one == two, read_ledger(killed)
    return (
        f"`python benchmarks/slides.py kills {image.name} --kills {kills} --seed {seed}` (commit {commit()}): one "
        "run over "
        f"the slide was killed (`kill -9`) {kills} times at moments drawn at random, and taken up each time: "
        f"{', '.join(f'{target} {tried_times(tried, target)}' for target in TARGETS)} times, the scheduler and "
        "its workers "
        f"as processes of their own. At the end all {len(one)} files are "
        f"{'the same bytes' if same else 'NOT the same'} as "
        f"those of a run left alone; {len(solved)} clumps in the ledger, {len(set(solved))} different ones. Files "
        "of work, "
        f"of {every}, that were done when something was killed: {', '.join(tried)}."
    )


def tried_times(tried: list[str], target: str) -> int:
    return sum(one.startswith(target) for one in tried)


def _kill_once(command: list[str], out: Path, target: str, moment: float, draw: random.Random, scratch: Path) -> str:
    """Take a run up, kill one of its processes when so many files are done, and give what it said, if anything."""
    cluster = Cluster(scratch) if target == "scheduler" else None
    how = ["-j", "2"] if cluster is None else ["--scheduler", cluster.address]
    resumed = ["--resume"] if (out / "record.json").is_file() else []
    run = subprocess.Popen([*command, "-o", str(out), *how, *resumed], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, start_new_session=True, text=True)  # fmt: skip
    try:
        while run.poll() is None and count_work(out) < moment:
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.5))
        if target == "parent":
            _end_all(run)
        elif target == "worker":
            workers = [child for child in find_children(run.pid) if is_worker(child)]
            if workers:
                os.kill(draw.choice(workers), signal.SIGKILL)
            done = count_work(out)
            while run.poll() is None and count_work(out) <= done:  # the run goes on with another one
                time.sleep(0.01)
            _end_all(run)
        else:
            assert cluster is not None
            os.kill(cluster.scheduler.pid, signal.SIGKILL)
            run.wait(timeout=900)
    finally:
        if cluster is not None:
            cluster.end()
    said = run.communicate()[1].strip().splitlines()
    return said[-1] if said else "nothing"


def _end_all(run: subprocess.Popen[str]) -> None:
    """Kill a run, and wait for its workers, which end by themselves when it is gone."""
    children = find_children(run.pid)
    run.kill()
    run.wait()
    while any(read_memory(child) for child in children):
        time.sleep(0.05)


def check_faults() -> str:
    """Show what a run says of slides and disks that are not as they should be, and what is left of it."""
    rows: list[tuple[str, str, int, str, str]] = []
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        pixels = simulate.smear((640, 768), cells=14, clumps=5, rng=3).image
        slide = scratch / "slide.tif"
        with tifffile.TiffWriter(slide, bigtiff=True) as file:
            file.write(pixels, tile=(256, 256), photometric="rgb", subifds=1, compression="zlib")
            file.write(pixels[::2, ::2], tile=(256, 256), photometric="rgb", subfiletype=1, compression="zlib")
        whole = slide.read_bytes()
        options = ("--tile", 320, "-j", 1, "--format", "geojson,png")
        code, said = run_slide(slide, scratch / "good", *options)
        good = read_files(scratch / "good")
        rows.append(("no pixel size", "", code, said, f"{len(good)} files, lengths in pixels"))
        damaged = scratch / "damaged.tif"
        with tifffile.TiffFile(slide) as file:
            place = file.pages[0].dataoffsets[5]  # type: ignore[union-attr]  # the first page is no frame
        damaged.write_bytes(whole[: place + 40] + bytes(4000) + whole[place + 4040 :])
        code, said = run_slide(damaged, scratch / "bad", *options)
        done = count_work(scratch / "bad")
        damaged.write_bytes(whole)
        rows.append(
            ("a corrupt slide: 4000 bytes of one tile are zero", "", code, said, f"{done} files of work are kept")
        )
        (scratch / "short.svs").write_bytes(whole[: len(whole) // 3])
        code, said = run_slide(scratch / "short.svs", scratch / "short", *options)
        rows.append(("a slide of which a third is there", "", code, said, left_of(scratch / "short")))
        code, said = run_slide(slide, scratch / "level", *options, "--level", 5)
        rows.append(("a level that is missing", "--level 5", code, said, left_of(scratch / "level")))
        with full_disk(scratch / "disk", "300k") as enlarge:
            out = scratch / "disk" / "out"
            code, said = run_slide(slide, out, *options)
            done = count_work(out)
            enlarge("200m")
            again, _ = run_slide(slide, out, *options, "--resume")
            same = read_files(out) == good
        bytes_now = "the same bytes" if same else "OTHER bytes"
        end = f"{done} files of work are kept; with room, `--resume` ends with {again} and {bytes_now}"
        rows.append(("a full disk (300 kB)", "", code, said, end))
    lines = [
        f"`python benchmarks/slides.py faults` (commit {commit()}):",
        "",
        "| what | exit | what is said | what is left |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {what}{f' (`{given}`)' if given else ''} | {code} | {said} | {left} |"
        for what, given, code, said, left in rows
    ]
    return "\n".join(lines)


def left_of(out: Path) -> str:
    return "nothing is made" if not out.exists() else f"{count_work(out)} files of work"


def run_slide(slide: Path, out: Path, *options: object) -> tuple[int, str]:
    """Run the command; give its exit code, and the sentence with which it ended, or what it said of the size of "
    "a pixel."""
    command = [sys.executable, "-m", "declump.cli", "slide", str(slide), "-o", str(out), *map(str, options)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode == 0:
        told = next(line for line in run.stdout.splitlines() if "size of a pixel" in line)
        return 0, told.partition(", ")[2]
    said = run.stderr.strip().splitlines()[-1]
    print(run.stderr, flush=True)
    return run.returncode, said.partition(" [help")[0].removeprefix("declump: ").replace(str(slide.parent) + "/", "")


@contextmanager
def full_disk(place: Path, size: str) -> Iterator[Callable[[str], None]]:
    """Mount a small disk; give what makes it larger."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)

    def enlarge(to: str) -> None:
        subprocess.run(["mount", "-o", f"remount,size={to}", str(place)], check=True)

    try:
        yield enlarge
    finally:
        subprocess.run(["umount", str(place)], check=True)


def run_real(slide: Path, out: Path, workers: int) -> str:
    """Segment a slide as it came, and read all that came out."""
    resumed = (out / "record.json").is_file()
    start, told = time.monotonic(), {}
    outcome = segment_slide(slide, out, formats=tuple(FORMATS), workers=workers, resume=resumed,
                            progress=lambda stage, *_: told.setdefault(stage, time.monotonic() - start))  # fmt: skip
    cells = open_slide_result(out).read_window()
    features = json.loads(gzip.decompress((out / FORMATS["geojson"]).read_bytes()))["features"]
    size = outcome.record.statistics.pixel_size
    height, width = outcome.record.shape
    return (
        f"`python benchmarks/slides.py real {slide.name}` (commit {commit()}): {height} x {width} pixels of "
        f"{'unknown size' if size is None else f'{size:.3g} µm'} ({outcome.record.pixel_size_from}), opened and "
        "run to its "
        f"end: {outcome.cells} cells in {outcome.clumps} clumps, {outcome.cut} of them cut; {len(cells)} read "
        "back from "
        f"`cells.parquet` and {len(features)} from `cells.geojson.gz`."
    )


def measure_windows(slide: Path) -> str:
    """Look at one window of each kind, each in a process of its own, and compare with what is said in advance."""
    rows = []
    for diameter, tile, room in WINDOWS:
        with get_context("spawn").Pool(1) as pool:
            window, taken, said = pool.apply(look_at_window, (slide, diameter, tile, room))
        rows.append(f"| {diameter:g} | {tile} | {room:g} | {window} | {taken:.2f} GB | {said:.2f} GB |")
        print(rows[-1], flush=True)
    return "\n".join(
        [
            f"`python benchmarks/slides.py windows {slide.name}` (commit {commit()}), one process with one window:",
            "",
            "| diameter of nuclei, px | tile, px | room round it, diameters | window, px | height of the memory "
            "| said in advance, clumps too |",
            "|---|---|---|---|---|---|",
            *rows,
        ]
    )


def look_at_window(slide: Path, diameter: float, tile: int, room: float) -> tuple[int, float, float]:
    """Look at a tile in the middle of a slide: side of the window, and GB that it took and that are said to be the most
    on a large slide with such tiles."""
    opened = open_slide(slide)
    statistics = declump.ImageStatistics(200.0, None, diameter, 1.0, 380.0, 9000.0)
    options = SlideOptions(tile=max(tile, 256))
    with tempfile.TemporaryDirectory() as scratch:
        record = SlideRecord("slide", "content", (100_000, 100_000), statistics, options, {}, None)
        record.write(Path(scratch))
        said = memory_for(Store(Path(scratch), record)) / 2**30
    finder = options.find_regions(statistics, opened.shape)
    top, left = ((side - tile) // 2 for side in opened.shape)
    part = Box(top, left, top + tile, left + tile)
    near = part.grow(math.ceil(room * finder.diameter), finder.shape, HALF)
    finder._look(opened.read, part, near)
    window = near.grow(finder.margin, finder.shape, finder.lattice.pixels)
    return max(window.shape), read_memory(os.getpid(), "VmHWM"), said


def measure_memory(slide: Path, out: Path, workers: int) -> str:
    """Watch the memory of all processes while a slide is segmented; a run that was stopped is taken up."""
    kept = out.with_name(f"{out.name}-memory.json")
    heights: list[list[float]] = json.loads(kept.read_text()) if kept.is_file() else []
    begun, start, ended = heights[-1][0] if heights else 0.0, time.monotonic(), threading.Event()

    def watch() -> None:
        while not ended.wait(2):
            workers_now = [read_memory(child) for child in find_children(os.getpid()) if is_worker(child)]
            now = begun + time.monotonic() - start
            heights.append([round(now, 1), read_memory(os.getpid()), max(workers_now, default=0.0)])
            if len(heights) % 30 == 0:
                kept.write_text(json.dumps(heights))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    told: dict[str, int] = {}
    shown = [0.0]

    def progress(stage: str, done: int, total: int, cells: int) -> None:
        if time.monotonic() - shown[0] > 20 or done == total:
            shown[0] = time.monotonic()
            print(f"{time.monotonic() - start:7.0f} s {stage} {done}/{total}, {cells} cells", heights[-1:], flush=True)

    outcome = segment_slide(slide, out, workers=workers, resume=(out / "record.json").is_file(), formats=("png",),
                            begin=lambda record, count, needed: told.update(workers=count, needed=needed),
                            progress=progress)  # fmt: skip
    ended.set()
    thread.join()
    kept.write_text(json.dumps(heights))
    table, (height, width) = np.array(heights), outcome.record.shape
    rows = [
        f"| {part[0, 0]:.0f} to {part[-1, 0]:.0f} s | {part[:, 1].max():.2f} GB | {part[:, 2].max():.2f} GB |"
        for part in np.array_split(table, 5)
    ]
    head = (
        f"`python benchmarks/slides.py memory {slide.name}` (commit {commit()}): {height} x {width} pixels, "
        f"{outcome.cells} "
        f"cells in {outcome.clumps} clumps, {outcome.cut} of them cut, {told['workers']} workers. Said in advance: "
        f"{told['needed'] / 2**30:.2f} GB a worker. Measured, in five parts of the time:"
    )
    return "\n".join([head, "", "| time | parent, at most | largest worker, at most |", "|---|---|---|", *rows])


def check_million(out: Path, side: int, workers: int, formats: list[str]) -> str:
    """Take planted cells through all but network and evolution, and compare what comes out with what was planted."""
    stages, cells = run_planted(out, side, workers, formats)
    missing, wrong = count_wrong(out)
    count, clock, processor = time_windows(out)
    size = (out / "cells.parquet").stat().st_size / 1e6
    rows = [
        f"| {name} | {stages.clock[name]:.0f} | {stages.parent[name]:.0f} | {stages.workers[name]:.0f} |"
        for name in stages.clock
    ]
    head = (
        f"`python benchmarks/slides.py million --side {side} --formats {','.join(formats)}` (commit {commit()}), "
        "network and "
        f"evolution **stubbed** by planted discs: {len(cells)} cells on {side} x {side} pixels through tiles, "
        "stitching, "
        f"plan, ledger and output. Cells missing or too many: {missing}; clumps, around 20 corners of tiles, that "
        "are not as "
        f"planted: {wrong}. `cells.parquet` has {size:.0f} MB (measurements drawn at random, which no file holds "
        "in less). "
        f"Memory: parent at most {stages.parent_gb:.2f} GB, a worker {stages.worker_gb:.2f} GB. A window of 4000 "
        "x 4000 "
        f"pixels ({count} cells) opened and read with all its measurements: median {np.median(clock):.3f} s, longest "
        f"{max(clock):.3f} s (processor {np.median(processor):.3f} and {max(processor):.3f} s)."
    )
    columns = "| stage | seconds | processor, parent | processor, workers |"
    return "\n".join([head, "", columns, "|---|---|---|---|", *rows])


def time_stages(slide: Path, workers: int, planted: Path | None) -> str:
    """Seconds of each stage of a run, and what a million cells take on paper."""
    marks: list[tuple[str, float, float, float]] = []

    def mark(stage: str, done: int = 1, *_: object) -> None:
        stage = "start-up" if stage == "regions" and not done else stage
        children = sum(map(read_seconds, find_children(os.getpid())))
        marks.append((stage, time.monotonic(), time.process_time(), children))

    with tempfile.TemporaryDirectory() as scratch:
        outcome = segment_slide(slide, Path(scratch), workers=workers, formats=("geojson", "png"), progress=mark,
                                begin=lambda *_: mark("begin"))  # fmt: skip
    taken: dict[str, np.ndarray] = {}
    for (_, *before), (stage, *now) in pairwise(marks):
        taken[stage] = taken.get(stage, np.zeros(3)) + np.maximum(np.subtract(now, before), 0)
    pixels, cells = outcome.record.shape[0] * outcome.record.shape[1] / 1e6, outcome.cells
    clock = sum(float(values[0]) for values in taken.values())
    rows = [f"| {stage} | {values[0]:.1f} | {values[1]:.1f} | {values[2]:.1f} |" for stage, values in taken.items()]
    head = (
        f"`python benchmarks/slides.py stages {slide.name}` (commit {commit()}): {pixels:.0f} megapixels with "
        f"{cells} cells "
        f"by {workers} workers: {clock:.0f} s, {cells / clock:.2f} cells a second, {pixels / clock:.2f} "
        "megapixels a second. "
        f"One core: network {taken['regions'][2] / pixels:.2f} s a megapixel, cells "
        f"{taken['cells'][2] / cells:.3f} s each."
    )
    text = [head, "", "| stage | seconds | processor, parent | processor, workers |", "|---|---|---|---|", *rows]
    if planted is not None:
        text += ["", _reckon(taken, cells, planted)]
    return "\n".join(text)


def _reckon(taken: dict[str, np.ndarray], cells: int, planted: Path) -> str:
    """On paper: work of workers divided by their number, and what the parent alone does, from the planted million."""
    stages = Stages(planted / SECONDS)
    number = len(open_slide_result(planted))
    spread = sum(float(values[2]) for values in taken.values()) / cells * 1e6
    alone = ("all of stitching", "plan", "gather", "cells.parquet", "cells.geojson.gz", "overview.png")
    serial = sum(stages.parent.get(name, 0.0) for name in alone) / number * 1e6
    hours = ", ".join(f"{(spread / count + serial) / 3600:.1f} h on {count}" for count in CORES)
    return (
        f"**A million cells like these, on paper**: workers need {spread / 3600:.0f} h of processor time, which "
        "is divided "
        f"among them, and the parent {serial / 3600:.2f} h alone (stitching, plan and output, from the {number} "
        "planted "
        f"cells): {hours} cores. Reading the slide from a shared disk is not in it, nor are workers that wait for "
        "the last."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "what", choices=("equality", "kills", "faults", "real", "mosaic", "windows", "memory", "million", "stages")
    )
    parser.add_argument("path", type=Path, nargs="?", help="image, slide or folder")
    parser.add_argument("-o", "--out", type=Path, default=Path("slide"))
    parser.add_argument("--side", type=int, default=None)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--planted", type=Path, help="folder that 'million' has written")
    parser.add_argument("--formats", default="geojson,geoparquet,zarr,png")
    parser.add_argument("--write", action="store_true", help="put what was found into docs/slides.md")
    given = parser.parse_args()
    if given.path is None and given.what not in ("faults", "million"):
        parser.error(f"{given.what} needs an image, a slide or a folder")
    if given.what == "mosaic":
        print(make_mosaic(given.path, given.out, given.side or 20000))
        return
    text = {
        "equality": lambda: check_equality(given.path),
        "kills": lambda: check_kills(given.path, given.kills, given.seed),
        "faults": check_faults,
        "real": lambda: run_real(given.path, given.out, given.workers),
        "windows": lambda: measure_windows(given.path),
        "memory": lambda: measure_memory(given.path, given.out, given.workers),
        "million": lambda: check_million(given.out, given.side or 100000, given.workers, given.formats.split(",")),
        "stages": lambda: time_stages(given.path, given.workers, given.planted),
    }[given.what]()
    print(text)
    if given.write:
        replace_part(PAGE, f"slide {given.what}", text)


if __name__ == "__main__":
    main()
