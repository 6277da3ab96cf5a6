"""A results folder, and a browser to look at its report with."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.browsers import browser
from support.report_samples import smear, write_results

__all__ = ["browser", "results"]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two images of three cells, with their originals."""
    write_results(tmp_path / "results", ["one", "two"], smear(), originals=tmp_path / "originals")
    return tmp_path / "results"
