"""Many images on the command line: memory, cores, an interruption, a damaged file; and what writing costs.

python benchmarks/batch.py [--images 200] [--size 512] [--jobs N] [--write]

Draws smears, segments them by ``declump segment``, kills the same run halfway with kill -9 and resumes it, and compares
all bytes. Memory and processor time are read from /proc, so that Linux is needed. ``--write`` puts the figures into
docs/command-line.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

import declump
from declump import io, simulate
from pages import commit, replace_part

PAGE, PART = "docs/command-line.md", "batch figures"
SAMPLE_SECONDS = 0.25
TICKS = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Watch:
    """What was seen of a run: memory in MB over time, and processor seconds."""

    parent: list[float] = field(default_factory=list)
    workers: list[float] = field(default_factory=list)
    processor: dict[int, float] = field(default_factory=dict)
    seconds: float = 0.0

    def look(self, pid: int) -> None:
        """Take one sample of a process and its children."""
        children = _children(pid)
        self.parent.append(_memory(pid))
        sizes = [_memory(child) for child in children]
        self.workers.append(max(sizes, default=0.0))
        for one in (pid, *children):
            self.processor[one] = max(self.processor.get(one, 0.0), processor_seconds(one))


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _memory(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES / 1e6
    except (OSError, IndexError):
        return 0.0


def processor_seconds(pid: int) -> float:
    """Seconds of the processor that a process has spent; 0 if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def draw(folder: Path, count: int, size: int) -> None:
    """Draw smears; the file in the middle is cut off."""
    folder.mkdir()
    for index in range(count):
        smear = simulate.smear((size, size), cells=12, overlap=0.4, rng=index)
        Image.fromarray(smear.image).save(folder / f"smear{index:04d}.png")
    damaged = folder / f"smear{count // 2:04d}.png"
    damaged.write_bytes(damaged.read_bytes()[:5000])


def command(images: Path, out: Path, jobs: int, *more: str) -> list[str]:
    options = ["--jobs", str(jobs), "--json", *more]
    return [sys.executable, "-m", "declump.cli", "segment", str(images), "-o", str(out), *options]


def whole_run(images: Path, out: Path, jobs: int) -> tuple[Watch, dict[str, float]]:
    watch, start = Watch(), time.monotonic()
    with (
        tempfile.TemporaryFile("w+") as printed,
        subprocess.Popen(command(images, out, jobs), stdout=printed, stderr=subprocess.DEVNULL) as process,
    ):
        while process.poll() is None:
            watch.look(process.pid)
            time.sleep(SAMPLE_SECONDS)
        watch.seconds = time.monotonic() - start
        printed.seek(0)
        summary = json.loads(printed.readlines()[-1])
    return watch, summary


def killed_and_resumed(images: Path, out: Path, jobs: int, count: int) -> int:
    """Kill a run when half of its images are done, and resume it; give how many were done by then."""
    with subprocess.Popen(command(images, out, jobs), stdout=subprocess.DEVNULL) as process:
        while len(list(out.glob("*/summary.json"))) < count // 2 and process.poll() is None:
            time.sleep(0.05)
        process.kill()
    done = len(list(out.glob("*/summary.json")))
    subprocess.run(command(images, out, jobs, "--resume"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done


def bytes_of(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def one_frame(size: int, folder: Path) -> tuple[float, float]:
    """Seconds for the cells of one frame, and for writing them in all formats, both the best of three."""
    image = simulate.smear((size, size), cells=12, overlap=0.4, rng=0).image
    segmenting, writing = [], []
    for turn in range(4):  # the first loads what the others need
        start = time.perf_counter()
        result = declump.segment(image)
        middle = time.perf_counter()
        measured = declump.measure(result, image).cells
        io.write_results(result, folder / str(turn), image=image, formats=tuple(io.FORMATS), measurements=measured)
        segmenting.append(middle - start)
        writing.append(time.perf_counter() - middle)
    return min(segmenting[1:]), min(writing[1:])


def quarters(values: list[float]) -> tuple[float, float]:
    """Means of the second and of the last quarter of a run: what is loaded is loaded by then."""
    quarter = max(len(values) // 4, 1)
    return float(np.mean(values[quarter : 2 * quarter] or values)), float(np.mean(values[-quarter - 1 : -1] or values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        draw(place / "images", given.images, given.size)
        watch, summary = whole_run(place / "images", place / "whole", given.jobs)
        done = killed_and_resumed(place / "images", place / "resumed", given.jobs, given.images)
        same = bytes_of(place / "whole") == bytes_of(place / "resumed")
        segmenting, writing = one_frame(given.size, place / "frame")
    parent, workers = quarters(watch.parent), quarters(watch.workers)
    rows = [
        ("images, cells, failed", f"{summary['images']}, {summary['cells']}, {summary['failed']}"),
        ("seconds; images a minute", f"{watch.seconds:.1f}; {60 * given.images / watch.seconds:.0f}"),
        ("cores used", f"{sum(watch.processor.values()) / watch.seconds:.2f} by {given.jobs} processes"),
        ("memory of the parent, second and last quarter", f"{parent[0]:.0f} and {parent[1]:.0f} MB"),
        ("memory of the largest process, second and last quarter", f"{workers[0]:.0f} and {workers[1]:.0f} MB"),
        (f"killed after {done} images and resumed", "the same bytes" if same else "OTHER BYTES"),
        ("one frame: seconds for cells, for all formats", f"{segmenting:.2f}, {writing:.2f}"),
    ]
    lines = ["| measured | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)]
    text = "\n".join(lines)
    print(text)
    if given.write:
        told = f"{given.images} simulated smears of {given.size} x {given.size} pixels, one of them damaged"
        replace_part(PAGE, PART, f"{text}\n\n{told}; `python benchmarks/batch.py` at {commit()}.")


if __name__ == "__main__":
    main()
