"""Training, export and judging together, on a network too briefly taught to be of use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra 'train'")

from declump.datasets.marked import MarkedNuclei
from declump.models import model_path, read_card
from declump.regions import find_regions
from declump.training import Schedule, train_judge
from declump.training.judge.examples import JudgeExample, leave_unknown, tell_nuclei
from declump.training.judge.lesson import calibrate
from support.annotated_smears import annotated


def marked(number: int) -> MarkedNuclei:
    return MarkedNuclei.from_cells(annotated(number))


def test_a_judge_tells_what_it_was_made_from_and_runs(tmp_path: Path) -> None:
    path, cache = tmp_path / "judge.onnx", tmp_path / "spots"
    schedule = Schedule(2, 4, seed=1)
    how = {"held_out": ["smear1"], "simulated": 1, "pasted": 0, "cache": cache}
    curve = train_judge([[marked(0), marked(1)]], path, schedule, card={"data": "smears"}, **how)
    card = read_card(path)
    assert (card["data"], card["held out"], card["simulated smears"]) == ("smears", ["smear1"], 1)
    assert tuple(card["calibration"]) == (curve[-1].get("slope", 1.0), curve[-1].get("shift", 0.0))
    found = find_regions(
        annotated(0).image, model=model_path("default", "regions-8bit.onnx"), judge=path, min_nucleus=0.0
    )
    assert found.nucleus_probability is not None and (found.nucleus_probability >= 0).all()
    again = tmp_path / "again.onnx"
    train_judge([[marked(0), marked(1)]], again, schedule, card={"data": "smears"}, **how)
    assert again.read_bytes() == path.read_bytes()
    assert len(list(cache.iterdir())) == 3


def test_a_judge_learns_from_composites_and_pasted_debris(tmp_path: Path) -> None:
    path, cache = tmp_path / "judge.onnx", tmp_path / "spots"
    free = annotated(3, side=256, overlap=0, clumps=3, cells=3)
    train_judge([[free]], path, Schedule(1, 4), simulated=0, pasted=2, composites=2, cache=cache)
    assert read_card(path)["composites"] == 2
    assert sum("composite" in kept.name for kept in cache.iterdir()) == 2


def test_a_judge_learns_from_images_at_another_size(tmp_path: Path) -> None:
    path, cache = tmp_path / "judge.onnx", tmp_path / "spots"
    train_judge([[marked(0)]], path, Schedule(1, 4), simulated=0, pasted=0, also_at=[0.5], cache=cache)
    assert read_card(path)["also at"] == [0.5]
    whole, half = (JudgeExample.load(next(cache.glob(f"smear0{kind}-smear*")), "") for kind in ("", "-at-0.5"))
    assert half.planes.shape[1:] == tuple(side // 2 for side in whole.planes.shape[1:])
    assert half.marked == whole.marked > 0


def test_a_judge_learns_from_grey_images_in_colour(tmp_path: Path) -> None:
    path, cache = tmp_path / "judge.onnx", tmp_path / "spots"
    cells, nuclei = annotated(0, stain="grey"), MarkedNuclei.from_cells(annotated(1, stain="grey"))
    train_judge([[cells, nuclei]], path, Schedule(1, 4), simulated=0, pasted=0, coloured=True, cache=cache)
    assert read_card(path)["coloured"] is True
    for name in ("smear0", "smear1"):
        grey, colour = (JudgeExample.load(next(cache.glob(f"{name}{kind}-smear*")), "") for kind in ("", "-in-colour"))
        assert colour.planes.shape == grey.planes.shape and colour.marked == grey.marked > 0
        assert (colour.planes != grey.planes).any(), "the region network sees colour otherwise"


def test_an_image_to_hold_out_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="none of the folders"):
        train_judge([[marked(0)]], tmp_path / "judge.onnx", Schedule(1, 1), held_out=["moon"], simulated=0, pasted=0)


def test_spots_are_told_by_pixels_or_by_points_one_to_one() -> None:
    rows, columns = np.mgrid[:60, :120]
    spots, labels = np.zeros((2, 60, 120), np.int32)
    for number, column in enumerate((20, 60, 100), start=1):
        spots[np.hypot(rows - 30, columns - column) < 8] = number
    labels[np.hypot(rows - 31, columns - 21) < 8], labels[np.hypot(rows - 30, columns - 64) < 9] = 1, 2
    drawn = MarkedNuclei("drawn", np.zeros((60, 120), np.uint8), np.array([[31.0, 21.0], [30.0, 64.0]]), labels)
    pointed = MarkedNuclei("pointed", drawn.image, np.vstack([drawn.points, [[30.0, 66.0]]]))
    assert tell_nuclei(spots, drawn).tolist() == [True, True, False]
    assert tell_nuclei(spots, pointed).tolist() == [True, True, False]


def test_examples_come_back_as_they_were(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kept = JudgeExample("a", rng.integers(0, 9, (5, 4, 6)).astype(np.uint8), np.ones((4, 6), np.int32),
                        np.array([[1.5, 2.5]]), np.array([True]), 3)  # fmt: skip
    kept.save(tmp_path / "a.npz")
    back = JudgeExample.load(tmp_path / "a.npz", "a")
    assert (back.planes == kept.planes).all() and (back.places == kept.places).all() and back.marked == 3


def test_spots_where_nuclei_may_not_be_marked_teach_nothing() -> None:
    spots = np.zeros((4, 12), np.int32)
    for number, left in enumerate((0, 4, 8), start=1):
        spots[:3, left : left + 3] = number
    unknown = np.zeros(spots.shape, np.bool_)
    unknown[:, :8] = True
    left_over = leave_unknown(spots, np.array([True, False, False]), unknown)
    np.testing.assert_array_equal(left_over, np.where(spots == 2, 0, np.where(spots == 3, 2, spots)))


def test_calibration_finds_the_odds_that_made_the_truth() -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(0, 2, 20_000)
    truth = rng.random(scores.size) < 1 / (1 + np.exp(-(0.5 * scores + 1)))
    assert calibrate(scores, truth) == pytest.approx((0.5, 1.0), abs=0.06)
