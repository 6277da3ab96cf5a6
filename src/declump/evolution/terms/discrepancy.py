"""The discrepancy between a clump and the union of its cells (equation 2): the term that is always there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump import _kernels
from declump.evolution.terms.term import RadiusDerivatives, SoftOutlines, Term
from declump.shapes.contours import directions

Floats = NDArray[np.float64]


class Discrepancy(Term):
    """Soft discrepancy of a clump (H, W) and cells of K rays; see :func:`declump.evolution.energy.soft_discrepancy`.

    Buffers: what the cells leave uncovered of each pixel, and which pixels they cover at all.
    """

    def __init__(self, clump: NDArray[np.bool_], rays: int) -> None:
        self.mask, self.size = clump, int(np.count_nonzero(clump))
        self.values, self.directions = clump.astype(np.float64), directions(rays)
        self.left, self.union = np.ones(clump.shape), np.zeros(clump.shape, dtype=np.bool_)
        self.touched, self.united = np.empty((2, clump.size), dtype=np.int64)
        self.touched_count = 0
        self.last = np.full(clump.size, -1, dtype=np.int32)

    def follow(self, outlines: SoftOutlines) -> None:
        """Cover the clump anew."""
        self.left.ravel()[self.touched[: self.touched_count]] = 1.0
        self.touched_count = _kernels.cover(*outlines, self.left, self.touched)

    def value(self, parameters: Floats, outlines: SoftOutlines) -> float:
        """Sum over all pixels of ``(union - clump)^2``."""
        return float(_kernels.soft_discrepancy(self.values, self.size, self.left, self.touched, self.touched_count))

    def add_by_radius(self, outlines: SoftOutlines, derivatives: RadiusDerivatives) -> None:
        """Add what the pixels in the bands round the outlines say."""
        sums = derivatives.by_radius, derivatives.diagonal, derivatives.adjacent
        derivatives.couple(_kernels.gather_discrepancy(*outlines, self.values, self.left, self.last, *sums))

    def count_pixels(self, outlines: SoftOutlines) -> int:
        """Equation 2 with binary masks: in how many pixels the union of the cells and the clump differ."""
        rows, columns, radii, _, table = outlines
        return int(
            _kernels.hard_discrepancy(
                self.mask,
                self.size,
                rows,
                columns,
                radii,
                *self.directions,
                table,
                self.union,
                self.united,
            )
        )
