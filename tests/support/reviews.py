"""Simulated smears to review, settled once: finding regions takes most of the time of a test."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.batch import Options
from declump.records.regions import Regions
from declump.review import settle_image
from declump.simulate import smear


@lru_cache(maxsize=2)
def settled_smear(cells: int = 9, seed: int = 5) -> tuple[NDArray[Any], Regions]:
    """A small smear of a few clumps, and its settled regions."""
    image = smear((260, 340), cells=cells, overlap=0.5, rng=np.random.default_rng(seed)).image
    return image, settle_image(image, Options())
