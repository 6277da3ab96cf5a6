"""Label planes, flat labels and masks, read by other libraries."""

import json
from pathlib import Path

import numpy as np
import pytest
import tifffile
from hypothesis import HealthCheck, given, settings
from skimage import io as skimage_io

from declump import io
from declump.io.formats import Result, flat_labels, label_planes, masks
from declump.records.segmentation import Segmentation
from support.segmentations import overlap, segmentation, segmentations

EXAMPLES = settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])


@EXAMPLES
@given(segmentations())
def test_planes_hold_every_cell(tmp_path: Path, given: Segmentation):
    path = tmp_path / "label-planes.tif"
    label_planes.write(Result(given), path)
    with tifffile.TiffFile(path) as file:
        labels = np.stack([page.asarray() for page in file.pages])
    seen = skimage_io.imread(path)
    if len(labels) in (3, 4):  # scikit-image takes so many planes for colours, and puts them last
        seen = np.moveaxis(seen, -1, 0)
    assert np.array_equal(seen.reshape(labels.shape), labels) and labels.dtype == np.uint16
    for index, mask in enumerate(Result(given).segmentation.masks):
        assert np.array_equal((labels == index + 1).any(axis=0), mask)
        assert sum((plane == index + 1).any() for plane in labels) == bool(mask.any())


@EXAMPLES
@given(segmentations())
def test_flat_labels_show_the_last_cell(tmp_path: Path, given: Segmentation):
    path = tmp_path / "labels-flat-lossy.tif"
    flat_labels.write(Result(given), path)
    expected = np.zeros(given.shape, np.uint16)
    for index, mask in enumerate(Result(given).segmentation.masks):
        expected[mask] = index + 1
    assert np.array_equal(tifffile.imread(path), expected) and np.array_equal(skimage_io.imread(path), expected)
    with tifffile.TiffFile(path) as file:
        assert "lossy" in json.loads(file.pages[0].description)["note"]


@pytest.mark.parametrize("written", [label_planes, masks])
def test_they_are_read_back(tmp_path: Path, written: object):
    path = tmp_path / written.FILE
    written.write(Result(segmentation()), path)
    expected, back = Result(segmentation()).segmentation, io.read(path)
    assert len(back) == 5 and back.shape == expected.shape and back.nuclei is None
    assert min(map(overlap, back.masks, expected.masks[:5])) > 0.95


def test_nothing_in_the_planes(tmp_path: Path):
    label_planes.write(Result(segmentation(0)), tmp_path / "label-planes.tif")
    assert len(io.read(tmp_path / "label-planes.tif")) == 0


def test_flat_labels_are_not_read_back(tmp_path: Path):
    flat_labels.write(Result(segmentation()), tmp_path / "flat.tif")
    with pytest.raises(ValueError, match="is not to be read back"):
        io.read(tmp_path / "flat.tif")


@pytest.mark.slow
def test_many_cells_have_32_bits(tmp_path: Path):
    count = 65536
    given = Segmentation((2, 2), np.zeros((count, 2)), np.zeros((count, 16)), np.full(count, -1))
    given.radii[-1] = 0.5
    flat_labels.write(Result(given), tmp_path / "flat.tif")
    labels = tifffile.imread(tmp_path / "flat.tif")
    assert labels.dtype == np.uint32 and labels[0, 0] == count
