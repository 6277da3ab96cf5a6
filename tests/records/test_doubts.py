"""Cells that a person should look at."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from declump import Segmentation, measure
from declump.datasets import isbi2014, isbi2015

ANGLES = 2 * np.pi * np.arange(360) / 360


def cells(seeds: list[tuple[float, float]], radii: list[np.ndarray], nuclei: np.ndarray | None = None) -> Segmentation:
    return Segmentation((120, 160), np.array(seeds), np.array(radii), np.zeros(len(seeds), np.int64), nuclei=nuclei)


def kinds(result: Segmentation) -> list[tuple[int, str]]:
    return [(warning.cell, warning.kind) for warning in result.warnings]


def ellipse(long: float, short: float) -> np.ndarray:
    return long * short / np.hypot(short * np.cos(ANGLES), long * np.sin(ANGLES))


def test_overlapping_and_elongated_cells_are_not_doubtful() -> None:
    result = cells([(60, 60), (60, 85), (60, 62)], [np.full(360, 30.0), np.full(360, 30.0), ellipse(45, 14)])
    assert result.warnings == ()
    assert measure(result).cells["warnings"].tolist() == ["", "", ""]
    assert measure(result).image["doubtful_cells"] == 0


def test_two_cells_with_nearly_one_outline_are_named_with_each_other() -> None:
    result = cells([(60, 60), (61, 62), (60, 120)], [np.full(360, 30.0)] * 3)
    assert kinds(result) == [(1, "twin"), (2, "twin")]
    assert str(result.warnings[0]) == "cell 1 has nearly the outline of cell 2: it may be the same cell"
    assert measure(result).cells["warnings"].tolist() == ["twin", "twin", ""]
    assert measure(result).image["doubtful_cells"] == 2


@pytest.mark.parametrize("turn", [0, 45, 200, 355])
def test_a_narrow_spike_is_named(turn: int) -> None:
    radii = np.full(360, 20.0)
    radii[:8] = 45
    assert kinds(cells([(60, 80)], [np.roll(radii, turn)])) == [(1, "spike")]


def test_two_nuclei_and_none_are_named() -> None:
    nuclei = np.zeros((120, 160), np.int32)
    nuclei[50:56, 30:36] = nuclei[50:56, 50:56] = 1
    nuclei[58:62, 118:122] = 2
    nuclei[58, 124] = 2  # a speck is no nucleus
    result = cells(
        [(60, 40), (60, 120), (100, 80)], [np.full(360, 25.0), np.full(360, 25.0), np.full(360, 15.0)], nuclei
    )
    assert kinds(result) == [(1, "binucleate"), (3, "no nucleus")]


def test_nothing_is_said_of_no_cells_and_of_empty_ones() -> None:
    empty = Segmentation((20, 20), np.zeros((0, 2)), np.zeros((0, 360)), np.zeros(0, np.int64))
    assert empty.warnings == () and measure(empty).image["doubtful_cells"] == 0
    assert cells([(5, 5), (5, 5)], [np.zeros(360), np.zeros(360)]).warnings == ()


@pytest.mark.data
def test_of_the_true_cells_of_public_data_one_pair_is_doubtful(isbi2014_folder: Path, isbi2015_folder: Path) -> None:
    # The count stands in docs/measurements.md.
    count, named = 0, []
    for image in chain(isbi2014.read(isbi2014_folder), isbi2015.read(isbi2015_folder)):
        count += len(image.cells)
        result = Segmentation.from_masks(image.cells, image.seeds, nuclei=image.nucleus_labels)
        named += [(image.name, warning.kind, warning.cell) for warning in result.warnings]
    assert count == 590
    assert named == [("frame007", "twin", 46), ("frame007", "twin", 47)]
