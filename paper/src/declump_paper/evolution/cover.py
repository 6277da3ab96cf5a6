"""How many cells cover each pixel of a clump, to weigh other outlines of one cell against the one it has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.evolution.polar import make_polar_table
from declump.shapes import contours
from declump_paper.evolution.scores import sum_pixel_scores

Floats = NDArray[np.float64]


class ClumpCover:
    """The binary masks of a clump's cells, put in and taken out one by one.

    Parameters
    ----------
    mask : (H, W) bool
        The clump.
    seeds : (N, 2) int64
    reach : float
        Longest radius that is ever asked for, in pixels.
    rays : int
        Number of radii K.
    """

    def __init__(self, mask: NDArray[np.bool_], seeds: NDArray[np.int64], reach: float, rays: int) -> None:
        self.mask, self.seeds = mask, seeds
        self.layers = np.zeros(mask.shape, dtype=np.int32)
        self.directions = contours.directions(rays)
        self.table = make_polar_table(rays, 1 << int(np.ceil(np.log2(max(reach + 1, 16.0)))))

    @property
    def discrepancy(self) -> int:
        """Pixels in which the union of the cells and the clump differ (equation 2)."""
        return int(np.count_nonzero((self.layers > 0) != self.mask))

    def put_in(self, cell: int, radii: Floats) -> None:
        """Add a cell with an outline (K,)."""
        self.layers += self._fill(cell, radii)

    def take_out(self, cell: int, radii: Floats) -> None:
        """Remove a cell that was put in with this outline (K,)."""
        self.layers -= self._fill(cell, radii)

    def count_gains(self, cell: int, outlines: Floats) -> NDArray[np.int64]:
        """By how many pixels (M,) each of M outlines (M, K) lowers the discrepancy, as against no outline at all.

        The cell itself is not to be in.
        """
        scores = np.where(self.layers > 0, 0, np.where(self.mask, 1, -1)).astype(np.int8)
        row, column = self.seeds[cell]
        return np.asarray(sum_pixel_scores(scores, row, column, outlines, *self.directions, self.table))

    def _fill(self, cell: int, radii: Floats) -> NDArray[np.bool_]:
        return contours.to_mask(self.seeds[cell], radii, (self.mask.shape[0], self.mask.shape[1]))


def sum_scores_by_masks(pixel_scores: NDArray[np.integer], seed: NDArray[np.int64], radii: Floats) -> NDArray[np.int64]:
    """Sum scores (H, W) inside each outline (N, K) round a seed: the text to read of the compiled kernel."""
    shape = (pixel_scores.shape[0], pixel_scores.shape[1])
    masks = [contours.to_mask(seed, outline, shape) for outline in radii]
    return np.array([int(pixel_scores[mask].sum(dtype=np.int64)) for mask in masks], dtype=np.int64)
