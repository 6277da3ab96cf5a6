"""A small image to rehearse on: what is loaded at first is then ready, and what is wrong is said early."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.records.regions import Regions

SHAPE = (64, 96)
CENTRES = ((32, 36), (32, 60))
CELL, NUCLEUS = 18, 5
"""Radii of the discs in pixels."""


def two_discs() -> tuple[NDArray[np.uint8], Regions]:
    """Give a small image (H, W, 3) of two overlapping cells, and its regions, each nucleus with a number."""
    rows, columns = np.indices(SHAPE)
    distances = [np.hypot(rows - row, columns - column) for row, column in CENTRES]
    nearest = np.minimum(*distances)
    image = np.full((*SHAPE, 3), 240, np.uint8)
    image[nearest < CELL] = 180
    image[nearest < NUCLEUS] = 60
    nuclei = np.where(distances[0] < NUCLEUS, 1, np.where(distances[1] < NUCLEUS, 2, 0))
    return image, Regions(nearest < CELL, nuclei.astype(np.int32))
