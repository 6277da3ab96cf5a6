from __future__ import annotations

import imageio.v3 as iio
import numpy as np
import pytest

import declump
from declump.bridges.napari_plugin.files import ENDINGS, get_reader, read_layers, sample_smear, write_layers
from support.segmentations import three_cells


@pytest.fixture
def folder(tmp_path):
    result = three_cells()
    formats = ("contours", "csv", "planes", "imagej", "flat")
    declump.io.write_results(result, tmp_path / "out", formats=formats, measurements=declump.measure(result).cells)
    return tmp_path / "out"


@pytest.mark.parametrize("name", [".", "contours.json", "label-planes.tif", "rois.zip"])
def test_a_result_opens_as_layers_with_its_measurements(folder, name):
    reader = get_reader(str(folder / name))
    assert reader is not None
    found = {attributes["name"]: attributes for _, attributes, _ in reader(str(folder / name))}
    assert {"cells", "seeds"} <= set(found)
    assert found["cells"]["features"]["area_px2"] == pytest.approx(declump.measure(three_cells()).cells["area_px2"])


def test_files_that_declump_does_not_read_back_are_left_to_others(folder, tmp_path):
    iio.imwrite(tmp_path / "photo.tif", np.zeros((5, 5), np.uint8))
    (tmp_path / "other.json").write_text("{}")
    for path in (tmp_path / "photo.tif", tmp_path / "other.json", tmp_path, folder / "labels-flat-lossy.tif"):
        assert get_reader(str(path)) is None
    assert get_reader([str(folder)]) is None


@pytest.mark.parametrize("ending", ENDINGS)
def test_layers_are_written_in_the_format_of_the_name(folder, tmp_path, ending):
    path = tmp_path / f"mine{ending}"
    assert write_layers(str(path), read_layers(str(folder))) == [str(path)]
    told = declump.io.find_metadata(path)
    assert ending == ".csv" or (told is not None and told["cells"] == 3)


def test_a_round_trip_keeps_the_overlap(folder, tmp_path):
    write_layers(str(tmp_path / "mine.json"), read_layers(str(folder)))
    back, result = declump.io.read(tmp_path / "mine.json"), declump.io.read(folder)
    assert np.array_equal(back.masks, result.masks) and (back.masks.sum(axis=0) == 2).any()
    assert (tmp_path / "mine.json").read_bytes() == (folder / "contours.json").read_bytes()


def test_a_name_without_a_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match="names no format"):
        write_layers(str(tmp_path / "mine.xyz"), [])
    assert list(tmp_path.iterdir()) == []


def test_the_sample_is_an_image():
    ((data, attributes, kind),) = sample_smear()
    assert kind == "image" and data.shape == (512, 512, 3) and attributes["name"]
