"""Models from annotated images, as the command line and the experiments have them made; too brief to be of use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra 'train'")

from declump.models import model_path, open_model, read_card
from declump.regions import find_regions
from declump.regions.channels import to_channels
from declump.training import Schedule, train_ray_model, train_region_model
from declump.training.rays.train import _find_calibration
from declump.training.regions.targets import IGNORED, make_example
from support.annotated_smears import annotated


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "deep" / "regions.onnx"
    curve = train_region_model(
        [[annotated(0), annotated(1)]],
        path,
        Schedule(1, 1, seed=3),
        held_out=[annotated(1).name],
        simulated=0,
        card={"data": "smears"},
    )
    assert "cytoplasm_dice" in curve[-1]
    return path


def test_a_region_model_tells_what_it_was_made_from(regions: Path) -> None:
    card = read_card(regions)
    assert (card["data"], card["held out"], card["simulated smears"]) == ("smears", [annotated(1).name], 0)
    assert (card["steps"], card["windows a batch"], card["seed"], card["began with"]) == (1, 1, 3, None)
    assert [point["step"] for point in card["curve"]] == [1]
    assert find_regions(annotated(0).image, model=regions).clump.shape == annotated(0).clump.shape


def test_a_ray_model_is_calibrated_on_what_teaches_nothing(regions: Path, tmp_path: Path) -> None:
    path = tmp_path / "rays.onnx"
    curve = train_ray_model(
        [[annotated(0)]], path, Schedule(1, 1), regions=[regions], validation=[annotated(1)], simulated=0
    )
    card = read_card(path)
    assert card["regions"] == ["regions.onnx"] and card["held out"] == []
    assert tuple(card["calibration"]) == (_find_calibration(curve) or (1.0, 1.0))
    again = tmp_path / "given.onnx"
    train_ray_model([[annotated(0)]], again, Schedule(1, 1), regions=[regions], simulated=0, calibration=(2.0, 1.5))
    assert read_card(again)["calibration"] == [2.0, 1.5]


def test_a_ray_model_that_is_taught_further_keeps_its_calibration(regions: Path, tmp_path: Path) -> None:
    """Without images to be measured on there is no other: as it is, its standard deviation would be too large."""
    start = model_path("default", "rays.onnx")
    path = tmp_path / "further.onnx"
    train_ray_model([[annotated(0)]], path, Schedule(1, 1, start=start), regions=[regions], simulated=0)
    assert read_card(path)["calibration"] == read_card(start)["calibration"] != [1.0, 1.0]


def test_a_network_that_learns_nothing_more_answers_as_before(tmp_path: Path) -> None:
    """Its normalisations keep the statistics that it has: those of a few windows would change every answer."""
    start, path = model_path("default", "regions.onnx"), tmp_path / "further.onnx"
    train_region_model([[annotated(0)]], path, Schedule(3, 2, start=start, rate=1e-12), simulated=0)
    assert read_card(path)["rate"] == 1e-12
    image = to_channels(annotated(0).image)[:, :64, :80]
    before, after = (open_model(model, "region model").run(image) for model in (start, path))
    np.testing.assert_allclose(after, before, atol=2e-3)


def test_what_is_not_known_is_not_taught() -> None:
    image = annotated(0)
    unknown = np.zeros(image.clump.shape, np.bool_)
    unknown[:, 100:140] = True
    example = make_example(replace(image, unknown=unknown))
    assert (example.classes[unknown] == IGNORED).all() and (example.layers[unknown] == IGNORED).all()
    np.testing.assert_array_equal(example.layers[~unknown], make_example(image).layers[~unknown])


def test_what_no_trained_network_shows_calibrates_nothing() -> None:
    assert _find_calibration([{"doubt_factor": 0.4, "doubt_power": 1.7}]) == (0.4, 1.7)
    assert _find_calibration([{"doubt_factor": 0.4, "doubt_power": 9.0}]) is None
    assert _find_calibration([{"loss": 3.0}]) is None
