"""Very many images in one run: all of them done, memory flat.

python benchmarks/soak.py [--images 10000] [--evidence clump] [--jobs N] [--minutes N] [--state FILE] [--write]

A few smears stand in for all images under names of their own; what is watched is not the cells but the processes.
A long run can be had in parts: after ``--minutes`` it is interrupted, and the same command goes on from there by
``--resume``, if there is a ``--state`` to keep what was seen, with the images and results in a folder beside it.
``--write`` puts the figures into docs/reliability.md. Needs /proc, and so Linux.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from batch import Watch, quarters
from declump import simulate
from pages import replace_part
from parts import Tally

PAGE, PART = "docs/reliability.md", "soak"
DIFFERENT = 40
"""Smears that are drawn; the others are links to them."""
LONG = 1000
"""Images from which on memory is held to this."""
GROWTH, SLACK = 1.1, 30.0
"""The largest process may grow from the second to the last quarter by this factor, and by so many MB beside."""


@dataclass
class Soak(Tally):
    """What was seen: for each part its new images, and MB of the parent and of the largest worker in two quarters."""

    done: int = 0
    new: list[int] = field(default_factory=list)
    parent: list[tuple[float, float]] = field(default_factory=list)
    workers: list[tuple[float, float]] = field(default_factory=list)
    processor: float = 0.0
    cells: int = 0
    failed: int = 0


def draw(images: Path, count: int) -> None:
    """Have the images in a folder, unless an earlier part drew them."""
    images.mkdir(parents=True, exist_ok=True)
    for index in range(count):
        path = images / f"s{index:06d}.png"
        if path.exists():
            continue
        if index < DIFFERENT:
            Image.fromarray(simulate.smear((96, 96), cells=2, radius=28, rng=index).image).save(path)
        else:
            path.hardlink_to(images / f"s{index % DIFFERENT:06d}.png")


def watched(place: Path, given: argparse.Namespace) -> tuple[Watch, list[dict[str, object]]]:
    """Run, or go on, until all is done or the time is up; what was seen, and what was said of each image."""
    options = ["--evidence", given.evidence, "--format", "csv", "--jobs", str(given.jobs), "--json"]
    words = ["segment", str(place / "images"), "-o", str(place / "out"), "--resume", *options]
    watch, until = Watch(), time.monotonic() + 60 * given.minutes
    with (place / "printed").open("w+") as printed:
        command = [sys.executable, "-m", "declump.cli", *words]
        with subprocess.Popen(command, stdout=printed, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None:
                watch.look(process.pid)
                time.sleep(1.0 if given.images > 100 else 0.1)
                if time.monotonic() > until:
                    process.send_signal(signal.SIGTERM)  # of a background job SIGINT may be ignored
                    until = math.inf
        printed.seek(0)
        return watch, [json.loads(line) for line in printed]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--evidence", default="clump")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=math.inf, help="after these the run is interrupted")
    parser.add_argument("--state", type=Path, help="file in which a run that is done in parts is counted")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    seen, start = Soak.read(given.state), time.monotonic()
    if seen.done < given.images:
        with tempfile.TemporaryDirectory() as scratch:
            place = given.state.with_suffix(".run") if given.state else Path(scratch)
            draw(place / "images", given.images)
            watch, said = watched(place, given)
            done = [line for line in said if line["event"] == "image"]
            seen.done, seen.cells = len(done), sum(int(line["cells"]) for line in done)
            seen.failed = sum(line["status"] != "done" for line in done)
            seen.new.append(sum(not line["earlier"] for line in done))
            seen.parent.append(quarters(watch.parent))
            seen.workers.append(quarters(watch.workers))
            seen.processor += sum(watch.processor.values())
            seen.minutes += (time.monotonic() - start) / 60
            seen.keep(given.state)
            if given.state and seen.done == given.images:
                shutil.rmtree(place)
    # In a short run the second quarter is spent on loading.
    quarter = [
        pair for new, *pairs in zip(seen.new, seen.parent, seen.workers, strict=True) for pair in pairs if new >= LONG
    ]
    flat = all(last <= GROWTH * before + SLACK for before, last in quarter)
    parts = "" if len(seen.new) == 1 else f" in {len(seen.new)} parts ({', '.join(map(str, seen.new))}), by `--resume`"
    unseen = seen.done - sum(seen.new)
    parts += f", {unseen} of them by a part that was killed, of which nothing was kept" if unseen else ""
    rows = [
        ("images, cells, failed", f"{seen.done}{parts}, {seen.cells}, {seen.failed}"),
        ("minutes", f"{seen.minutes:.1f} by {given.jobs} processes"),
        ("processor's time an image", f"{1000 * seen.processor / max(sum(seen.new), 1):.0f} ms"),
        ("memory of the parent, second and last quarter", _memory(seen.parent)),
        ("memory of the largest process, second and last quarter", _memory(seen.workers)),
    ]
    text = "\n".join(["| soak | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])
    print(text)
    if given.write:
        how = f"`python benchmarks/soak.py --images {given.images} --regions {given.regions}`"
        replace_part(
            PAGE,
            PART,
            f"{text}\n\n{how} at {', '.join(seen.commits)}{'' if seen.done == given.images else ', interrupted'}.",
        )
    lost = seen.failed or (seen.done != given.images and given.minutes == math.inf)
    if lost or not flat:
        sys.exit("images were lost" if lost else "memory grows")


def _memory(parts: list[tuple[float, float]]) -> str:
    return "; ".join(f"{before:.0f} and {last:.0f} MB" for before, last in parts)


if __name__ == "__main__":
    main()
