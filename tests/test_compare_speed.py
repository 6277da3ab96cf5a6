"""The gate of speed counts what it measures."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
GATE: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "compare_speed.py"))


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({"a": [1.0, 2.0], "b": [1.1]}, []),
        ({"a": [1.0, 2.0], "b": [1.1], "new": [9.0]}, []),
        ({"a": [1.0, 2.0]}, ["b: lost"]),
        ({"a": [1.0], "b": [1.0]}, ["a: lost"]),
        ({"a": [1.0, None], "b": [1.0]}, ["a[1]: no figure after"]),
        ({"a": [1.0, 2.5], "b": [1.0]}, ["a[1]: 1.25 times as much"]),
    ],
)
def test_what_is_lost_failed_or_slower_is_told(after: dict[str, list[float | None]], said: list[str]) -> None:
    assert GATE["verdict"]({"a": [1.0, 2.0], "b": [1.0]}, after) == said


def test_nothing_measured_is_no_success() -> None:
    assert GATE["verdict"]({}, {"a": [1.0]}) == ["the earlier commit has no figures at all"]


def test_figures_are_read_as_asv_writes_them(tmp_path: Path) -> None:
    record = {
        "result_columns": ["result", "params"],
        "results": {"stages.Evolution.time_evolve": [[0.1, None], [["3", "10"]]], "stages.Image.time_segment": [[0.5]]},
    }
    (tmp_path / "machine").mkdir()
    (tmp_path / "machine" / "0123abcd-virtualenv-py3.11.json").write_text(json.dumps(record))
    figures = GATE["figures_of"](tmp_path, "0123abcd" + 32 * "0")
    assert figures == {"stages.Evolution.time_evolve": [0.1, None], "stages.Image.time_segment": [0.5]}
    assert GATE["count"](figures) == 2


def test_every_benchmark_of_the_suite_runs_once() -> None:
    """The smallest of each, so that a benchmark that cannot run is known before it is timed."""
    suite = runpy.run_path(str(ROOT / "benchmarks" / "timed" / "stages.py"))
    evolution = suite["Evolution"]()
    evolution.setup(3)
    image = suite["Image"]()
    image.setup()
    for name in dir(image):
        if name.startswith(("time_", "peakmem_")):
            getattr(image, name)()
    assert len([name for name in dir(image) if name.startswith("time_")]) == 6
