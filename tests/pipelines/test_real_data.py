"""What the core reaches on real cells, with a margin: a guard against losing accuracy unseen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import declump
from declump.datasets import isbi2014, isbi2015

pytestmark = pytest.mark.data


def test_held_out_cells_of_isbi2015(isbi2015_folder: Path) -> None:
    images = {image.name: image for image in isbi2015.read(isbi2015_folder)}
    prior = declump.learn_prior([images["frame004"], images["frame007"]])
    image = images["frame011"]
    result = declump.evolve(image.clump, image.seeds, prior=prior)
    score = declump.score(image.cells, result.masks, matching="order")
    assert score.dice_overlapping > 0.83
    assert np.mean(result.energy / [record.size for record in result.clumps]) < 0.05


def test_joint_is_ahead_of_the_literal_reading_on_isbi2014(isbi2014_folder: Path) -> None:
    images = list(isbi2014.read(isbi2014_folder))
    prior = declump.learn_prior(images[:9])
    scores = {"joint": [], "paper": []}
    for image in images[9:15]:
        for setting, dice in scores.items():
            result = declump.evolve(image.clump, image.seeds, prior=prior, setting=setting)
            dice.extend(declump.score(image.cells, result.masks, matching="order").dice)
    assert np.mean(scores["joint"]) > 0.88
    assert np.mean(scores["joint"]) > np.mean(scores["paper"]) + 0.05
