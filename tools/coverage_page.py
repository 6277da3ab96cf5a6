"""Puts the coverage that `make coverage` measured into docs/quality.md, and fails if it fell below what stands there.

python tools/coverage_page.py build/coverage.json
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
from pages import ROOT, commit, replace_part

PAGE = "docs/quality.md"
SLACK = 0.5
"""Points by which the figure may fall before it is a failure."""


def stated(text: str) -> float:
    """Give the figure that a page states, 0 if there is none yet."""
    found = re.search(r"<!-- coverage -->\n\*\*([\d.]+) %\*\*", text)
    return float(found[1]) if found else 0.0


def rooms_of(files: dict[str, dict[str, dict[str, float]]]) -> dict[str, float]:
    """Share of lines reached by room, in per cent, the least first."""
    lines: dict[str, list[float]] = {}
    for name, record in files.items():
        parts = Path(name).parts
        room = parts[parts.index("declump") + 1]
        reached, all_ = lines.setdefault(room, [0.0, 0.0])
        summary = record["summary"]
        lines[room] = [reached + summary["covered_lines"], all_ + summary["num_statements"]]
    shares = {room: 100 * reached / all_ for room, (reached, all_) in lines.items() if all_}
    return dict(sorted(shares.items(), key=lambda pair: pair[1]))


def main() -> None:
    """Compare, and write."""
    measured = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    share = measured["totals"]["percent_covered"]
    before = stated((ROOT / PAGE).read_text(encoding="utf-8"))
    if share < before - SLACK:
        sys.exit(f"the tests reach {share:.1f} % of lines and branches; {before:.1f} % are stated in {PAGE}")
    rooms = rooms_of(measured["files"])
    least = ", ".join(f"`{room.removesuffix('.py')}` {value:.0f} %" for room, value in list(rooms.items())[:5])
    told = f"**{share:.1f} %** of lines and branches; least by room (lines): {least}."
    replace_part(PAGE, "coverage", f"{told} Measured by `make coverage` at commit {commit()}.")
    print(told)


if __name__ == "__main__":
    main()
