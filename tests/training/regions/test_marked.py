"""Answers that marked nuclei and a teacher give together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra 'train'")

from declump.datasets.marked import MarkedNuclei
from declump.training.regions.marked import Teacher
from declump.training.regions.targets import IGNORED, make_example
from support.annotated_smears import annotated


@pytest.fixture(scope="module")
def smear() -> MarkedNuclei:
    return MarkedNuclei.from_cells(annotated(2, side=256, cells=4, radius=48, overlap=0.2))


def test_marked_nuclei_are_nuclei_and_the_teacher_tells_the_rest(smear: MarkedNuclei) -> None:
    example = Teacher().make_example(smear)
    true = make_example(annotated(2, side=256, cells=4, radius=48, overlap=0.2))
    assert smear.labels is not None
    np.testing.assert_array_equal(example.classes == 2, smear.labels > 0)
    known = (example.classes != IGNORED) & (true.classes != IGNORED)
    assert known.mean() > 0.7 and (example.classes[known] == true.classes[known]).mean() > 0.97
    sure = example.layers != IGNORED
    assert (example.layers[sure] == true.layers[sure]).mean() > 0.85


def test_a_spot_without_a_mark_is_no_nucleus(smear: MarkedNuclei) -> None:
    first = MarkedNuclei(smear.name, smear.image, smear.points[:1])
    example = Teacher().make_example(first)
    assert smear.labels is not None
    for number in range(2, len(smear.points) + 1):
        own = example.classes[smear.labels == number]
        assert (own == 1).mean() > 0.8 and not (own == 2).any()
    inner = example.classes[smear.labels == 1]
    assert (inner == 2).mean() > 0.8
    assert example.centre_map[smear.labels == 1].max() > 0.9 > 0.1 > example.centre_map[smear.labels == 2].max()


def test_a_point_that_the_teacher_does_not_see_is_taught_all_the_same(smear: MarkedNuclei) -> None:
    assert smear.labels is not None
    empty = np.argwhere(np.pad(np.zeros((156, 156), bool), 50) | (smear.labels == 0))
    place = empty[np.hypot(*(empty[:, None] - smear.points[None]).transpose(2, 0, 1)).min(axis=1).argmax()]
    place = np.clip(place, 40, 215)
    example = Teacher().make_example(MarkedNuclei("faint", smear.image, place[None].astype(float)))
    assert example.classes[tuple(place)] == 2 and example.centre_map[tuple(place)] > 0.9
    assert (example.classes == 2).sum() < 150 and (example.classes == IGNORED).any()


def test_a_start_that_is_no_model_leaves_the_shipped_teacher() -> None:
    assert Teacher(Path("training.zip")).start == "default" and Teacher().start == "default"
    assert Teacher(Path("a.onnx")).start == Path("a.onnx")
