"""Clumps above the limits are cut at their necks, the same way each time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from declump.pipelines.cutting import COARSE, Limits, coarsen, cut_clump, make_cut
from declump.records.boxes import Box


def dumbbell() -> NDArray[np.bool_]:
    rows, columns = np.mgrid[:400, :1000]
    discs = (np.hypot(rows - 200, columns - 200) < 180) | (np.hypot(rows - 200, columns - 800) < 180)
    return np.asarray(discs | ((np.abs(rows - 200) < 20) & (columns > 200) & (columns < 800)))


NUCLEI = np.array([[150, 150], [250, 250], [150, 750], [250, 850], [200, 900]])


def test_a_clump_is_cut_at_its_neck() -> None:
    extent = Box(40, 80, 440, 1080)
    cut = make_cut(coarsen(dumbbell(), extent), extent, NUCLEI + (40, 80), Limits(3, 2048), 7)  # noqa: RUF005
    labels = np.zeros(extent.shape, np.int64)
    cut.number(dumbbell(), extent, labels)
    at = labels[tuple(NUCLEI.T)]
    assert len(cut) == 2 and at[0] == at[1] != at[2] and at[2] == at[3] == at[4] and set(at) == {7, 8}
    middle = np.flatnonzero(np.diff(labels[200, 200:800]))
    assert len(middle) == 1 and 100 < middle[0] < 500  # in the bar


def test_parts_keep_to_the_limits() -> None:
    squares = coarsen(np.ones((1024, 2048), bool), Box(0, 0, 1024, 2048))
    nuclei = np.random.default_rng(0).integers(0, (128, 256), (300, 2))
    parts = cut_clump(squares, nuclei, Limits(80, 640))
    members = np.bincount(parts[tuple(nuclei.T)])
    rows, _ = np.nonzero(parts == 1)
    assert parts.min() == 1 and members.max() <= 80 and (np.ptp(rows) + 1) * COARSE <= 640
    np.testing.assert_array_equal(parts, cut_clump(squares, nuclei, Limits(80, 640)))


def test_limits_that_nothing_meets_are_refused() -> None:
    with pytest.raises(ValueError, match="limits of clumps"):
        Limits(0, 4096)
