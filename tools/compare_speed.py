"""Compares the speed of two commits on one machine, and fails if one got slower or a benchmark was lost.

    python tools/compare_speed.py main              # main against what is committed here
    python tools/compare_speed.py main --quick      # once each: whether everything runs, not how fast

asv runs both commits in turn, in environments of their own. A benchmark that ends in an error has no figure, and asv
goes on without a word: here every benchmark that the earlier commit has must have figures in both.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FACTOR = 1.2
"""How much slower a benchmark may get."""


def figures_of(results: Path, commit: str) -> dict[str, list[float | None]]:
    """Figures of one commit by benchmark, one for each value of its parameter; None where it failed."""
    found: dict[str, list[float | None]] = {}
    for path in sorted(results.glob(f"*/{commit[:8]}*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        column = content["result_columns"].index("result")
        for name, record in content["results"].items():
            found[name] = record[column] if isinstance(record[column], list) else [record[column]]
    return found


def verdict(
    before: Mapping[str, list[float | None]], after: Mapping[str, list[float | None]], factor: float = FACTOR
) -> list[str]:
    """Say what is wrong with the later figures: nothing measured, lost, failed or slower."""
    if not before:
        return ["the earlier commit has no figures at all"]
    wrong = []
    for name, earlier in sorted(before.items()):
        later = after.get(name)
        if later is None or len(later) < len(earlier):
            wrong.append(f"{name}: lost")
            continue
        for place, (one, two) in enumerate(zip(earlier, later, strict=False)):
            if one is None or two is None:
                wrong.append(f"{name}[{place}]: no figure {'before' if one is None else 'after'}")
            elif two > factor * one:
                wrong.append(f"{name}[{place}]: {two / one:.2f} times as much")
    return wrong


def count(figures: Mapping[str, list[float | None]]) -> int:
    """Number of figures."""
    return sum(value is not None for values in figures.values() for value in values)


def commit_of(name: str) -> str:
    """Full name of a commit."""
    command = ["git", "rev-parse", f"{name}^{{commit}}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def run_asv(*words: str) -> None:
    """Run asv; its exit code says only whether something got slower, which is judged here."""
    subprocess.run([sys.executable, "-m", "asv", *words], cwd=ROOT, check=False)


def main() -> None:
    """Measure both commits, and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after", nargs="?", default="HEAD")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    run_asv("machine", "--yes")
    names = commit_of(options.before), commit_of(options.after)
    quick = ["--quick"] if options.quick else ["--interleave-rounds"]
    run_asv("continuous", "--factor", str(FACTOR), "--show-stderr", *quick, *names)
    before, after = (figures_of(ROOT / ".asv" / "results", name) for name in names)
    wrong = verdict(before, after, float("inf") if options.quick else FACTOR)
    print(*wrong, f"{count(before)} figures before, {count(after)} after", sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
