"""``declump slide``: what is wrong is said in one sentence, before any work, and nothing is left behind."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import distributed  # noqa: F401 (of the extra, without which there is nothing to test here)
import imageio.v3 as iio
import numpy as np
import pytest

from declump.cli.slide import _show_progress

Here = Callable[..., tuple[int, str, str]]


@pytest.fixture
def slide(tmp_path: Path) -> Path:
    iio.imwrite(tmp_path / "slide.png", np.full((200, 300, 3), 230, np.uint8))
    return tmp_path / "slide.png"


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("missing.svs", (), "there is no slide at"),
        ("words.svs", (), "words.svs"),
        ("slide.png", ("--level", 3), "has only level 0, and none of number 3"),
        ("slide.png", ("--format", "docx"), "there is no format 'docx'"),
        ("slide.png", ("--tile", 3), "from 128 to 16384 pixels"),
        ("slide.png", ("--diameter", -1), "diameter of a nucleus"),
        ("slide.png", ("--scheduler", "tcp://127.0.0.1:1"), "there is no Dask scheduler at tcp://127.0.0.1:1"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_left(
    here: Here, slide: Path, name: str, options: tuple[object, ...], sentence: str
) -> None:
    (slide.parent / "words.svs").write_text("no slide")
    code, _, said = here("slide", slide.parent / name, "-o", slide.parent / "out", *options)
    assert code != 0 and sentence in said and said.count("\n") == 1
    assert not (slide.parent / "out").exists()


def test_a_folder_with_something_else_in_it_is_left_alone(here: Here, slide: Path) -> None:
    code, _, said = here("slide", slide, "-o", slide.parent)
    assert (
        code == 1 and "is not empty" in said and sorted(path.name for path in slide.parent.iterdir()) == ["slide.png"]
    )


def test_a_dashboard_without_what_it_needs_is_told_of_before_the_work(
    here: Here, slide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("declump.slides.workers.find_spec", lambda name: None)
    code, _, said = here("slide", slide, "-o", slide.parent / "out", "--dashboard")
    assert code == 1 and "pip install bokeh" in said and not (slide.parent / "out").exists()


@pytest.mark.parametrize("library", ["openslide", "distributed", "pyarrow.parquet", "shapely", "zarr"])
def test_a_library_that_is_missing_is_told_of_before_the_work(
    here: Here, slide: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    code, _, said = here("slide", slide, "-o", slide.parent / "out")
    assert code == 1 and f"slides need {library}: pip install" in said and "report" not in said
    assert not (slide.parent / "out").exists()


def test_progress_tells_cells_a_second_and_the_time_left_of_what_is_new(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("declump.cli.slide.time.monotonic", lambda: now)
    with _show_progress() as show:
        show("cells", 80, 100, 0)  # done by an earlier run
        now += 20
        show("cells", 90, 100, 40)
    assert "cells: 90 of 100, 40 cells, 2.0 a second, about 20 s left" in capsys.readouterr().err
