"""The reference is what the commands and docstrings say now."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_reference_is_up_to_date() -> None:
    written = runpy.run_path(str(DOCS / "reference.py"))["reference"]()
    assert written == (DOCS / "reference.md").read_text(encoding="utf-8"), "run 'python docs/reference.py'"
