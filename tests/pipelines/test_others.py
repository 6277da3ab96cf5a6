from __future__ import annotations

import numpy as np

from declump.pipelines.others import describe_others
from declump.records.spots import Spots


def test_dark_spots_are_leukocytes_and_faint_ones_are_not() -> None:
    boxes = np.array([[5, 35, 15, 45], [5, 5, 15, 15]])
    spots = Spots(boxes, [np.ones((10, 10), bool)] * 2, np.array([0.2, 0.1]), np.array([0.2, 0.7]))
    found = describe_others(spots).sort()
    assert found.kinds == ("leukocyte", "other")
    assert found.areas.tolist() == [100, 100] and found.places.tolist() == [[9.5, 9.5], [9.5, 39.5]]
    assert found.probability.tolist() == [0.1, 0.2]
    assert describe_others(spots, ("leukocyte", "")).kinds == ("leukocyte", "leukocyte")
