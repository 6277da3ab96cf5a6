"""Regions from the classes of pixels alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from declump_paper.regions.classes import read_classes


def squares(*parts: tuple[int, int, int, int]) -> np.ndarray:
    """Classes of 120 x 160 pixels with squares of a class: (class, top, left, side)."""
    classes = np.zeros((120, 160), np.uint8)
    for number, top, left, side in parts:
        classes[top : top + side, left : left + side] = number
    return classes


def test_small_nuclei_and_clumps_are_left_out() -> None:
    classes = squares((1, 10, 10, 40), (2, 20, 20, 10), (2, 35, 35, 9), (1, 80, 80, 30), (2, 90, 90, 12))
    found = read_classes(classes, 22.0)
    # 40 x 40 is a clump, 30 x 30 is not; of its nuclei 10 x 10 is one, 9 x 9 is not.
    assert found.clump.sum() == 1600 and found.nuclei.max() == 1 and (found.nuclei > 0).sum() == 100
    assert found.layers is None and found.candidates is None


def test_least_areas_follow_the_diameter_unless_they_are_given() -> None:
    classes = squares((1, 10, 10, 40), (2, 20, 20, 10))
    assert not read_classes(classes, 44.0).clump.any()
    larger = read_classes(classes, 44.0, min_clump_area=1500, min_nucleus_area=90)
    assert larger.clump.sum() == 1600 and larger.nuclei.max() == 1


def test_nuclei_that_touch_are_one_and_those_that_the_border_cuts_none() -> None:
    classes = squares((1, 0, 0, 110), (2, 20, 20, 12), (2, 32, 32, 12), (2, 60, 0, 15))
    found = read_classes(classes, 22.0)
    assert found.nuclei.max() == 1 and (found.nuclei > 0).sum() == 288
    assert read_classes(classes, 22.0, cut_nuclei=True).nuclei.max() == 2


def test_holes_stay_unless_an_area_is_given() -> None:
    classes = squares((1, 10, 10, 60), (0, 30, 30, 4))
    assert read_classes(classes, 22.0).clump.sum() == 3584
    assert read_classes(classes, 22.0, max_hole_area=16).clump.sum() == 3600


@given(arrays.arrays(np.uint8, (24, 31), elements=st.integers(0, 2)), st.booleans())
def test_regions_hold_nothing_but_what_the_classes_say(classes: np.ndarray, cut: bool) -> None:
    found = read_classes(classes, 22.0, min_clump_area=20, min_nucleus_area=4, cut_nuclei=cut)
    assert not (found.clump & (classes == 0)).any()
    assert not ((found.nuclei > 0) & ((classes != 2) | ~found.clump)).any()
    areas = np.bincount(found.nuclei.ravel())[1:]
    assert (areas >= 4).all() and areas.size == found.nuclei.max()
