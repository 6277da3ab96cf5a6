"""Very many images in one run: all of them done, memory flat.

python benchmarks/soak.py [--images 10000] [--regions classical] [--jobs N] [--write]

A few smears stand in for all images under names of their own; what is watched is not the cells but the processes.
``--write`` puts the figures into docs/reliability.md. Needs /proc, and so Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

from batch import Watch, quarters
from declump import simulate
from pages import commit, replace_part

PAGE, PART = "docs/reliability.md", "soak"
DIFFERENT = 40
"""Smears that are drawn; the others are links to them."""
LONG = 1000
"""Images from which on memory is held to this."""
GROWTH, SLACK = 1.1, 30.0
"""The largest process may grow from the second to the last quarter by this factor, and by so many MB beside."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--regions", default="classical")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    watch, start = Watch(), time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        images = Path(scratch) / "images"
        images.mkdir()
        for index in range(given.images):
            path = images / f"s{index:06d}.png"
            if index < DIFFERENT:
                Image.fromarray(simulate.smear((96, 96), cells=2, radius=28, rng=index).image).save(path)
            else:
                path.hardlink_to(images / f"s{index % DIFFERENT:06d}.png")
        evidence = ["--evidence", "clump"] if given.regions == "classical" else []
        options = ["--regions", given.regions, *evidence, "--format", "csv", "--jobs", str(given.jobs), "--json"]
        words = [
            sys.executable,
            "-m",
            "declump.cli",
            "segment",
            str(images),
            "-o",
            str(Path(scratch) / "out"),
            *options,
        ]
        with (Path(scratch) / "printed").open("w+") as printed:
            with subprocess.Popen(words, stdout=printed, stderr=subprocess.DEVNULL) as process:
                while process.poll() is None:
                    watch.look(process.pid)
                    time.sleep(1.0 if given.images > 100 else 0.1)
            printed.seek(0)
            summary = json.loads(printed.readlines()[-1])
    parent, workers = quarters(watch.parent), quarters(watch.workers)
    # In a short run the second quarter is spent on loading.
    flat = given.images < LONG or all(last <= GROWTH * before + SLACK for before, last in (parent, workers))
    rows = [
        ("images, cells, failed", f"{summary['images']}, {summary['cells']}, {summary['failed']}"),
        ("minutes", f"{(time.monotonic() - start) / 60:.1f} by {given.jobs} processes"),
        ("memory of the parent, second and last quarter", f"{parent[0]:.0f} and {parent[1]:.0f} MB"),
        ("memory of the largest process, second and last quarter", f"{workers[0]:.0f} and {workers[1]:.0f} MB"),
    ]
    text = "\n".join(["| soak | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])
    print(text)
    if given.write:
        how = f"`python benchmarks/soak.py --images {given.images} --regions {given.regions}` at {commit()}"
        replace_part(PAGE, PART, f"{text}\n\n{how}.")
    if summary["images"] != given.images or summary["failed"] or not flat:
        sys.exit("images were lost" if flat else "memory grows")


if __name__ == "__main__":
    main()
