"""Regions of parts of an image are those of the whole, however it is divided, and windows stay small."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import declump
from declump import simulate
from declump.records.boxes import Box
from declump.records.spots import Spots
from declump.regions import by_window
from declump.regions.by_window import BLOCK, RegionFinder, plan_rest, show_blocks
from declump.regions.channels import to_channels
from declump.regions.options import RegionOptions

IMAGE = simulate.smear((500, 620), cells=12, clumps=4, rng=5).image
KNOWN = declump.ImageStatistics(222.99, None, 22.0, 0.947, 358.6, 11126.0)
WHOLE = Box(0, 0, 500, 620)
CHANNELS = to_channels(IMAGE, KNOWN.exposure)


@pytest.mark.parametrize("room", [6.0, 0.5])
def test_parts_show_what_the_whole_shows(room: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """However little room there is at first."""
    finder = RegionFinder(RegionOptions().in_pixels(), KNOWN, WHOLE.shape)
    whole = finder.find(lambda box: CHANNELS[:, *box.slices], WHOLE)
    monkeypatch.setattr(by_window, "ROOM", room)
    windows: list[Box] = []

    def read(box: Box) -> np.ndarray:
        windows.append(box)
        return CHANNELS[:, *box.slices]

    clump, spots, looks = np.zeros(WHOLE.shape, np.bool_), [], 0
    for top in range(0, 500, 250):
        for left in range(0, 620, 310):
            part = Box(top, left, top + 250, left + 310)
            found = finder.find(read, part)
            assert found.whole
            clump[part.slices] = found.clump
            spots.append(found.spots)
            looks += 1
    every = Spots.join(spots)
    np.testing.assert_array_equal(clump, whole.clump)
    for name, values in whole.spots.to_arrays().items():
        np.testing.assert_array_equal(every.to_arrays()[name], values)
    assert len(windows) >= looks
    assert max(max(window.shape) for window in windows) <= finder.find_largest_window(310)


boxes = st.tuples(st.integers(0, 70), st.integers(0, 70), st.integers(1, 30), st.integers(1, 30)).map(
    lambda values: Box(values[0], values[1], values[0] + values[2], values[1] + values[3])
)


@given(st.lists(boxes, min_size=1, max_size=8))
def test_what_is_looked_at_again_covers_all_that_was_not_sure_once_and_is_small(unsure: list[Box]) -> None:
    part = Box(10, 20, 70, 90)
    seen, wanted = np.zeros((120, 120), int), np.zeros((120, 120), bool)
    for box in plan_rest(unsure, part):
        seen[box.slices] += 1
        assert part.holds(box) and box.size and box.shape[0] <= 30 and box.shape[1] <= 35
    for box in unsure:
        wanted[box.meet(part).slices] = True
    assert seen.max() <= 1 and (seen[wanted] == 1).all()


@given(boxes, st.integers(0, 2**32 - 1))
def test_blocks_are_empty_whatever_the_window(part: Box, number: int) -> None:
    rng = np.random.default_rng(number)
    channels = np.zeros((3, 300, 333), np.float32)
    channels[0] = 1
    for row, column in rng.integers(0, 290, (3, 2)):
        channels[0, row : row + 9, column : column + 9] = 0.5
    whole = show_blocks(channels, Box(0, 0, 300, 333), (300, 333))
    part = Box(*(2 * side for side in part))
    window = part.grow(BLOCK, (300, 333))
    seen = show_blocks(np.ascontiguousarray(channels[:, *window.slices]), window, (300, 333))
    np.testing.assert_array_equal(seen[part.within(window)], whole[part.slices])
    assert whole.any() and not whole.all()
