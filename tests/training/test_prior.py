from __future__ import annotations

import numpy as np
import pytest

from declump.datasets import AnnotatedImage
from declump.records.clump import split_clumps
from declump.shapes import contours
from declump.shapes.contours import first_exits
from declump.shapes.examples import shape_examples
from declump.shapes.prior import ShapePrior
from declump.training.prior import learn_prior
from support.annotated_smears import annotated

RAYS = 48
LARGER = {"side": 260, "cells": 7, "overlap": 0.4, "clumps": None}


@pytest.fixture(scope="module")
def smears() -> list[AnnotatedImage]:
    return [annotated(number, **LARGER) for number in range(8)]


@pytest.fixture(scope="module")
def prior(smears) -> ShapePrior:
    return learn_prior(smears, rays=RAYS, card={"data": "simulated"})


def whole_shapes(smears: list[AnnotatedImage]) -> np.ndarray:
    return np.concatenate([shape_examples(image.cells, image.seeds, rays=RAYS).whole for image in smears])


def test_shapes_come_from_whole_cells_only(smears, prior):
    shapes = whole_shapes(smears)
    cells = sum(len(image.cells) for image in smears)
    assert 0 < len(shapes) < cells, "some of these cells are cut by a border, most are not"
    assert prior.rays == RAYS
    assert dict(prior.card) == {
        "data": "simulated",
        "cells": cells,
        "whole cells": len(shapes),
        "turned and mirrored copies": True,
    }
    assert prior.mean.mean() == pytest.approx(shapes.mean(), rel=1e-12)
    np.testing.assert_allclose(prior.mean, shapes.mean(), rtol=0.02)


def test_without_copies_the_prior_is_that_of_the_shapes_as_they_lie(smears):
    learnt = learn_prior(smears[:3], rays=RAYS, copies=False, reach=False, modes=4)
    expected = ShapePrior.fit(whole_shapes(smears[:3]), modes=4)
    np.testing.assert_allclose(learnt.mean, expected.mean)
    np.testing.assert_allclose(learnt.variances, expected.variances)
    assert learnt.reach is None
    assert learnt.card["turned and mirrored copies"] is False


def test_shapes_of_new_cells_are_hypotheses(prior):
    shapes = whole_shapes([annotated(number, **LARGER) for number in (100, 101)])
    nearest = prior.instance(prior.project(shapes))
    assert np.sqrt(np.mean((nearest - shapes) ** 2)) < 0.06 * prior.mean.mean()


def test_the_reach_foretells_new_cells_better_than_the_mean_shape(prior):
    by_reach, by_mean = [], []
    for number in (200, 201, 202):
        image = annotated(number, **LARGER)
        examples = shape_examples(image.cells, image.seeds, rays=RAYS)
        for clump in split_clumps(image.clump, image.seeds):
            exits = np.stack([first_exits(clump.mask, seed, RAYS) for seed in clump.seeds])
            expected = prior.reach.expected(exits, clump.seeds, float(prior.mean.mean()))
            whole = ~examples.cut[clump.cells]
            truth = examples.radii[clump.cells][whole]
            by_reach.append((expected[whole] - truth).ravel())
            by_mean.append((prior.mean - truth).ravel())
    error_of_reach, error_of_mean = (np.sqrt(np.mean(np.concatenate(part) ** 2)) for part in (by_reach, by_mean))
    assert error_of_reach < 0.85 * error_of_mean
    assert 0.4 < prior.reach.spread * prior.mean.mean() / error_of_reach < 1.2


def test_a_learnt_prior_survives_its_file(prior, tmp_path):
    prior.save(tmp_path / "prior.npz")
    read = ShapePrior.load(tmp_path / "prior.npz")
    np.testing.assert_array_equal(read.modes, prior.modes)
    np.testing.assert_array_equal(read.reach.weights, prior.reach.weights)


def test_images_are_read_once_and_told_of(smears):
    names: list[str] = []
    learnt = learn_prior(iter(smears[:2]), rays=RAYS, progress=names.append)
    assert names == ["smear0", "smear1"]
    assert learnt.reach is not None


def test_without_a_whole_cell_there_is_nothing_to_learn():
    cells = np.ones((1, 30, 30), dtype=bool)
    cut = AnnotatedImage(
        "cut", np.zeros((30, 30), dtype=np.uint8), cells, np.zeros((30, 30), dtype=np.int32), np.array([[15.0, 15.0]])
    )
    with pytest.raises(ValueError, match="no whole cell"):
        learn_prior([cut], rays=RAYS)
    with pytest.raises(ValueError, match="no whole cell"):
        learn_prior([], rays=RAYS)


def test_a_single_whole_cell_is_learnt_from_its_copies():
    cells = contours.to_mask((20, 22), 10 + 2 * np.cos(2 * np.pi * np.arange(RAYS) / RAYS), (40, 44))[None]
    image = AnnotatedImage(
        "one", np.zeros((40, 44), dtype=np.uint8), cells, np.zeros((40, 44), dtype=np.int32), np.array([[20.0, 22.0]])
    )
    learnt = learn_prior([image], rays=RAYS)
    np.testing.assert_allclose(learnt.mean, 10, atol=0.4)
    assert learnt.variances.size >= 1
