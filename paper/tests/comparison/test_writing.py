from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from declump import simulate
from declump.regions import Regions
from declump_paper import comparison
from declump_paper.comparison import writing

SMEAR = simulate.smear((160, 200), cells=3, overlap=0.3, blur=0.5, debris=0, rng=5)
REGIONS = Regions(SMEAR.clump, (SMEAR.nuclei * np.arange(1, 4)[:, None, None]).max(axis=0))
QUICK = ("declump", "mpw", "cf")


def test_a_comparison_is_a_picture_a_table_and_a_page(tmp_path: Path) -> None:
    compared = comparison.compare(SMEAR.image, methods=QUICK, regions=REGIONS, truth=SMEAR.cells)
    files = comparison.write_comparison(compared, SMEAR.image, tmp_path / "out", truth=SMEAR.cells)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == list(writing.FILES)
    with files["csv"].open() as table:
        rows = list(csv.DictReader(table))
    assert [row["method"] for row in rows] == list(QUICK) and {row["status"] for row in rows} == {"done"}
    assert [float(row["dice_all"]) for row in rows] == pytest.approx([one.score.dice_all for one in compared])
    page = files["md"].read_text()
    assert all(f"| {one.title} |" in page and f"{one.score.dice_all:.3f}" in page for one in compared)
    # Four panels: the truth and three methods, none of them the image alone.
    picture = np.asarray(Image.open(files["png"]))
    panels = np.split(picture[:, : 4 * 320 + 24], [328, 656, 984], axis=1)
    assert len({panel[:, :320].tobytes() for panel in panels}) == 4


def test_a_method_that_failed_is_listed_with_its_reason(tmp_path: Path) -> None:
    (done,) = comparison.compare(SMEAR.image, methods=["mpw"], regions=REGIONS)
    failed = comparison.Compared("broken", "Broken", "Nobody, 2020", 0.1, reason="it is broken")
    files = comparison.write_comparison([failed, done], SMEAR.image, tmp_path / "out")
    lines = files["csv"].read_text().splitlines()
    assert lines[1].startswith("broken,failed,") and lines[2].startswith("mpw,done,,3,")
    assert "dice_all" not in lines[0]
    assert "Broken failed: it is broken" in files["md"].read_text()


def test_an_image_without_cells(tmp_path: Path) -> None:
    blank, truth = np.full((40, 50), 255, np.uint8), np.zeros((0, 40, 50), bool)
    compared = comparison.compare(blank, methods=QUICK, truth=truth)
    files = comparison.write_comparison(compared, blank, tmp_path / "out", truth=truth)
    assert "| - | - |" in files["md"].read_text()
