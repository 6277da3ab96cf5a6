"""Runs that are killed at any moment, and taken up again, against one that was left alone.

python benchmarks/kills.py [--kills 100] [--minutes 60] [--images 10] [--seed 0] [--state FILE] [--write]

``declump segment`` is ended by kill -9, in turn the parent, one of its workers, and the whole group; ``--resume`` goes
on, and may be killed in its turn. Once a run has come to its end, all its files are compared with those of a run that
was left alone. A long trial can be had in parts: what was counted is kept in ``--state``, and the same command goes on
from there. ``--write`` puts the figures into docs/reliability.md. Needs /proc, and so Linux.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

from batch import _children, bytes_of
from declump import simulate
from pages import replace_part
from parts import Tally

PAGE, PART = "docs/reliability.md", "kills"
TARGETS = ("parent", "worker", "group")
CHAIN = 4
"""A run is killed so often before it may come to its end."""


@dataclass
class Kills(Tally):
    """What was killed, and what became of it."""

    kills: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    other: list[str] = field(default_factory=list)


def command(images: Path, out: Path, *more: str) -> list[str]:
    options = ["--evidence", "clump", "--format", "csv,png,zarr", "--jobs", "2", *more]
    return [sys.executable, "-m", "declump.cli", "segment", str(images), "-o", str(out), *options]


def kill_one(images: Path, out: Path, target: str, rng: np.random.Generator) -> bool:
    """Start or resume a run, and kill it after a while; whether there was anything left to kill."""
    with subprocess.Popen(
        command(images, out, "--resume"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        before, more = _done(out), int(rng.integers(0, 4))
        while process.poll() is None and _done(out) < before + more:
            time.sleep(0.005)
        time.sleep(float(rng.uniform(0, 0.3 if more else 3.0)))
        workers = [child for child in _children(process.pid) if _is_worker(child)]
        alive = process.poll() is None and (target != "worker" or bool(workers))
        with suppress(ProcessLookupError):
            if target == "parent":
                process.kill()
            elif target == "group":
                os.killpg(process.pid, signal.SIGKILL)
            elif workers:
                os.kill(int(rng.choice(workers)), signal.SIGKILL)
        process.wait()
    while _left(process.pid):  # workers of a parent that is gone end by themselves
        time.sleep(0.01)
    return alive


def _done(out: Path) -> int:
    return len(list(out.glob("*/summary.json")))


def _is_worker(pid: int) -> bool:
    with suppress(OSError):
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _left(group: int) -> bool:
    with suppress(ProcessLookupError):
        os.killpg(group, 0)
        return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=60, help="after these no new run is begun")
    parser.add_argument("--images", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path, help="file in which a trial that is done in parts is counted")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    tally, start = Kills.read(given.state), time.monotonic()
    kills, other, earlier = tally.kills, tally.other, tally.minutes
    with tempfile.TemporaryDirectory() as scratch:
        images = Path(scratch) / "images"
        images.mkdir()
        for index in range(given.images):
            smear = simulate.smear((96, 96), cells=2, radius=28, rng=index)
            Image.fromarray(smear.image).save(images / f"s{index:02d}.png")
        subprocess.run(command(images, Path(scratch) / "alone"), stdout=subprocess.DEVNULL, check=True)
        expected = bytes_of(Path(scratch) / "alone")
        while kills.total() < given.kills and time.monotonic() < start + 60 * given.minutes:
            out, rng = Path(scratch) / f"run{tally.runs}", np.random.default_rng([given.seed, tally.runs])
            for _ in range(min(CHAIN, given.kills - kills.total())):
                target = TARGETS[kills.total() % len(TARGETS)]
                kills[target] += kill_one(images, out, target, rng)
            ended = subprocess.run(
                command(images, out, "--resume"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            if ended.returncode or bytes_of(out) != expected:
                other.append(f"run {tally.runs}: exit code {ended.returncode}, {ended.stderr.strip()}")
                print(other[-1], file=sys.stderr, flush=True)
            tally.runs += 1
            tally.minutes = earlier + (time.monotonic() - start) / 60
            tally.keep(given.state)
            shutil.rmtree(out)
    rows = [
        ("kills", f"{kills.total()}: " + ", ".join(f"{name} {kills[name]}" for name in TARGETS)),
        ("runs they fell on", f"{tally.runs}, of {given.images} images each"),
        ("runs that ended with other bytes", str(len(other))),
        ("minutes", f"{tally.minutes:.1f}"),
    ]
    text = "\n".join(["| kills | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])
    print(text)
    if given.write:
        how = f"`python benchmarks/kills.py --kills {kills.total()} --seed {given.seed}` at {', '.join(tally.commits)}"
        replace_part(PAGE, PART, f"{text}\n\n{how}.")
    if other:
        sys.exit(1)


if __name__ == "__main__":
    main()
