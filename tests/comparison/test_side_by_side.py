from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from declump import comparison, simulate
from declump.compared import METHODS, ComparedMethod
from declump.comparison import side_by_side
from declump.regions import Regions

SMEAR = simulate.smear((160, 200), cells=3, overlap=0.3, blur=0.5, debris=0, rng=5)
REGIONS = Regions(SMEAR.clump, (SMEAR.nuclei * np.arange(1, 4)[:, None, None]).max(axis=0))
QUICK = ("declump", "mpw", "cf")


def test_methods_are_compared_on_the_same_regions(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    compared = comparison.compare(
        SMEAR.image, methods=QUICK, regions=REGIONS, truth=SMEAR.cells, progress=lambda *at: seen.append(at)
    )
    assert [one.name for one in compared] == list(QUICK) and seen == [(1, 3), (2, 3), (3, 3)]
    for one in compared:
        assert one.segmentation is not None and one.score is not None and one.seconds > 0 and not one.reason
        assert (one.segmentation.seeds[:3] == np.floor(REGIONS.seeds + 0.5)).all()
        assert one.score.dice_all > 0.75
    files = comparison.write_comparison(compared, SMEAR.image, tmp_path / "out", truth=SMEAR.cells)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == list(side_by_side.FILES)
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


def test_a_method_that_fails_is_listed_with_its_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No such module: what a method that cannot be loaded on a machine looks like."""
    monkeypatch.setitem(METHODS, "broken", ComparedMethod("broken", "Broken", "Nobody, 2020", False, True))
    compared = comparison.compare(SMEAR.image, methods=["broken", "mpw"], regions=REGIONS)
    assert compared[0].segmentation is None and "declump.compared.broken" in compared[0].reason
    assert compared[1].segmentation is not None and compared[1].score is None
    files = comparison.write_comparison(compared, SMEAR.image, tmp_path / "out")
    lines = files["csv"].read_text().splitlines()
    assert lines[1].startswith("broken,failed,") and lines[2].startswith("mpw,done,,3,")
    assert "dice_all" not in lines[0]
    assert "Broken failed: " in files["md"].read_text()


def test_which_methods_there_are() -> None:
    assert comparison.method_names() == ("declump", *METHODS)
    assert comparison.method_names(["cf", "declump", "cf"]) == ("cf", "declump")
    with pytest.raises(ValueError, match="no method 'snake'; the methods are declump, "):
        comparison.method_names(["cf", "snake"])
    with pytest.raises(ValueError, match="no method is given"):
        comparison.method_names([])


def test_what_is_of_another_image_is_refused() -> None:
    with pytest.raises(ValueError, match="the truth is of another image"):
        comparison.compare(SMEAR.image, regions=REGIONS, truth=SMEAR.cells[:, 1:])
    with pytest.raises(ValueError, match="the regions are of another image"):
        comparison.compare(SMEAR.image[1:], regions=REGIONS)
    with pytest.raises(ValueError, match="empty mask"):
        comparison.compare(SMEAR.image, regions=REGIONS, truth=np.zeros((1, 160, 200), bool))


def test_an_image_without_cells_is_compared_too(tmp_path: Path) -> None:
    blank = np.full((40, 50), 255, np.uint8)
    truth = np.zeros((0, 40, 50), bool)
    compared = comparison.compare(blank, methods=QUICK, regions="classical", truth=truth)
    assert [len(one.segmentation) for one in compared] == [0, 0, 0]
    files = comparison.write_comparison(compared, blank, tmp_path / "out", truth=truth)
    assert "| - | - |" in files["md"].read_text()
