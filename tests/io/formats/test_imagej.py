import tomllib
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import roifile

from declump import io
from declump.io.formats import Result, imagej
from declump.records.crops import crop_polygon
from support.segmentations import overlap, pasted, segmentation


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "rois.zip"
    imagej.write(Result(segmentation()), path)
    return path


def test_roifile_reads_it(written: Path):
    expected = Result(segmentation()).segmentation
    rois = roifile.ImagejRoi.fromfile(written)
    assert [roi.name for roi in rois] == [f"{n:04d}-{kind}" for n in range(1, 6) for kind in ("cell", "nucleus")]
    for roi in rois:
        assert roi.roitype == roifile.ROI_TYPE.POLYGON and roi.subpixelresolution
        index, outline = int(roi.name[:4]) - 1, roi.coordinates().astype(np.float64)[:, ::-1] - 0.5
        if roi.name.endswith("cell"):
            np.testing.assert_allclose(outline, expected.polygons[index], atol=1e-4)
        else:
            assert np.array_equal(pasted(crop_polygon(outline, expected.shape)), expected.nuclei == index + 1)


def test_dates_are_fixed(written: Path):
    with zipfile.ZipFile(written) as archive:
        assert archive.testzip() is None
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_it_is_read_back(written: Path):
    expected, back = Result(segmentation()).segmentation, io.read(written)
    assert back.shape == expected.shape and np.array_equal(back.nuclei, expected.nuclei)
    assert min(map(overlap, back.masks, expected.masks[:5])) > 0.97


def test_archives_of_others(tmp_path: Path):
    path = tmp_path / "rois.zip"
    roifile.roiwrite(path, [roifile.ImagejRoi.frompoints(np.eye(3)[:, :2], name="0001-cell")])
    for read in (imagej.read, io.read):
        with pytest.raises(ValueError, match=r"rois\.zip is no"):
            read(path)
    path.write_bytes(b"PK")
    with pytest.raises(ValueError, match="is no archive"):
        imagej.read(path)


def test_too_far(tmp_path: Path):
    far = replace(segmentation(1, nuclei=False), seeds=np.full((1, 2), 70000.0), radii=np.full((1, 48), 9.0))
    with pytest.raises(ValueError, match="ImageJ holds coordinates"):
        imagej.write(Result(far), tmp_path / "rois.zip")


def test_roifile_comes_with_the_package():
    """README's second command writes ROIs after a plain installation."""
    pyproject = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    assert any(requirement.startswith("roifile") for requirement in pyproject["project"]["dependencies"])


def test_no_cells(tmp_path: Path):
    imagej.write(Result(segmentation(0)), tmp_path / "rois.zip")
    assert len(io.read(tmp_path / "rois.zip")) == 0
