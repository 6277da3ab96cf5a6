"""Speed on one core, after compilation; two things are always compared in one run.

    make bench            or            python benchmarks/speed.py --data ../shared/data

Real frames are used where they are found, simulated ones elsewhere. The process is pinned to one core.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

import declump  # noqa: E402
from declump import simulate  # noqa: E402
from declump.datasets import isbi2015  # noqa: E402
from declump.evidence.proposals import propose_rays  # noqa: E402
from declump.io import FORMATS  # noqa: E402
from pages import ROOT, commit, replace_part  # noqa: E402


def seconds(task: Any, repeats: int = 5) -> float:
    task()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
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
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/image.npy", images[0][1])
        code = (
            f"import declump, numpy, pathlib; declump.segment(numpy.load('{folder}/image.npy')); "
            "print(pathlib.Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])"
        )
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        peak = float(told) / 1024
    yield f"  peak memory of a process that segments {images[0][0]}: {peak:.0f} MB (target: < 1000)"


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
    def fresh(code: str, cache: str) -> float:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", code]
        return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)

    clock = "import time; s = time.perf_counter(); {}; print(time.perf_counter() - s)"
    use = "import declump; declump.evolve([[0] * 99] * 9 + [[0] * 20 + [1] * 60 + [0] * 19] * 50, [(40, 40), (50, 60)])"
    with tempfile.TemporaryDirectory() as cache:
        yield f"import declump: {fresh(clock.format('import declump'), cache):.3f} s (target: < 0.5)"
        yield f"import and first call, nothing compiled: {fresh(clock.format(use), cache):.1f} s (target: <= 10)"
        yield f"the same again, compiled: {fresh(clock.format(use), cache):.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/results.md")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    folder = options.data / "isbi2015"
    if folder.is_dir():
        read = [(image.name, image.image, image.clump, image.seeds) for image in isbi2015.read(folder)]
    else:
        print(f"(no {folder}: simulated frames instead)")
        smears = [simulate.smear((1024, 1024), cells=40, rng=seed) for seed in range(4)]
        read = [(f"simulated {index}", smear.image, smear.clump, smear.seeds) for index, smear in enumerate(smears)]
    frames = [(name, clump, seeds) for name, _, clump, seeds in read]
    images = [(name, image) for name, image, _, _ in read[:4]]
    lines = [f"`make bench` at commit {commit()}, {model()}", "", "```text"]
    for part in (per_cell(frames), against_chan_vese(), growth(), whole_images(images), export(images), start_up()):
        for text in (*part, ""):
            print(text, flush=True)
            lines.append(text)
    if options.write:
        replace_part("docs/results.md", "speed", "\n".join([*lines[:-1], "```"]))


def model() -> str:
    """Name of the processor, where the system tells."""
    path = Path("/proc/cpuinfo")
    names = [line.partition(":")[2] for line in path.read_text().splitlines() if line.startswith("model name")]
    return names[0].strip() if names else "processor unknown"


if __name__ == "__main__":
    main()
