from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from declump.shapes.named import NAMES, find_shipped
from declump.shapes.prior import ShapePrior
from declump.shapes.round import describe_round_shapes


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_a_prior(name):
    assert ShapePrior.load(name).rays == 360


def test_what_the_names_stand_for(tmp_path):
    made = ShapePrior.load("round")
    assert made.card["made from"] == "ellipses" and made.reach is None
    np.testing.assert_array_equal(made.modes, describe_round_shapes().modes)
    np.testing.assert_array_equal(ShapePrior.load("cytoplasm").mean, ShapePrior.load("default").mean)
    paper = ShapePrior.load("paper")
    assert paper.card["turned and mirrored copies"] is False and paper.reach is None
    assert paper.card["whole cells"] == ShapePrior.load("default").card["whole cells"] == 520
    nucleus = ShapePrior.load("nucleus")
    assert nucleus.card["cells"] == 590 and nucleus.reach is None
    assert nucleus.variances.size == 20 and 5 < nucleus.mean.mean() < 20
    with pytest.raises(FileNotFoundError, match="'cytoplasm', 'paper', 'nucleus', 'round'"):
        ShapePrior.load(tmp_path / "none.npz")


def test_a_file_is_found_by_a_name_alone():
    assert find_shipped("nucleus").is_file()
    assert find_shipped("round") is None
    assert find_shipped(str(Path("data") / "nucleus")) is None
