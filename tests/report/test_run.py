from pathlib import Path

import pytest

from declump.report import RunImage, RunSummary, read_run


def test_a_missing_file_is_an_empty_run(tmp_path: Path) -> None:
    assert read_run(tmp_path) == RunSummary()
    assert read_run(tmp_path).image("one") == RunImage("", "one")


def test_read(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(
        '{"version": "1.2", "command": ["declump", "segment"], "settings": {"pixel_size": 0.5}, "images": ['
        '{"path": "a/one.png", "name": "one", "status": "done", "cells": 3, "seconds": 2},'
        '{"path": "a/two.png", "status": "failed", "reason": "too dark"}]}'
    )
    run = read_run(tmp_path)
    assert (run.version, run.command, run.settings) == ("1.2", "declump segment", {"pixel_size": 0.5})
    assert run.image("one") == RunImage("a/one.png", "one", seconds=2.0)
    assert run.image("two") == RunImage("a/two.png", "two", failed=True, reason="too dark")


@pytest.mark.parametrize("text", ["", "[1]", '{"images": 3}', '{"images": ["one"]}', '{"settings": 4}'])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ValueError, match=r"run\.json is damaged"):
        read_run(tmp_path)
