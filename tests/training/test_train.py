"""Models from annotated images, as the command line and the experiments have them made; too brief to be of use."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs the extra 'train'")

from declump.models import read_card
from declump.regions import find_regions
from declump.training import Schedule, train_ray_model, train_region_model
from declump.training.rays.train import _find_calibration
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


def test_what_no_trained_network_shows_calibrates_nothing() -> None:
    assert _find_calibration([{"doubt_factor": 0.4, "doubt_power": 1.7}]) == (0.4, 1.7)
    assert _find_calibration([{"doubt_factor": 0.4, "doubt_power": 9.0}]) is None
    assert _find_calibration([{"loss": 3.0}]) is None
