"""Figures go from the commands that measure them straight into the pages that show them."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def commit() -> str:
    """Short name of the commit that is measured."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def replace_part(page: str, part: str, text: str) -> None:
    """Replace what stands in a page between ``<!-- part -->`` and ``<!-- end part -->``.

    The part may stand in a file behind the page, too: ``docs/results.md`` has its raw tables in ``docs/results``.
    """
    start, end = f"<!-- {part} -->", f"<!-- end {part} -->"
    behind = sorted((ROOT / page).with_suffix("").glob("*.md"))
    path = next((file for file in (ROOT / page, *behind) if start in file.read_text()), ROOT / page)
    before, found, rest = path.read_text().partition(start)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{path} has no part between {start} and {end}")
    path.write_text(f"{before}{start}\n{text.strip()}\n{end}{after}")
