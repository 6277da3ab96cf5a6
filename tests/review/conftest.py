"""A browser to review with, and a slide to review."""

from __future__ import annotations

import shutil
from pathlib import Path

import imageio.v3 as iio
import pytest

import declump
from declump import simulate
from support.browsers import browser

__all__ = ["browser", "segmented_slide", "slide_results"]


@pytest.fixture(scope="session")
def segmented_slide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of ``declump slide`` on a small smear of five clumps."""
    pytest.importorskip("openslide", reason="slides need the extra: pip install 'declump[slides]'")
    folder = tmp_path_factory.mktemp("slide")
    iio.imwrite(folder / "slide.png", simulate.smear((640, 768), cells=14, clumps=5, rng=3).image)
    known = declump.ImageStatistics(222.99, None, 22.0, 0.947, 358.6, 11126.0)
    declump.slides.segment_slide(
        folder / "slide.png", folder / "out", declump.slides.SlideOptions(tile=320), statistics=known, workers=0
    )
    return folder / "out"


@pytest.fixture
def slide_results(segmented_slide: Path, tmp_path: Path) -> Path:
    """A copy of the results to review."""
    return Path(shutil.copytree(segmented_slide, tmp_path / "out"))
