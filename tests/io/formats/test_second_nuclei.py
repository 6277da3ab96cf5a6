"""Nuclei that lie on each other: each is written whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from declump import io
from declump.io.formats import Result, coco, contours, ome_zarr
from declump.pictures.nuclei import nucleus_outlines
from declump.records.segmentation import Segmentation
from support.segmentations import pasted, segmentation


def overlapping() -> Segmentation:
    """The example, cell 2's nucleus also on a strip of cell 1's."""
    plain = segmentation()
    second = np.zeros_like(plain.nuclei)
    rows, columns = np.nonzero(plain.nuclei == 1)
    second[rows[: len(rows) // 2], columns[: len(rows) // 2]] = 2
    return replace(plain, second_nuclei=second)


def test_whole_nuclei_come_back(tmp_path):
    given = overlapping()
    contours.write(Result(given), tmp_path / "contours.json")
    back = io.read(tmp_path / "contours.json")
    assert np.array_equal(back.nuclei, given.nuclei) and np.array_equal(back.second_nuclei, given.second_nuclei)
    coco.write(Result(given), tmp_path / "coco.json")
    rebuilt = io.read(tmp_path / "coco.json")
    for index in range(len(rebuilt)):
        assert np.array_equal(rebuilt.nucleus_mask(index), given.nucleus_mask(index))


def test_each_nucleus_is_cropped_and_drawn_whole():
    given = overlapping()
    for index, crop in enumerate(given.nucleus_crops):
        assert np.array_equal(pasted(crop), given.nucleus_mask(index))
    alone = nucleus_outlines(replace(given, second_nuclei=None))
    assert sum(map(len, nucleus_outlines(given)[1])) > sum(map(len, alone[1]))
    assert all(np.array_equal(*pair) for pair in zip(nucleus_outlines(given)[0], alone[0], strict=True))


def test_ome_zarr_has_a_second_label_image(tmp_path):
    zarr = pytest.importorskip("zarr")
    given = overlapping()
    ome_zarr.write(Result(given), tmp_path / "cells.ome.zarr")
    group = zarr.open(str(tmp_path / "cells.ome.zarr"), mode="r")
    assert np.array_equal(group["labels/second-nuclei/0"][:], given.second_nuclei)


@pytest.mark.parametrize("second", [np.ones((60, 70), np.int32), np.zeros((3, 3), np.int32)])
def test_second_nuclei_lie_on_first_ones(second):
    with pytest.raises(ValueError, match="on pixels of first ones"):
        replace(segmentation(), second_nuclei=second)
