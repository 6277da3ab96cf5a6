"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Imports inside functions and compiled kernels make a first call slow: no deadline for a single example. Where the
# tests decide what lands ($CI), the same examples are tried every time; elsewhere new ones are looked for.
settings.register_profile("declump", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("declump")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The public data: $DECLUMP_DATA, or ../shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
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
