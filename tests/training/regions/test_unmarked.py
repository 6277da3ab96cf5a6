"""What a network says of an image however it is looked at."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra 'train'")

from declump.regions.inference import open_region_model
from declump.regions.judge import open_judge
from declump.training.regions.targets import IGNORED, make_example
from declump.training.regions.unmarked import make_stable_example
from support.annotated_smears import annotated


def test_what_is_taught_is_nearly_always_true() -> None:
    image = annotated(2, side=256, cells=4, radius=48, overlap=0.2)
    taught = make_stable_example(image.image, open_region_model("default"), open_judge("default"))
    true = make_example(image)
    known = (taught.classes != IGNORED) & (true.classes != IGNORED)
    assert known.mean() > 0.6 and (taught.classes[known] == true.classes[known]).mean() > 0.97
    sure = taught.layers != IGNORED
    assert (taught.layers[sure] == true.layers[sure]).mean() > 0.85
    assert (taught.centre_map > 0.9).any()


def test_noise_teaches_no_nuclei() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (96, 112)).astype(np.uint8)
    taught = make_stable_example(noise, open_region_model("default"), open_judge("default"))
    assert (taught.classes == 2).mean() < 0.02
