"""Small simulated smears as a data set gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

from declump import simulate
from declump.datasets import AnnotatedImage


def annotated(number: int, *, side: int = 170, **options: Any) -> AnnotatedImage:
    """A simulated smear with its truth; ``options`` go to :func:`declump.simulate.smear`."""
    drawn = {"cells": 5, "radius": 22, "overlap": 0.5, "clumps": 2, "rng": number, **options}
    made = simulate.smear((side, side), **drawn)
    labels = np.zeros(made.clump.shape, dtype=np.int32)
    for index, nucleus in enumerate(made.nuclei, start=1):
        labels[nucleus] = index
    return AnnotatedImage(f"smear{number}", made.image, made.cells, labels, made.seeds)
