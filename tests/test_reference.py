"""The reference is what the commands and docstrings say now."""

from __future__ import annotations

import runpy
from pathlib import Path

from declump.errors import HELP_PAGE

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_reference_is_up_to_date() -> None:
    written = runpy.run_path(str(DOCS / "reference.py"))["reference"]()
    assert written == (DOCS / "reference.md").read_text(encoding="utf-8"), "run 'python docs/reference.py'"


def test_the_help_page_is_up_to_date() -> None:
    written = runpy.run_path(str(DOCS / "help_page.py"))["help_page"]()
    assert written == HELP_PAGE.read_text(encoding="utf-8"), "run 'python docs/help_page.py'"


def test_contributing_has_the_recipes_of_the_architecture() -> None:
    written = runpy.run_path(str(DOCS / "reference.py"))["contributing"]()
    assert written.count("| a format |") == 1 and written.count("\n| a") >= 5
    assert written == (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8"), "run 'python docs/reference.py'"
