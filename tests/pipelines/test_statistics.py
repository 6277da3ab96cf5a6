from __future__ import annotations

import numpy as np
import pytest

import declump
from declump import simulate


def test_statistics_are_those_that_a_segmentation_takes() -> None:
    smear = simulate.smear((300, 320), cells=6, overlap=0.5, debris=0, rng=16)
    found = declump.find_statistics(smear.image, pixel_size=0.3)
    assert found.diameter == 22.0 and found.turned is None and found.pixel_size == 0.3
    truth = np.median(smear.cells.sum(axis=(1, 2)))
    # Cells that the image border cuts are smaller in truth than their whole outlines.
    assert found.cell_area == pytest.approx(truth, rel=0.15) and 0.5 < found.scale < 1.5


def test_an_image_without_cells_has_the_usual_ones() -> None:
    found = declump.find_statistics(np.full((64, 80), 200, np.uint8))
    assert found.background == 200 and found.nucleus_area == pytest.approx(np.pi * 11**2, rel=0.1)
