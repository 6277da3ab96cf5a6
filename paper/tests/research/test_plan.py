from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import declump
from declump_paper.research.plan import plan_folds, plan_models

MODELS = Path(__file__).resolve().parents[3] / "benchmarks" / "models"
SHIPPED = Path(declump.__file__).parent / "data" / "regions.onnx"
FRAMES = ["frame004", "frame007", "frame010", "frame011", "frame016"]


@pytest.mark.parametrize("way", ["paper", "conventional"])
def test_folds_of_both_ways(way: str) -> None:
    plan = plan_folds(11, way=way)
    assert [fold.number for fold in plan.folds] == [1, 2, 3, 4, 5]
    assert sorted(image for fold in plan.folds for image in fold.own) == list(range(11))
    for fold in plan.folds:
        assert sorted((*fold.train, *fold.test)) == list(range(11))
        assert (fold.train if way == "paper" else fold.test) == fold.own
    tested = [image for fold in plan.folds for image in fold.test]
    assert {tested.count(image) for image in range(11)} == ({4} if way == "paper" else {1})
    assert plan.matching == "order" and plan_folds(11, regions="train").matching == "greedy"


def test_images_that_show_the_same_stay_together() -> None:
    for fold in plan_folds(8, groups=[0, 1, 2, 3, 4, 5, 6, 5]).folds:
        assert (5 in fold.train) == (7 in fold.train)


def test_models_test_what_they_did_not_see() -> None:
    regions, rays = ([MODELS / f"{kind}-{fold}.onnx" for fold in "ab"] for kind in ("regions", "rays"))
    plan = plan_models(FRAMES, regions, rays)
    assert [fold.test for fold in plan.folds] == [(2, 4), (0, 3)]
    assert [fold.train for fold in plan.folds] == [(0, 1, 3), (1, 2, 4)]
    assert [(fold.regions, fold.rays) for fold in plan.folds] == list(zip(regions, rays, strict=True))
    assert plan.matching == "greedy"
    # The order of the ray models does not matter, each region model finds the one that fits.
    assert plan_models(FRAMES, regions, rays[::-1]) == plan


def test_a_judge_goes_with_the_region_model_that_holds_out_the_same_images() -> None:
    regions, judges = ([MODELS / f"{kind}-{fold}.onnx" for fold in "ab"] for kind in ("regions", "judge"))
    plan = plan_models(FRAMES, regions, [], judges=judges[::-1])
    assert [(fold.regions, fold.judge) for fold in plan.folds] == list(zip(regions, judges, strict=True))
    with pytest.raises(ValueError, match="needs a judge that holds out the same images"):
        plan_models(FRAMES, regions[:1], [], judges=judges[1:])
    with pytest.raises(ValueError, match="give region models, too"):
        plan_models(FRAMES, [], [MODELS / "rays-a.onnx"], judges=judges)


def test_with_ray_models_alone_regions_are_true() -> None:
    plan = plan_models(FRAMES, [], [MODELS / "rays-b.onnx"])
    assert plan.matching == "order"
    (fold,) = plan.folds
    assert (fold.test, fold.regions, fold.rays) == ((0, 3), None, MODELS / "rays-b.onnx")


def test_an_image_counts_as_seen_if_one_like_it_was() -> None:
    plan = plan_models(FRAMES, [MODELS / "regions-a.onnx"], [], groups=[0, 1, 0, 3, 4])
    assert [fold.test for fold in plan.folds] == [(4,)]


def test_models_that_cannot_be_used_fairly_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not tell which images it did not see"):
        plan_models(FRAMES, [SHIPPED], [])
    with pytest.raises(ValueError, match="needs a ray model that holds out the same images"):
        plan_models(FRAMES, [MODELS / "regions-a.onnx"], [MODELS / "rays-b.onnx"])
    a = {kind: MODELS / f"{kind}-a.onnx" for kind in ("regions", "rays", "judge")}
    with pytest.raises(ValueError, match="is not a region model"):
        plan_models(FRAMES, [a["rays"]], [])
    with pytest.raises(ValueError, match="is not a ray model"):
        plan_models(FRAMES, [a["regions"]], [a["judge"]])
    with pytest.raises(ValueError, match="is not a judge of nuclei"):
        plan_models(FRAMES, [a["regions"]], [], judges=[a["regions"]])
    with pytest.raises(ValueError, match="have seen every image"):
        plan_models(["frame007"], [MODELS / "regions-a.onnx"], [])
    with pytest.raises(FileNotFoundError, match="there is no model"):
        plan_models(FRAMES, [tmp_path / "none.onnx"], [])
    shutil.copy(__file__, tmp_path / "text.onnx")
    with pytest.raises(ValueError, match="is not a model that declump wrote"):
        plan_models(FRAMES, [tmp_path / "text.onnx"], [])
