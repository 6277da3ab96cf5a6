"""The discrepancy between a clump and the union of its cells (equation 2): the term that is always there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump import _kernels
from declump._kernels.types import PolarTable
from declump.evolution.polar import make_polar_table
from declump.evolution.terms.term import RadiusDerivatives, SoftOutlines, Term
from declump.records.clump import Clump
from declump.shapes.contours import directions

Floats = NDArray[np.float64]


class Discrepancy(Term):
    """Soft discrepancy of a clump (H, W) and cells of K rays; see :func:`declump.evolution.energy.soft_discrepancy`.

    Buffers: in how many cells each pixel lies deep inside, and what is seen in the bands round the outlines.
    """

    def __init__(self, clump: NDArray[np.bool_], rays: int) -> None:
        self.mask, self.size = clump, int(np.count_nonzero(clump))
        self.directions = directions(rays)
        self.depths, self.places = np.zeros(clump.shape, np.int16), np.full(clump.shape, -1, np.int32)
        self.inner, self.covered = np.zeros((0, rays), np.int64), np.zeros(2, np.int64)
        self.table: PolarTable | None = None

    def follow(self, outlines: SoftOutlines) -> None:
        """Cover the clump anew."""
        if outlines.table is not self.table:
            self.table = outlines.table
            self.depths[...] = self.covered[...] = 0
            self.inner = np.tile(outlines.table.starts[:-1], (len(outlines.radii), 1))
        buffers = self.depths, self.inner, self.covered, self.places
        covering = _kernels.cover(*outlines, *self.directions, self.mask, self.size, *buffers)
        self.visits, self.pixels, self.left, self.soft, self.different = covering

    def value(self, parameters: Floats, outlines: SoftOutlines) -> float:
        """Sum over all pixels of ``(union - clump)^2``."""
        return self.soft

    def add_by_radius(self, outlines: SoftOutlines, derivatives: RadiusDerivatives) -> None:
        """Add what the pixels in the bands round the outlines say."""
        sums = derivatives.by_radius, derivatives.diagonal, derivatives.adjacent
        seen = self.visits, outlines.softness, self.mask, self.pixels, self.left
        derivatives.couple(_kernels.gather_discrepancy(*seen, *sums))

    def count_pixels(self) -> int:
        """Equation 2 with binary masks: in how many pixels the union of the cells and the clump differ."""
        return self.different


def count_discrepancy(clump: Clump, radii: Floats) -> int:
    """Equation 2: in how many pixels a clump and the union of cells with radii (N, K) differ.

    Twin of :meth:`declump.records.clump.Clump.discrepancy`, which finds the sector of every pixel anew.
    """
    table = make_polar_table(radii.shape[1], 1 << int(np.ceil(np.log2(max(float(radii.max()) + 2, 16.0)))))
    rows, columns = (np.ascontiguousarray(part) for part in clump.seeds.T)
    discrepancy = Discrepancy(clump.mask, radii.shape[1])
    discrepancy.follow(SoftOutlines(rows, columns, np.ascontiguousarray(radii), 1.0, table))
    return discrepancy.count_pixels()
