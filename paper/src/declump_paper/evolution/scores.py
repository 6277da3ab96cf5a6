"""What outlines are worth: pixels that count for or against them, summed inside each."""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.outlines import pixels_inside
from declump._kernels.types import Floats, Ints, PolarTable


@compiled
def sum_pixel_scores(
    pixel_scores: Ints, row: int, column: int, radii: Floats, rises: Floats, runs: Floats, table: PolarTable
) -> Ints:
    """Sum ``pixel_scores`` (H, W) over the pixels inside each of N outlines round one seed.

    Twin of :func:`declump_paper.evolution.cover.sum_scores_by_masks`; ``table`` as in :func:`hard_discrepancy`.
    """
    scores = pixel_scores.ravel()
    inside = np.empty(pixel_scores.size, dtype=np.int64)
    sums = np.zeros(len(radii), dtype=np.int64)
    for outline in range(len(radii)):
        size = pixels_inside(row, column, radii[outline], rises, runs, table, pixel_scores.shape, inside)
        for pixel in inside[:size]:
            sums[outline] += scores[pixel]
    return sums
