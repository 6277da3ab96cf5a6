"""What outlines are worth: pixels that count for or against them, summed inside each."""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.discrepancy import entries_within
from declump._kernels.types import ON_EDGE, Floats, Ints, PolarTable


@compiled
def sum_pixel_scores(
    pixel_scores: Ints, row: int, column: int, radii: Floats, rises: Floats, runs: Floats, table: PolarTable
) -> Ints:
    """Sum ``pixel_scores`` (H, W) over the pixels inside each of N outlines round one seed.

    Twin of :func:`declump.evolution.cover.sum_scores_by_masks`; ``table`` as in :func:`hard_discrepancy`.
    """
    starts, d_rows, d_columns, distances, _ = table
    outlines, rays = radii.shape
    height, width = pixel_scores.shape
    sums = np.zeros(outlines, dtype=np.int64)
    for outline in range(outlines):
        for sector in range(rays):
            following = sector + 1 if sector + 1 < rays else 0
            near, far = radii[outline, sector], radii[outline, following]
            start_y, start_x = near * rises[sector], near * runs[sector]
            edge_y, edge_x = far * rises[following] - start_y, far * runs[following] - start_x
            certain = min(near, far) * np.cos(np.pi / rays) * 0.999999
            end = entries_within(distances, starts[sector], starts[sector + 1], max(near, far))
            for entry in range(starts[sector], end):
                y, x = d_rows[entry], d_columns[entry]
                at_row, at_column = row + y, column + x
                if (
                    0 <= at_row < height
                    and 0 <= at_column < width
                    and (distances[entry] < certain or edge_x * (y - start_y) - edge_y * (x - start_x) > ON_EDGE)
                ):
                    sums[outline] += pixel_scores[at_row, at_column]
    return sums
