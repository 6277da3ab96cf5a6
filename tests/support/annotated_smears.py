"""Small simulated smears as a data set gives them."""

from __future__ import annotations

import numpy as np

from declump import simulate
from declump.datasets import AnnotatedImage


def annotated(number: int, *, cells: int = 5, side: int = 170) -> AnnotatedImage:
    made = simulate.smear((side, side), cells=cells, radius=22, overlap=0.5, clumps=2, rng=number)
    labels = np.zeros(made.clump.shape, dtype=np.int32)
    for index, nucleus in enumerate(made.nuclei, start=1):
        labels[nucleus] = index
    return AnnotatedImage(f"smear{number}", made.image, made.cells, labels, made.seeds)
