"""Cells of one image or of many, in every form that programs write them in."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from declump import Regions, batch, io, simulate
from declump.io import find_cell_sets, pair_cell_sets
from declump.io.cell_sets import _plain_name

SMEARS = {
    name: simulate.smear((120, 140), cells=4, radius=20, overlap=0.4, rng=index) for index, name in enumerate("ab")
}


def labels_of(masks: np.ndarray) -> np.ndarray:
    labels = np.zeros(masks.shape[1:], np.uint16)
    for number, mask in enumerate(masks, start=1):
        labels[mask] = number
    return labels


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    for name, smear in SMEARS.items():
        simulate.write(smear, tmp_path / "truth" / name)
    return tmp_path / "truth"


def test_a_folder_of_frames(truth: Path) -> None:
    found = find_cell_sets(truth)
    assert list(found) == ["a", "b"]
    assert all(np.array_equal(found[name](None), SMEARS[name].cells) for name in found)
    (single,) = find_cell_sets(truth / "a").values()
    assert np.array_equal(single(None), SMEARS["a"].cells)


@pytest.mark.parametrize("ending", ["_cp_masks.png", ".tif"])
def test_label_images_have_a_cell_for_every_number(ending: str, truth: Path, tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    for name, smear in SMEARS.items():
        path = tmp_path / "labels" / f"{name}{ending}"
        labels = labels_of(smear.cells)
        tifffile.imwrite(path, labels) if ending == ".tif" else Image.fromarray(labels).save(path)
    for name, true, found in pair_cell_sets(find_cell_sets(truth), find_cell_sets(tmp_path / "labels")):
        assert np.array_equal(labels_of(found(None)) > 0, SMEARS[name].cells.any(axis=0))
        assert len(found(None)) == len(true(None))


@pytest.mark.parametrize("format_name", ["geojson", "imagej", "coco", "contours", "masks"])
def test_files_of_one_image(format_name: str, tmp_path: Path) -> None:
    result = io.read(write_one(tmp_path, "contours"))
    (reader,) = find_cell_sets(write_one(tmp_path / "other", format_name)).values()
    found = reader(result.shape)
    assert found.shape == result.masks.shape and (found ^ result.masks).sum() < 0.01 * result.masks.sum()


def write_one(folder: Path, format_name: str) -> Path:
    smear = SMEARS["a"]
    regions = Regions(smear.clump, smear.nuclei.any(axis=0))
    result = batch.Options(evidence="clump").segment(smear.image, regions)
    io.write_results(result, folder, formats=(format_name,))
    return folder / io.FORMATS[format_name].file


def test_a_coco_file_of_several_images(tmp_path: Path) -> None:
    square = [[2.0, 2.0, 8.0, 2.0, 8.0, 8.0, 2.0, 8.0]]
    images = [
        {"id": number, "file_name": f"in/{name}.png", "height": 12, "width": 14}
        for number, name in ((1, "a"), (2, "b"))
    ]
    annotations = [{"id": 1, "image_id": 2, "category_id": 1, "segmentation": square, "iscrowd": 0}]
    (tmp_path / "c.json").write_text(json.dumps({"images": images, "annotations": annotations, "categories": []}))
    found = find_cell_sets(tmp_path / "c.json")
    assert list(found) == ["in/a", "in/b"]
    assert found["in/a"](None).shape == (0, 12, 14) and found["in/b"](None).sum() == 36


def test_geojson_of_another_program_takes_the_size_of_the_other_side(tmp_path: Path) -> None:
    ring = [[2, 2], [8, 2], [8, 8], [2, 8], [2, 2]]
    (tmp_path / "a.geojson").write_text(json.dumps([{"geometry": {"type": "Polygon", "coordinates": [ring]}}]))
    (reader,) = find_cell_sets(tmp_path / "a.geojson").values()
    assert reader((12, 14)).sum() == 36
    with pytest.raises(ValueError, match=r"a\.geojson is no GeoJSON .* how large the image is"):
        reader(None)


@pytest.mark.parametrize(
    ("name", "plain"), [("frame004/image", "frame004"), ("in/a_cp_masks", "a"), ("a_labels", "a"), ("image", "image")]
)
def test_names_without_what_programs_add(name: str, plain: str) -> None:
    assert _plain_name(name) == plain


def test_an_image_without_a_prediction_is_named(truth: Path) -> None:
    found = find_cell_sets(truth)
    with pytest.raises(ValueError, match="1 of 2 images have no prediction, the first 'b'"):
        pair_cell_sets(found, {"a": found["a"], "c": found["a"]})
