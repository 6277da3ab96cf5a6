"""Interrupt runs at random moments: each has to end by one sentence.

python benchmarks/interruptions.py [--signals 100] [--seed 0]

``declump segment`` of one small smear gets SIGINT and SIGTERM in turn. It must end with exit code 130 or 143 and one
sentence, and leave either whole results or none. A signal that arrives before the first line of declump runs is
Python's: those are counted apart.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from PIL import Image

from declump import simulate


def run(folder: Path, number: int | None, moment: float) -> tuple[str, float]:
    """Return what became of one run, and the seconds it took."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        out = Path(scratch) / "out"
        command = [sys.executable, "-m", "declump.cli", "segment", str(folder / "smear.png"), "-o", str(out)]
        start = time.monotonic()
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            if number is not None:
                time.sleep(moment)
                process.send_signal(number)
            error = process.communicate()[1].decode()
        seconds = time.monotonic() - start
        left = [path.name for path in out.rglob("*")] if out.exists() else []
        if number is None or process.returncode == 0:
            return ("finished" if process.returncode == 0 else f"failed: {error}"), seconds
        if process.returncode < 0 or "declump: " not in error:
            return ("before declump" if not left and moment < 1 else f"no sentence: {error}"), seconds
        whole = "contours.json" not in left or "summary.json" in left  # the rest is for --resume
        fine = process.returncode == 128 + number and len(error.splitlines()) == 1 and whole
        return ("one sentence" if fine else f"exit {process.returncode}, left {left}, said {error}"), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--signals", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng, counts = np.random.default_rng(given.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        Image.fromarray(simulate.smear((160, 160), cells=4, radius=24, rng=1).image).save(folder / "smear.png")
        _, seconds = run(folder, None, 0)
        for index in range(given.signals):
            number = (signal.SIGINT, signal.SIGTERM)[index % 2]
            moment = float(rng.uniform(0, seconds))
            ended = run(folder, number, moment)[0]
            counts[ended] += 1
            if ended not in ("finished", "one sentence", "before declump"):
                print(f"{signal.Signals(number).name} after {moment:.3f} s: {ended}", file=sys.stderr, flush=True)
    print(f"a run takes {seconds:.1f} s; " + ", ".join(f"{name}: {count}" for name, count in counts.most_common()))


if __name__ == "__main__":
    main()
