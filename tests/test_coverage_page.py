"""The coverage that is stated is the one that was measured, and does not fall unseen."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = runpy.run_path(str(ROOT / "tools" / "coverage_page.py"))


def record(reached: int) -> dict[str, object]:
    files = {"src/declump/io/a.py": reached, "src/declump/errors.py": 10}
    return {
        "totals": {"percent_covered": 5.0 * (reached + 10)},
        "files": {name: {"summary": {"covered_lines": lines, "num_statements": 10}} for name, lines in files.items()},
    }


def test_the_figure_is_written_and_a_fall_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, measured = tmp_path / "quality.md", tmp_path / "coverage.json"
    page.write_text("<!-- coverage -->\nnot yet\n<!-- end coverage -->\n")
    scope = PAGE["main"].__globals__
    monkeypatch.setitem(scope, "ROOT", tmp_path)
    monkeypatch.setitem(scope, "PAGE", "quality.md")
    monkeypatch.setitem(scope["replace_part"].__globals__, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["coverage_page.py", str(measured)])
    measured.write_text(json.dumps(record(8)))
    PAGE["main"]()
    assert PAGE["stated"](page.read_text()) == 90.0 and "`io` 80 %, `errors` 100 %" in page.read_text()
    measured.write_text(json.dumps(record(6)))
    with pytest.raises(SystemExit, match=r"80\.0 % .* 90\.0 %"):
        PAGE["main"]()
    assert PAGE["stated"](page.read_text()) == 90.0
