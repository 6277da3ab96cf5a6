"""The number of cells over each pixel of a clump against the expected one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump import _kernels
from declump._kernels.types import LayerMaps
from declump.evolution.energy import Layers, robust_loss
from declump.evolution.settings import Settings
from declump.evolution.terms.term import RadiusDerivatives, SoftOutlines, Term
from declump.records.evidence import ProposedLayers

Floats = NDArray[np.float64]

LAYER_FLOOR = 0.5
"""Standard deviation, in layers, that is added in quadrature to the given: an outline within a pixel is half a cell."""


def weigh_layers(proposed: ProposedLayers, settings: Settings) -> Layers:
    """Weigh an expected number of layers (H, W) by its certainty ``1 / (1 + (std / LAYER_FLOOR)^2)``."""
    spread = np.hypot(proposed.layers_std, LAYER_FLOOR)
    weights = settings.layer_weight * (LAYER_FLOOR / spread) ** 2
    return Layers(proposed.layers, weights, settings.robustness * spread)


class LayerMisfit(Term):
    """How far cells are from an expected number of layers; see :func:`declump.evolution.energy.layer_misfit`.

    Buffers: how many cells lie over each pixel, and over which any.
    """

    def __init__(self, expected: Layers) -> None:
        self.maps = LayerMaps(*expected, np.zeros(expected.counts.shape))
        self.touched, self.touched_count = np.empty(expected.counts.size, dtype=np.int64), 0
        self.last = np.full(expected.counts.size, -1, dtype=np.int32)
        self.empty = float(np.sum(expected.weights * robust_loss(expected.counts, expected.tolerances)))

    def follow(self, outlines: SoftOutlines) -> None:
        """Count the layers anew."""
        self.maps.sums.ravel()[self.touched[: self.touched_count]] = 0.0
        self.touched_count = _kernels.count_layers(*outlines, self.maps.sums, self.touched)

    def value(self, parameters: Floats, outlines: SoftOutlines) -> float:
        """Sum over all pixels of the robust loss of what was counted against what is expected."""
        return float(_kernels.layer_misfit(self.maps, self.empty, self.touched, self.touched_count))

    def add_by_radius(self, outlines: SoftOutlines, derivatives: RadiusDerivatives) -> None:
        """Add what the pixels in the bands round the outlines say."""
        sums = derivatives.by_radius, derivatives.diagonal, derivatives.adjacent
        derivatives.couple(_kernels.gather_layers(*outlines, self.maps, self.last, *sums))
