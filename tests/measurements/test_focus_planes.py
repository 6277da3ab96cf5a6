"""The plane of a focus stack in which each cell is sharp."""

from __future__ import annotations

import numpy as np
import pytest

from declump import Segmentation, measure

TWO = Segmentation((60, 100), np.array([[30.0, 30.0], [30.0, 55.0]]), np.full((2, 90), 20.0), np.zeros(2, np.int64))


def test_a_cell_has_the_plane_of_its_own_pixels() -> None:
    planes = np.zeros((60, 100), np.int32)
    planes[:, :43] = 3
    planes[:, 43:] = 7
    assert measure(TWO, planes=planes).cells["focus_plane"].tolist() == [4, 8]


def test_without_a_stack_it_is_not_known() -> None:
    assert np.isnan(measure(TWO).cells["focus_plane"]).all()


def test_planes_of_another_image_are_refused() -> None:
    with pytest.raises(ValueError, match="the planes are"):
        measure(TWO, planes=np.zeros((5, 5), np.int32))
