"""Predictions as Label Studio takes them; asked for as it asks, where the real packages are installed."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from shapely import Polygon

import declump
from declump.bridges.label_studio import Controls, predict_image

FOLDER = Path(__file__).parents[2] / "integrations" / "label_studio"
CONTROLS = Controls("outline", "image", "image", "cell")
MISSING = "{} is not installed (extra 'label-studio'); make test-bridges runs this"


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    image = declump.simulate.smear((320, 480), cells=6, clumps=2, rng=5).image
    path = tmp_path_factory.mktemp("images") / "smear.png"
    iio.imwrite(path, image)
    return path, declump.segment(image, regions=declump.freeze(image))


def key_points(places):
    """What Label Studio sends while somebody sets smart key points; x and y in percent."""
    return {
        "result": [
            {
                "type": "keypointlabels",
                "is_positive": 1,
                "value": {"x": (column + 0.5) / 4.8, "y": (row + 0.5) / 3.2, "width": 0.2, "keypointlabels": ["cell"]},
            }
            for row, column in places
        ]
    }


def polygons_of(prediction):
    return [Polygon(np.array(region["value"]["points"]) * (4.8, 3.2)) for region in prediction["result"]]


def test_all_cells_of_an_image_are_predicted(picture):
    path, expected = picture
    prediction = predict_image(path, CONTROLS)
    assert len(prediction["result"]) == len(expected) and 0 < prediction["score"] <= 1
    for polygon, mask in zip(polygons_of(prediction), expected.masks, strict=True):
        assert polygon.area == pytest.approx(mask.sum(), rel=0.03)
        assert len(polygon.exterior.coords) < 60


def test_a_key_point_is_the_seed_of_one_cell(picture):
    path, expected = picture
    (known,) = polygons_of(predict_image(path, CONTROLS, key_points([expected.seeds[2]])))
    assert known.area == pytest.approx(expected.masks[2].sum(), rel=0.03)
    free = np.argwhere(expected.masks[1] & (expected.masks.sum(axis=0) == 1) & (expected.nuclei == 0))
    place = free[len(free) // 2]
    (new,) = predict_image(path, CONTROLS, key_points([place]))["result"]
    assert Polygon(np.array(new["value"]["points"]) * (4.8, 3.2)).contains(
        Polygon([place[::-1] + d for d in np.eye(3, 2)])
    )
    assert len(predict_image(path, CONTROLS, key_points([expected.seeds[0], expected.seeds[1], place]))["result"]) == 3


def test_a_key_point_beside_all_cells_gives_nothing(picture):
    path, _ = picture
    background = np.argwhere(~declump.freeze(iio.imread(path)).clump)[0]
    assert predict_image(path, CONTROLS, key_points([background])) == {"result": [], "score": 0.0}
    assert predict_image(path, CONTROLS, {"result": []})["result"] == []


def test_an_interface_without_polygons_is_refused():
    with pytest.raises(ValueError, match="no PolygonLabels"):
        Controls.of({"choice": {"type": "Choices", "to_name": ["image"], "inputs": [{"value": "image"}]}})


@pytest.fixture(scope="module")
def interface():
    sdk = pytest.importorskip("label_studio_sdk.label_interface", reason=MISSING.format("label-studio-sdk"))
    return sdk.LabelInterface((FOLDER / "interface.xml").read_text())


def test_predictions_are_valid_for_the_interface(picture, interface):
    interface.validate()
    path, expected = picture
    for context in (None, key_points(expected.seeds[:2])):
        assert interface.validate_prediction(predict_image(path, CONTROLS, context), return_errors=True) == []


def test_the_backend_answers_as_label_studio_asks(picture, interface, monkeypatch):
    api = pytest.importorskip("label_studio_ml.api", reason=MISSING.format("label-studio-ml"))
    spec = spec_from_file_location("declump_backend", FOLDER / "model.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "declump_backend", module)
    spec.loader.exec_module(module)
    path, expected = picture
    monkeypatch.setattr(module.Declump, "get_local_path", lambda self, url: url)
    client = api.init_app(module.Declump).test_client()
    setup = {"project": "1.1", "schema": (FOLDER / "interface.xml").read_text()}
    assert client.post("/setup", json=setup).status_code == 200
    asked = {"tasks": [{"id": 7, "data": {"image": str(path)}}], "project": "1.1", "label_config": setup["schema"]}
    (whole,) = client.post("/predict", json=asked).get_json()["results"]
    assert len(whole["result"]) == len(expected)
    (one,) = client.post("/predict", json={**asked, "params": {"context": key_points(expected.seeds[1:2])}}).get_json()[
        "results"
    ]
    assert len(one["result"]) == 1
    assert interface.validate_prediction(one, return_errors=True) == []
