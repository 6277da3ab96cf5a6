"""Fixtures of all tests, those of the paper's package too: public data, and the command line within this process."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from declump import cli


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The public data: $DECLUMP_DATA, or ../shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("DECLUMP_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no public data in {folder}; set DECLUMP_DATA to the folder that holds isbi2014 and isbi2015")
    return folder


@pytest.fixture(scope="session")
def isbi2014_folder(data_folder: Path) -> Path:
    return _within(data_folder, "isbi2014")


@pytest.fixture(scope="session")
def isbi2015_folder(data_folder: Path) -> Path:
    return _within(data_folder, "isbi2015")


def _within(folder: Path, name: str) -> Path:
    if not (folder / name).is_dir():
        pytest.skip(f"no folder {name} in {folder}")
    return folder / name


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """Run the command line within this process: quicker, and the same from ``main`` on."""
    for name in ("raise_on_signals", "ignore_signals"):
        monkeypatch.setattr(cli, name, lambda: None)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["declump", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return (int(ended.value.code or 0), *capsys.readouterr())

    return call
