from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import declump
from declump.cli import demo


@pytest.mark.slow
def test_the_report_is_opened_if_asked_for(
    here: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo.webbrowser, "open", lambda address: not opened.append(address) and len(opened) == 1)
    code, out, error = here("demo", "--open")
    assert (code, error) == (0, "") and "CC BY 4.0" in out
    for name in ("result", "pap"):
        for title, file in (("overlay", "overlay.png"), ("masks", "masks.tif"), ("table", "cells.csv")):
            path = tmp_path / "declump-demo" / name / file
            assert path.is_file() and f"{title:<9} {Path('declump-demo') / name / file}" in out
    assert len(declump.io.read(tmp_path / "declump-demo" / "pap")) > 20
    assert opened == [(tmp_path / "declump-demo" / "report.html").as_uri()]
    code, out, error = here("demo", "--open", "--overwrite")
    assert code == 0 and "no browser could be opened" in error and len(opened) == 2
