"""Speed on one core; two things are always compared in one run.

    make bench            or            python benchmarks/speed.py --data ../shared/data --parts peers memory

Real frames are used where they are found, simulated ones elsewhere. The process is pinned to one core. Times are
processor seconds of this one thread, so that what else the machine does counts little; on a quiet one they are those of
the clock. StarDist and Cellpose are timed by a Python that has them (``--peers``, or the variable PEERS).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

import declump  # noqa: E402
from declump import simulate  # noqa: E402
from declump.datasets import isbi2015  # noqa: E402
from declump.evidence.proposals import propose_rays  # noqa: E402
from declump.io import FORMATS  # noqa: E402
from pages import ROOT, commit, replace_part  # noqa: E402

PARTS = ("cells", "chan-vese", "growth", "stages", "peers", "memory", "export", "start")


def seconds(task: Any, repeats: int = 5) -> float:
    task()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return float(np.median(times))


def clump_of(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Mask and seeds of one simulated clump of that many cells."""
    side = int(120 * np.sqrt(cells)) + 200
    smear = simulate.smear((side, side), cells=cells, clumps=1, overlap=0.5, rng=1)
    return smear.clump, smear.seeds


def per_cell(frames: list[tuple[str, np.ndarray, np.ndarray]]) -> Iterator[str]:
    yield "milliseconds per cell, mask and seeds in, contours out (median of 5 runs)"
    values = []
    for name, mask, seeds in frames:
        values.append(1e3 * seconds(lambda mask=mask, seeds=seeds: declump.evolve(mask, seeds)) / len(seeds))
        yield f"  {name:12} {len(seeds):3} cells  {values[-1]:6.2f}"
    yield f"  median over frames: {np.median(values):.2f} ms per cell (target: 10)"


def against_chan_vese() -> Iterator[str]:
    from skimage.segmentation import morphological_chan_vese

    mask, seeds = clump_of(10)
    ours = seconds(lambda: declump.evolve(mask, seeds))
    rows, columns = np.nonzero(mask)
    crop = mask[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1].astype(float)
    theirs = seconds(lambda: morphological_chan_vese(crop, 100))
    yield f"10-cell clump of {crop.shape[0]} x {crop.shape[1]} px: {1e3 * ours:.0f} ms"
    yield f"100 iterations of morphological_chan_vese on the same crop: {1e3 * theirs:.0f} ms"
    yield f"ratio: {ours / theirs:.2f} (target: < 1)"


def growth() -> Iterator[str]:
    yield "time per cell of one clump, by its number of cells"
    base = None
    for cells in (10, 30, 100, 300):
        mask, seeds = clump_of(cells)
        each = 1e3 * seconds(lambda mask=mask, seeds=seeds: declump.evolve(mask, seeds), repeats=3) / cells
        base = base or each
        yield f"  {cells:4} cells  {each:6.2f} ms per cell  {each / base:.2f} x that of 10 (target for 100: <= 3)"


def whole_images(images: list[tuple[str, np.ndarray]]) -> Iterator[str]:
    yield "image in, contours out: seconds by stage (median of 3 runs)"
    for name, image in images:
        regions = declump.find_regions(image)
        proposals = propose_rays(image, regions)
        result = declump.segment(image, regions=regions)
        parts = (
            seconds(lambda image=image: declump.find_regions(image), repeats=3),
            seconds(lambda image=image, regions=regions: propose_rays(image, regions), repeats=3),
            seconds(
                lambda regions=regions, told=proposals: declump.evolve(regions.clump, regions.seeds, evidence=told),
                repeats=3,
            ),
            seconds(lambda result=result, image=image: declump.measure(result, image), repeats=3),
        )
        whole = seconds(lambda image=image: declump.segment(image), repeats=3)
        told = "regions {:.2f}, rays {:.2f}, evolution {:.2f}, measurements {:.2f}".format(*parts)
        yield f"  {name:12} {len(result):3} cells  {told}; segment as a whole {whole:.2f} (target: 5)"


SEGMENT_ONCE = """
import sys, time
start, processor = time.perf_counter(), time.process_time()
import declump, numpy, pathlib
image = numpy.load(sys.argv[1])
found = len(declump.segment(image))
peak = pathlib.Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
print(found, peak, time.process_time() - processor, time.perf_counter() - start)
"""
"""A process of its own that segments one image: cells, peak memory in kB, processor seconds, seconds."""


def pixels(images: list[tuple[str, np.ndarray]], sides: Sequence[int]) -> Iterator[str]:
    yield "one image in a process of its own, start and all: by its number of pixels (a real frame cut out or repeated)"
    frame, base = images[1][1], None
    with tempfile.TemporaryDirectory() as folder:
        for side in sides:
            times = -(-side // frame.shape[0])
            image = np.tile(frame, (times, times, *(1 for _ in frame.shape[2:])))[:side, :side]
            np.save(f"{folder}/image.npy", image)
            command = [sys.executable, "-c", SEGMENT_ONCE, f"{folder}/image.npy"]
            told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            each = float(told[2]) / (side**2 / 1e6)
            base = base or each
            yield (
                f"  {side:5} x {side:<5} {int(told[0]):5} cells  {float(told[2]):7.1f} s, {each:5.2f} s a megapixel, "
                f"peak {float(told[1]) / 1024:5.0f} MB"
            )
    yield "  targets: 600 MB for 1024 x 1024, 1500 MB for 4096 x 4096"


def against_peers(images: list[tuple[str, np.ndarray, np.ndarray]], python: str | None) -> Iterator[str]:
    yield "a 1024 x 1024 frame, against StarDist (2D, 32 rays, grid 2) and Cellpose, random weights; processor seconds"
    for name, image, cells in images:
        ours = seconds(lambda image=image: declump.segment(image), repeats=3)
        yield f"  {name:12} declump.segment                     {ours:.2f}"
        if python is None:
            yield "  (no Python with StarDist or Cellpose was named: --peers)"
            continue
        labels = np.zeros(cells.shape[1:], np.int32)
        for number, cell in enumerate(cells, start=1):
            labels[cell & (labels == 0)] = number
        with tempfile.TemporaryDirectory() as folder:
            shown = image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2)
            np.savez(f"{folder}/frame.npz", image=shown, labels=labels)
            script = str(ROOT / "benchmarks" / "peers.py")
            environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
            command = [python, script, f"{folder}/frame.npz"]
            told = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
        found = json.loads(told.splitlines()[-1])
        for peer, figures in found.items():
            used = f" {figures['processor seconds']:.2f}" if "processor seconds" in figures else ""
            yield f"  {name:12} {peer:35}{used}"
        theirs = sum(value["processor seconds"] for peer, value in found.items() if peer.startswith("StarDist"))
        if theirs:
            yield f"  {name:12} ratio of declump to StarDist: {ours / theirs:.2f} (target: <= 1)"


def export(images: list[tuple[str, np.ndarray]]) -> Iterator[str]:
    yield "all formats of a frame, against segmenting it (median of 5 runs)"
    shares = []
    for name, image in images:
        result = declump.segment(image)
        table = declump.measure(result, image).cells
        whole = seconds(lambda image=image: declump.segment(image))
        with tempfile.TemporaryDirectory() as folder:
            written = seconds(
                lambda result=result, image=image, table=table, folder=folder: declump.io.write_results(
                    replace(result), folder, image=image, formats=tuple(FORMATS), measurements=table, overwrite=True
                )
            )
        shares.append(written / whole)
        yield f"  {name:12} {len(result):3} cells  {written:.2f} s of {whole:.2f} s, {100 * shares[-1]:.0f} %"
    yield f"  median over frames: {100 * np.median(shares):.0f} % (target: <= 20 %)"


def start_up() -> Iterator[str]:
    """Of fresh processes: what importing takes, and a segmentation."""
    uses = {
        "import numpy": "import numpy",
        "import declump": "import declump",
        "with kernels": "import numpy; from declump import _kernels; _kernels.fill_holes(numpy.ones((9, 9), bool))",
        "segment 512 x 512": "import declump as d; d.segment(d.simulate.smear((512, 512), cells=12, rng=1).image)",
    }
    # getrusage would tell the height of this process, if that is higher.
    memory = "re.findall(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())"
    told = f"import re, time; print(time.process_time(), *{memory})"
    for name, code in uses.items():
        ended = subprocess.run([sys.executable, "-c", f"{code}; {told}"], capture_output=True, text=True, check=True)
        spent, height = map(float, ended.stdout.split())
        yield f"{name + ':':22} {spent:5.2f} s of the processor, {height / 1024:4.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/performance.md")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to measure; by default all")
    parser.add_argument("--peers", default=os.environ.get("PEERS"), help="a Python that has StarDist or Cellpose")
    parser.add_argument("--sides", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192])
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    folder = options.data / "isbi2015"
    if folder.is_dir():
        read = [(one.name, one.image, one.clump, one.seeds, one.cells) for one in isbi2015.read(folder)]
    else:
        print(f"(no {folder}: simulated frames instead)")
        smears = [simulate.smear((1024, 1024), cells=40, rng=seed) for seed in range(4)]
        read = [(f"simulated {place}", one.image, one.clump, one.seeds, one.cells) for place, one in enumerate(smears)]
    frames = [(name, clump, seeds) for name, _, clump, seeds, _ in read]
    images = [(name, image) for name, image, _, _, _ in read[:4]]
    parts = {
        "cells": lambda: per_cell(frames),
        "chan-vese": against_chan_vese,
        "growth": growth,
        "stages": lambda: whole_images(images),
        "peers": lambda: against_peers([(name, image, cells) for name, image, _, _, cells in read[1:2]], options.peers),
        "memory": lambda: pixels(images, options.sides),
        "export": lambda: export(images),
        "start": start_up,
    }
    for name in options.parts:
        lines = [f"`python benchmarks/speed.py --parts {name}` at commit {commit()}, {model()}", "", "```text"]
        for text in parts[name]():
            print(text, flush=True)
            lines.append(text)
        print(flush=True)
        if options.write:
            replace_part("docs/performance.md", name, "\n".join([*lines, "```"]))


def model() -> str:
    """Name of the processor, where the system tells."""
    path = Path("/proc/cpuinfo")
    names = [line.partition(":")[2] for line in path.read_text().splitlines() if line.startswith("model name")]
    return names[0].strip() if names else "processor unknown"


if __name__ == "__main__":
    main()
