from __future__ import annotations

import numpy as np
import pytest

from declump.regions import RegionOptions, Regions
from declump.regions.options import to_region_options


def test_in_pixels() -> None:
    given = RegionOptions(pixel_size=0.5, cut_nuclei=True)
    assert given.in_pixels() == RegionOptions(expected_diameter=14, cut_nuclei=True)
    assert given.in_pixels().in_pixels() == given.in_pixels()
    assert RegionOptions(diameter=20, pixel_size=0.5).in_pixels().diameter == 20


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pixel_size": 0}, "pixel size"),
        ({"pixel_size": np.nan}, "pixel size"),
        ({"pixel_size": 100.0}, "diameter of a nucleus is a number of pixels from 2 to 1000"),
        ({"diameter": 1}, "diameter"),
    ],
)
def test_impossible_sizes_are_refused(options: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        RegionOptions(**options)


def test_what_arguments_stand_for() -> None:
    assert to_region_options("mine.onnx", diameter=20) == RegionOptions("mine.onnx", diameter=20)
    known = Regions(np.ones((3, 3), bool), np.zeros((3, 3), int))
    assert to_region_options(known, pixel_size=0.5) == RegionOptions(pixel_size=0.5)
    own = RegionOptions(diameter=9)
    assert to_region_options(own) is own
    with pytest.raises(ValueError, match="part of the RegionOptions"):
        to_region_options(own, pixel_size=0.5)
