"""The number of cells over each pixel of a clump against the expected one: the layers' part of its energy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump import _kernels
from declump.evolution.energy import Layers, PolarTable, robust_loss
from declump.evolution.settings import Settings

Floats = NDArray[np.float64]

LAYER_FLOOR = 0.5
"""Standard deviation, in layers, that is added in quadrature to the doubt: an outline within a pixel is half a cell."""


def expected_layers(counts: Floats, std: Floats, settings: Settings) -> Layers:
    """Weigh an expected number of layers (H, W) by its certainty ``1 / (1 + (doubt / LAYER_FLOOR)^2)``."""
    spread = np.hypot(std, LAYER_FLOOR)
    return Layers(counts, settings.layer_weight * (LAYER_FLOOR / spread) ** 2, settings.robustness * spread)


class Layering:
    """How far cells are from an expected number of layers, with the buffers to compute it fast."""

    def __init__(self, expected: Layers) -> None:
        self.sums, self.touched = np.zeros(expected.counts.shape), np.empty(expected.counts.size, dtype=np.int64)
        self.touched_count = 0
        self.maps = (*expected, self.sums)
        self.empty = float(np.sum(expected.weights * robust_loss(expected.counts, expected.tolerances)))

    def count(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64], radii: Floats, softness: float, table: PolarTable
    ) -> None:
        """Bring the buffer of the number of layers up to these radii."""
        self.sums.ravel()[self.touched[: self.touched_count]] = 0.0
        self.touched_count = _kernels.count_layers(rows, columns, radii, softness, table, self.sums, self.touched)

    def misfit(self) -> float:
        """Sum over all pixels of the robust loss of what was counted against what is expected."""
        return float(_kernels.layer_misfit(self.maps, self.empty, self.touched, self.touched_count))
