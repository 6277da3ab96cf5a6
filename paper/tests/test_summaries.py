"""Tables that sum up others say what those say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("page", "part", "made_by"),
    [
        ("docs/results.md", "peers", "summary"),
        ("paper/docs/paper.md", "experiments", "beside_print"),
    ],
)
def test_a_summary_is_that_of_the_raw_tables(
    page: str, part: str, made_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    made = runpy.run_path(str(ROOT / "paper" / "benchmarks" / "summary.py"))[made_by]()
    shown = (ROOT / page).read_text().partition(f"<!-- {part} -->")[2].partition(f"<!-- end {part} -->")[0]
    assert shown.strip() == made.strip()
