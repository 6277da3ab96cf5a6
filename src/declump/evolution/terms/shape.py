"""The price of unusual shapes and scales."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.evolution.settings import Settings
from declump.evolution.terms.term import SoftOutlines, Term

Floats = NDArray[np.float64]


class ShapePrice(Term):
    """Squared parameters of every cell at a price each: t shape coefficients, log scale, rotation.

    Attributes
    ----------
    prices : (t + 2,) float64
        Of a parameter of one standard deviation, in square pixels. Rotations are free.
    """

    def __init__(self, modes: int, mean_radius: float, settings: Settings) -> None:
        self.prices = np.full(modes + 2, settings.penalty * mean_radius**2)
        self.prices[-2:] *= settings.scale_penalty, 0.0

    def value(self, parameters: Floats, outlines: SoftOutlines) -> float:
        """Sum over cells and parameters of ``price parameter^2``."""
        return float(np.sum(self.prices * parameters**2))

    def add_by_parameter(self, parameters: Floats, gradient: Floats, blocks: Floats) -> None:
        """Add to the gradient and to the diagonals of the blocks."""
        gradient += 2 * self.prices * parameters
        diagonal = np.arange(len(self.prices))
        blocks[:, diagonal, diagonal] += 2 * self.prices
