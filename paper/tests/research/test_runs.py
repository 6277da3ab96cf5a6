"""A run made, interrupted, changed and taken up again; and what its parts are."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import declump
from declump.datasets import AnnotatedImage
from declump.evaluation import pool, score
from declump.evolution.settings import SETTINGS
from declump.records.regions import Regions
from declump.shapes.prior import ShapePrior
from declump_paper.compared import METHODS
from declump_paper.research import Run, choose_methods, plan_folds, store_images
from declump_paper.research.examples import choose_clumps, draw_comparison
from declump_paper.research.images import Images, true_regions
from declump_paper.research.learning import Learning
from declump_paper.research.methods import ExperimentMethod, available_methods, complete_nuclei
from declump_paper.research.plan import Fold, Plan
from declump_paper.research.results import collect_results
from declump_paper.research.studies import choose_studies
from declump_paper.research.work import Work, _read_regions
from support.annotated_smears import annotated

MODELS = Path(__file__).resolve().parents[3] / "benchmarks" / "models"
SHAPE = Learning(rays=72)
QUICK = ExperimentMethod("quick", "quick", replace(SETTINGS["joint"], steps=6), SHAPE)
WHOLE = replace(QUICK, name="whole", title="whole", learning=replace(SHAPE, copies=True, reach=True))


@pytest.fixture(scope="module")
def known() -> list[AnnotatedImage]:
    return [annotated(number) for number in range(4)]


@pytest.fixture(scope="module")
def images(known: list[AnnotatedImage], tmp_path_factory: pytest.TempPathFactory) -> Images:
    return store_images(known, tmp_path_factory.mktemp("images"))


def hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*.npz"))
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def do(run: Run) -> list[str]:
    """Make what is missing in this process, and tell what that was."""
    made, work = [], Work(run.images)
    plan = run._plan_networks()
    for stage in (run._prior_tasks, run._segment_tasks):
        for task in stage(plan):
            if not _current(task):
                work(task)
                made.append(task.label)
    return made


def _current(task) -> bool:
    from declump_paper.research.runs import _is_current

    return _is_current(task)


@pytest.fixture(scope="module")
def run(images: Images, tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = Run(images, plan_folds(4, n_folds=2), (QUICK, WHOLE), tmp_path_factory.mktemp("run"))
    progress: list[tuple[int, int]] = []
    made.execute(jobs=2, progress=lambda *now: progress.append(now))
    assert progress[0] == (0, 8) and progress[-1] == (8, 8)
    return made


def test_images_come_back_as_they_were(images: Images, known: list[AnnotatedImage]) -> None:
    assert images.names == tuple(image.name for image in known) and len(set(images.digests)) == 4
    assert images.cells == tuple(len(image.cells) for image in known)
    assert [sum(clumps) for clumps in images.clump_cells] == list(images.cells)
    for index, image in enumerate(known):
        back = images.load(index)
        for name in ("image", "cells", "nucleus_labels", "seeds"):
            np.testing.assert_array_equal(getattr(back, name), getattr(image, name))
        np.testing.assert_array_equal(images.degrees(index), declump.evaluation.overlap_degree(image.cells))


def test_two_images_of_one_name_are_refused(known: list[AnnotatedImage], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two images are called 'smear0'"):
        store_images([known[0], known[0]], tmp_path)
    with pytest.raises(ValueError, match="no annotated cell"):
        store_images([], tmp_path)


def test_regions_come_back_as_a_judge_left_them(images: Images, known: list[AnnotatedImage], tmp_path: Path) -> None:
    fold = Fold(1, (1, 2, 3), (0,), (0,), MODELS / "regions-a.onnx", judge=MODELS / "judge-a.onnx")
    run = Run(images, Plan((fold,), "by hand", "models"), (QUICK,), tmp_path)
    (task,) = run._region_tasks(run.plan)
    Work(images)(task)
    found = declump.find_regions(known[0].image, model=fold.regions, judge=fold.judge)
    back = _read_regions(task.path)[0]
    assert found.nucleus_probability is not None and found.nucleus_probability.size
    for name in ("clump", "nuclei", "candidates", "nucleus_probability", "candidate_probability", "diameter"):
        np.testing.assert_array_equal(getattr(back, name), getattr(found, name))
    by_rules = replace(run, plan=replace(run.plan, folds=(replace(fold, judge=None),)))
    assert by_rules._region_tasks(by_rules.plan)[0].fingerprint != task.fingerprint


def test_every_cell_has_a_nucleus_in_true_regions(known: list[AnnotatedImage]) -> None:
    image = known[0]
    bare = replace(image, nucleus_labels=np.zeros_like(image.nucleus_labels))
    regions = true_regions(bare)
    np.testing.assert_array_equal(regions.seeds, np.floor(image.seeds + 0.5))
    twins = replace(bare, cells=image.cells[[0, 0]], seeds=image.seeds[[0, 0]])
    first, second = true_regions(twins).seeds
    assert np.abs(first - second).sum() == 1


def test_results_are_what_the_methods_give(run: Run, known: list[AnnotatedImage]) -> None:
    results = collect_results(run)
    assert [(fold, one.image) for fold, one in results.tested["whole"]] == [
        (fold.number, image) for fold in run.plan.folds for image in fold.test
    ]
    fold = run.plan.folds[0]
    prior = declump.learn_prior([known[index] for index in fold.train], rays=72)
    expected = []
    for index in fold.test:
        regions = true_regions(known[index])
        found = declump.evolve(regions.clump, regions.seeds, prior=prior, setting=WHOLE.settings)
        expected.append(score(known[index].cells, found.masks, matching="order"))
    mine = [one.score for number, one in results.tested["whole"] if number == 1]
    np.testing.assert_array_equal(pool(mine).dice, pool(expected).dice)
    assert pool(mine).figures() == pool(expected).figures()
    assert results.facts["whole"][0]["modes"] == prior.variances.size


def test_the_bytes_do_not_depend_on_processes_nor_on_interruptions(run: Run, tmp_path: Path) -> None:
    again = replace(run, out=tmp_path)
    assert len(do(again)) == 8
    assert hashes(tmp_path) == hashes(run.out)
    (tmp_path / "parts" / "fold2" / "quick.npz").write_bytes(b"half")
    (tmp_path / "priors" / "fold1-k72.npz").unlink()
    (tmp_path / "parts" / "fold1" / "whole.seconds.json").unlink()
    assert sorted(do(again)) == ["prior k72 of fold 1", "quick on fold 2", "whole on fold 1"]
    assert hashes(tmp_path) == hashes(run.out)
    assert do(again) == []


def test_what_is_stale_is_made_again(run: Run, tmp_path: Path, known: list[AnnotatedImage]) -> None:
    mine = replace(run, out=tmp_path)
    do(mine)
    other = replace(QUICK, settings=replace(SETTINGS["joint"], steps=2))
    assert do(replace(mine, methods=(other, WHOLE))) == ["quick on fold 1", "quick on fold 2"]
    longer = replace(QUICK, learning=replace(SHAPE, modes=3))
    assert len(do(replace(mine, methods=(longer,)))) == 4
    brighter = [*known[:3], replace(known[3], image=known[3].image // 2)]
    changed = replace(mine, images=store_images(brighter, tmp_path / "images"))
    again = do(changed)  # all parts of folds with that image, and the priors learnt from it
    assert sum(label.startswith("prior") for label in again) == 2 and len(again) == 6


def test_what_learns_nothing_is_run_on_each_image_once(images: Images, tmp_path: Path) -> None:
    method = next(one for one in available_methods(rays=False) if one.name == "star")
    run = Run(images, plan_folds(4, n_folds=2), (method,), tmp_path)
    do(run)
    parts = run.fold_results()
    assert sorted(one.image for part in parts.values() for one in part.tested) == [0, 1, 2, 3]
    results = collect_results(run)
    assert [one.image for _, one in results.tested["star"]] == [i for fold in run.plan.folds for i in fold.test]


def test_an_image_that_fails_counts_as_missed(images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def segment(self, image, regions, prior, **how):
        calls.append(1)
        if len(calls) == 2:  # the first is the rehearsal
            raise ValueError("this image is too hard")
        return declump.evolve(regions.clump, regions.seeds, prior=prior, setting=self.settings)

    monkeypatch.setattr(ExperimentMethod, "segment", segment)
    run = Run(images, plan_folds(4, n_folds=2), (QUICK,), tmp_path)
    do(run)
    part = run.fold_results()[1, "quick"]
    name = images.names[part.tested[0].image]
    assert part.facts["failed"] == {name: "this image is too hard"}
    assert part.tested[0].score.dice_all == 0 and part.tested[1].score.dice_all > 0.5
    from declump_paper.research.tables import failures

    assert failures(collect_results(run)) == [
        f"quick failed on 1 images, which count as missed; on {name}: this image is too hard"
    ]


def test_a_process_that_is_told_to_end_takes_no_image_for_failed(
    images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def segment(self, image, regions, prior, **how):
        calls.append(1)
        if len(calls) == 2:  # as a signal that hits a compiled kernel is told of
            raise SystemError("returned a result with an exception set") from SystemExit(143)
        return declump.evolve(regions.clump, regions.seeds, prior=prior, setting=self.settings)

    monkeypatch.setattr(ExperimentMethod, "segment", segment)
    run = Run(images, plan_folds(4, n_folds=2), (QUICK,), tmp_path)
    with pytest.raises(SystemExit):
        do(run)
    assert not list((tmp_path / "parts").rglob("*.npz"))


def test_a_method_that_always_fails_ends_the_run(images: Images, tmp_path: Path) -> None:
    lacking = ExperimentMethod("lacking", "lacking", SETTINGS["joint"], SHAPE, evidence="rays")
    with pytest.raises(ValueError, match=r"lacking on fold 1: lacking failed on every image.*needs a ray model"):
        Run(images, plan_folds(4, n_folds=2), (lacking,), tmp_path).execute(jobs=1)


def test_the_picture_shows_the_clumps_with_most_overlap(run: Run) -> None:
    chosen = choose_clumps(run.images, {0, 1, 2, 3})
    assert len({image for image, _ in chosen}) == len(chosen) > 0
    for image, (top, left, bottom, right) in chosen:
        assert 0 <= top < bottom <= 170 and 0 <= left < right <= 170 and image in range(4)
    picture = draw_comparison(run.images, collect_results(run))
    assert picture is not None and picture.shape[2] == 3 and len(np.unique(picture)) > 10


def test_studies_are_methods() -> None:
    by_k, by_e = choose_studies(["E", "K"])
    assert by_k.values == (90, 180, 360, 720, 1080)
    assert [method.learning.rays for method in by_k.lines["declump"] if method.learning] == [90, 180, 360, 720, 1080]
    assert [method.settings.explained for method in by_e.methods if method.settings][:4] == [0.0, 0.01, 0.02, 0.05]
    assert len({method.name for method in (*by_k.methods, *by_e.methods)}) == 22
    (alone,) = choose_studies(["K:paper"])
    assert [method.name for method in alone.methods] == [
        "paper-K90", "paper-K180", "paper-K360", "paper-K720", "paper-K1080"
    ]  # fmt: skip
    assert choose_studies(["K:paper", "K"]) == choose_studies(["K"])
    with pytest.raises(ValueError, match="there is no study 'x'"):
        choose_studies(["x"])
    with pytest.raises(ValueError, match="'each' is not studied; the settings are joint, paper"):
        choose_studies(["K:each"])


def test_more_modes_than_there_are_become_all(known: list[AnnotatedImage]) -> None:
    learnt = Learning(rays=72, modes=500).learn(known[:1])
    assert learnt.variances.size == learnt.card["whole cells"] - 1
    assert Learning(rays=72, modes=2).learn(known[:1]).variances.size == 2


def test_ablations_are_settings_of_the_same_pipeline() -> None:
    by_name = {method.name: method for method in choose_methods(None, rays=True)}
    paper, finite = SETTINGS["paper"], by_name["F"]
    assert by_name["L"].settings == by_name["paper"].settings == paper
    assert by_name["L"].learning == replace(by_name["paper"].learning, importance="off")
    assert finite.settings == paper and finite.solver == "examples" and finite.learning.with_examples
    assert by_name["M"].settings == paper and by_name["M"].solver == "level sets"
    assert {"joint", "rays", *METHODS} <= set(by_name)
    with pytest.raises(ValueError, match=r"no method 'rays' \(it needs ray models\)"):
        choose_methods(["rays"], rays=False)
    with pytest.raises(ValueError, match="no method 'G'"):
        choose_methods(["joint", "G"], rays=False)


def test_importance_is_learnt_where_it_is_asked_for(known: list[AnnotatedImage]) -> None:
    with_importance = Learning(rays=72, importance="image").learn(known[:2])
    assert "importance" in with_importance.card and "importance" not in SHAPE.learn(known[:2]).card


def test_records_can_be_written(run: Run) -> None:
    for method in available_methods(rays=True):
        json.dumps(method.record())
    assert isinstance(ShapePrior.load(run.priors()[1, "quick"]), ShapePrior)


def test_all_methods_get_the_same_nuclei_unless_these_are_completed_for_all() -> None:
    names = {method.name: method for method in available_methods(rays=True, found=True)}
    assert {"rays", "rays+", "cf", "cf+", "joint+", "paper+"} <= set(names) and "F+" not in names
    assert not names["rays"].completed and names["rays+"].completed and not names["rays+"].borrows_nuclei
    assert names["cf+"].borrows_nuclei and names["cf+"].printed is None
    assert names["cf"].record() != names["cf+"].record()
    assert not any(method.completed for method in available_methods(rays=True))
    with pytest.raises(ValueError, match="nuclei are completed where they are found"):
        choose_methods(["cf+"], rays=True)


def test_completed_nuclei_are_those_that_segment_ends_with(known: list[AnnotatedImage]) -> None:
    image = known[0]
    whole = true_regions(image)
    lacking = Regions(whole.clump, np.where(whole.nuclei == 1, 0, whole.nuclei))
    model = Path(str(declump.__path__[0])) / "data" / "rays.onnx"
    prior = ShapePrior.load("default")
    ended = declump.segment(image.image, regions=lacking, evidence="rays", rays=model, prior=prior)
    completed = complete_nuclei(image.image, lacking, model, prior)
    assert completed.nuclei.max() == len(ended) >= lacking.nuclei.max()
    np.testing.assert_array_equal(completed.nuclei[lacking.nuclei > 0] > 0, True)
    np.testing.assert_allclose(
        completed.seeds[int(lacking.nuclei.max()) :], ended.seeds[int(lacking.nuclei.max()) :], atol=2
    )
