"""Networks of a fold: what they saw is told, and they are used on nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from declump.evolution.settings import SETTINGS
from declump_paper.research import Run, plan_folds, plan_models, store_images
from declump_paper.research.learning import FULL
from declump_paper.research.methods import ExperimentMethod
from declump_paper.research.results import collect_results
from declump_paper.research.work import Work
from support.annotated_smears import annotated

torch = pytest.importorskip("torch", reason="training needs torch")


@pytest.mark.slow
def test_networks_are_trained_on_the_training_part_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from declump.models import read_card
    from declump_paper.research import networks

    for name in ("RAY_SMEARS", "REGION_SMEARS", "CALIBRATION_SMEARS"):
        monkeypatch.setattr(networks, name, 1)
    images = store_images([annotated(0), annotated(1)], tmp_path / "images")
    methods = (ExperimentMethod("rays", "rays", SETTINGS["joint"], FULL, evidence="rays"),)
    run = Run(images, plan_folds(2, n_folds=2, regions="train"), methods, tmp_path / "out", steps=1)
    threads = torch.get_num_threads()
    work, plan = Work(images), run._plan_networks()
    try:
        for stage in (run._training_tasks, run._region_tasks, run._prior_tasks, run._segment_tasks):
            for task in stage(plan)[:1]:
                work(task)
    finally:
        torch.set_num_threads(threads)
    first = plan.folds[0]
    assert first.regions is not None and first.rays is not None
    unseen = [images.names[index] for index in first.test]
    assert [read_card(model)["held out"] for model in (first.regions, first.rays)] == [unseen, unseen]
    assert not list((tmp_path / "out" / "models").glob(".declump-*"))
    fair = plan_models(images.names, [first.regions], [first.rays])
    assert [fold.test for fold in fair.folds] == [first.test] and fair.folds[0].train == first.train
    # The first fold is done, and nothing of it is made again; the second is missing.
    from declump_paper.research.runs import _is_current

    for stage in (run._training_tasks, run._region_tasks, run._prior_tasks, run._segment_tasks):
        assert [_is_current(task) for task in stage(plan)] == [True, False]
    with pytest.raises(ValueError, match="rays on fold 2 is not done yet"):
        collect_results(run)


@pytest.mark.slow
def test_the_published_network_is_trained_alone_where_no_method_proposes_rays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from declump.models import read_card
    from declump_paper.research import networks

    monkeypatch.setattr(networks, "REGION_SMEARS", 1)
    images = store_images([annotated(0), annotated(1)], tmp_path / "images")
    methods = (ExperimentMethod("joint", "joint", SETTINGS["joint"], FULL),)
    plan = plan_folds(2, n_folds=2, regions="train")
    run, refined = (
        Run(images, plan, methods, tmp_path / "out", steps=1, architecture="paper", refined=way)
        for way in (False, True)
    )
    threads = torch.get_num_threads()
    trained = run._plan_networks()
    try:
        Work(images)(run._training_tasks(trained)[0])
        Work(images)(run._region_tasks(trained)[0])
    finally:
        torch.set_num_threads(threads)
    model = trained.folds[0].regions
    assert model is not None and read_card(model)["architecture"] == "paper"
    assert trained.folds[0].rays is None and [path.name for path in model.parent.iterdir()] == [model.name]
    # The refined run takes the same networks, but not the regions that they found.
    from declump_paper.research.runs import _is_current

    assert [_is_current(task) for task in refined._training_tasks(trained)] == [True, False]
    assert _is_current(run._region_tasks(trained)[0]) and not _is_current(refined._region_tasks(trained)[0])
