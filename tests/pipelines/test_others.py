from __future__ import annotations

import numpy as np

from declump.pipelines.others import collect_others
from declump.records.regions import Regions


def test_dark_spots_are_leukocytes_and_faint_ones_are_not() -> None:
    candidates, luminance = np.zeros((40, 60), np.int32), np.ones((40, 60), np.float32)
    candidates[5:15, 5:15], luminance[5:15, 5:15] = 1, 0.3
    candidates[5:15, 35:45], luminance[5:15, 35:45] = 2, 0.8
    regions = Regions(
        np.ones((40, 60), bool),
        np.zeros((40, 60), np.int32),
        candidates=candidates,
        nucleus_probability=np.empty(0),
        candidate_probability=np.array([0.1, 0.2]),
    )
    found = collect_others(regions, luminance)
    assert found is not None and found.kinds == ("leukocyte", "other")
    assert found.areas.tolist() == [100, 100] and found.places.tolist() == [[9.5, 9.5], [9.5, 39.5]]
    assert found.probability.tolist() == [0.1, 0.2]


def test_without_a_judge_nothing_is_said() -> None:
    regions = Regions(np.ones((4, 6), bool), np.zeros((4, 6), np.int32))
    assert collect_others(regions, np.ones((4, 6), np.float32)) is None
