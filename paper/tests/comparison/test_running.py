from __future__ import annotations

import numpy as np
import pytest

from declump import simulate
from declump.regions import RegionOptions, Regions, find_regions
from declump_paper import comparison
from declump_paper.methods import METHODS, Method

SMEAR = simulate.smear((160, 200), cells=3, overlap=0.3, blur=0.5, debris=0, rng=5)
REGIONS = Regions(SMEAR.clump, (SMEAR.nuclei * np.arange(1, 4)[:, None, None]).max(axis=0))
QUICK = ("declump", "mpw", "cf")


def test_methods_are_compared_on_the_same_regions() -> None:
    seen: list[tuple[int, int]] = []
    compared = comparison.compare(
        SMEAR.image, methods=QUICK, regions=REGIONS, truth=SMEAR.cells, progress=lambda *at: seen.append(at)
    )
    assert [one.name for one in compared] == list(QUICK) and seen == [(1, 3), (2, 3), (3, 3)]
    for one in compared:
        assert one.segmentation is not None and one.score is not None and one.seconds > 0 and not one.reason
        assert (one.segmentation.seeds[:3] == np.floor(REGIONS.seeds + 0.5)).all()
        assert one.score.dice_all > 0.75


def test_a_method_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("it is broken")

    monkeypatch.setitem(METHODS, "broken", Method("broken", "Broken", "Nobody, 2020", (), fail))
    compared = comparison.compare(SMEAR.image, methods=["broken", "mpw"], regions=REGIONS)
    assert compared[0].segmentation is None and compared[0].reason == "it is broken"
    assert compared[1].segmentation is not None and compared[1].score is None


def test_regions_are_found_as_options_say() -> None:
    found = find_regions(SMEAR.image, diameter=18, cut_nuclei=True)
    options = RegionOptions(diameter=18, cut_nuclei=True)
    (one,) = comparison.compare(SMEAR.image, methods=["mpw"], regions=options)
    assert one.segmentation is not None and (one.segmentation.nuclei == found.nuclei).all()


def test_which_methods_there_are() -> None:
    assert comparison.method_names() == tuple(METHODS)


def test_what_is_of_another_image_is_refused() -> None:
    with pytest.raises(ValueError, match="the truth is of another image"):
        comparison.compare(SMEAR.image, regions=REGIONS, truth=SMEAR.cells[:, 1:])
    with pytest.raises(ValueError, match="the regions are of another image"):
        comparison.compare(SMEAR.image[1:], regions=REGIONS)
    with pytest.raises(ValueError, match="empty mask"):
        comparison.compare(SMEAR.image, regions=REGIONS, truth=np.zeros((1, 160, 200), bool))


def test_an_image_without_cells_is_compared_too() -> None:
    blank = np.full((40, 50), 255, np.uint8)
    compared = comparison.compare(blank, methods=QUICK, truth=np.zeros((0, 40, 50), bool))
    assert [len(one.segmentation) for one in compared] == [0, 0, 0]
