from __future__ import annotations

import numpy as np

from declump.records.boxes import Box
from declump.records.spots import Spots


def some() -> Spots:
    masks = [np.array([[0, 1], [1, 1]], bool), np.ones((1, 3), bool), np.ones((2, 1), bool)]
    boxes = np.array([[5, 5, 7, 7], [2, 9, 3, 12], [5, 1, 7, 2]])
    return Spots(boxes, masks, np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.5, 1.0]))


def test_spots_are_sorted_by_their_first_pixels_and_read_back() -> None:
    spots = some().sort()
    assert spots.first_pixels.tolist() == [[2, 9], [5, 1], [5, 6]] and spots.probability.tolist() == [0.2, 0.3, 0.1]
    again = Spots.from_arrays(spots.to_arrays())
    assert all((one == two).all() for one, two in zip(again.masks, spots.masks, strict=True))
    assert len(Spots.from_arrays(Spots.join([]).to_arrays())) == 0


def test_parts_join_into_what_they_were_parts_of() -> None:
    spots = some()
    joined = Spots.join([spots.choose(np.array([2])), spots.choose(np.array([0, 1]))])
    assert joined.boxes.tolist() == spots.sort().boxes.tolist()


def test_those_near_a_box_are_found() -> None:
    assert some().meet(Box(0, 0, 6, 6)).tolist() == [0, 2]
