"""What a term of the energy is, and the record of derivatives by the radii where all terms meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from declump import _kernels
from declump._kernels.types import Meetings, PolarTable

Floats = NDArray[np.float64]


class SoftOutlines(NamedTuple):
    """Outlines of the N cells of a clump, in the order in which kernels take them.

    Attributes
    ----------
    rows, columns : (N,) int64
        Pixels of the seeds, in the crop of the clump.
    radii : (N, K) float64
        Pixels.
    softness : float
        Half width of the soft outline in pixels.
    table : PolarTable
        Reaches beyond all outlines.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    radii: Floats
    softness: float
    table: PolarTable


HESSIAN_RAYS = 180
"""So many rays, two degrees apart, are enough for second derivatives: shapes vary more slowly than that."""


def find_stride(rays: int) -> int:
    """Tell which of K rays the Hessian knows: every so manieth."""
    stride = max(rays // HESSIAN_RAYS, 1)
    return stride if rays % stride == 0 else 1


@dataclass(frozen=True, eq=False)
class RadiusDerivatives:
    """Derivatives of the energy by the radii of all cells; every term adds its own.

    Attributes
    ----------
    basis : (N, K, P) float64
        Derivatives of each cell's radii by its own parameters, to which all is carried over in the end.
    thinned : (N, K / stride, P) float64
        Those of every so manieth ray. Second derivatives are carried over to these alone, as if the others lay half way
        between them.
    by_radius : (N, K) float64
        First derivatives.
    diagonal, adjacent : (N, K) float64
        Second derivatives, in the Gauss-Newton approximation: of a ray with itself, and with the next of its cell.
    """

    basis: Floats
    thinned: Floats
    by_radius: Floats
    diagonal: Floats
    adjacent: Floats
    _coupled: list[tuple[NDArray[np.int64], Floats]] = field(default_factory=list)

    @classmethod
    def zeros(cls, basis: Floats) -> RadiusDerivatives:
        """Give the derivatives of nothing."""
        cells, rays, _ = basis.shape
        thinned = np.ascontiguousarray(basis[:, :: find_stride(rays)])
        return cls(basis, thinned, *np.zeros((3, cells, rays)))

    @property
    def stride(self) -> int:
        """Every so manieth ray is one of those that the Hessian knows."""
        return int(self.basis.shape[1] // self.thinned.shape[1])

    def couple(self, meetings: Meetings) -> None:
        """Add second derivatives by the radii of two cells, where their outlines meet."""
        # Carried over to the parameters at once: meetings are large, and this is fast while they are in the cache.
        self._coupled.append(_kernels.shared_blocks(self.thinned, meetings, self.stride))

    def project(self) -> tuple[Floats, Floats, NDArray[np.int64], Floats]:
        """Carry the derivatives over to the parameters.

        Returns
        -------
        gradient : (N, P)
        blocks : (N, P, P)
            Diagonal blocks of the Hessian.
        pairs : (Q, 2) int64
            Cells whose outlines meet; only they share a block. A pair is there once for every term that couples it:
            its blocks add up.
        shared : (Q, P, P)
        """
        gradient = _kernels.carry_gradient(self.basis, self.by_radius)
        curvatures = _kernels.thin_curvatures(self.diagonal, self.adjacent, self.stride)
        blocks = _kernels.own_blocks(self.thinned, *curvatures)
        if len(self._coupled) == 1:
            return gradient, blocks, *self._coupled[0]
        pairs = [np.empty((0, 2), dtype=np.int64), *(pairs for pairs, _ in self._coupled)]
        shared = [np.empty((0, *blocks.shape[1:])), *(shared for _, shared in self._coupled)]
        return gradient, blocks, np.concatenate(pairs), np.concatenate(shared)


class Term(Protocol):
    """One term of the energy of a clump.

    A term is made for one clump, and asked for its value and derivatives at one set of outlines after the other. It
    overrides what concerns it: a term of outlines ``add_by_radius``, a price of parameters ``add_by_parameter``; by
    default both add nothing. The Hessian must stay positive semi-definite: add the Gauss-Newton part alone, or that of
    squares above a robust loss (:func:`declump.evolution.energy.robust_weights`).
    """

    def follow(self, outlines: SoftOutlines) -> None:
        """Bring the term's own buffers up to these outlines.

        Called once for new outlines, before ``value`` and ``add_by_radius`` are asked for at them. A term whose buffers
        are images undoes here only the pixels that it touched the time before.
        """
        return

    def value(self, parameters: Floats, outlines: SoftOutlines) -> float:
        """Give the term at parameters (N, P) and the outlines they lead to, which were followed last."""

    def add_by_radius(self, outlines: SoftOutlines, derivatives: RadiusDerivatives) -> None:
        """Add the term's derivatives by the radii at the outlines that were followed last."""
        return

    def add_by_parameter(self, parameters: Floats, gradient: Floats, blocks: Floats) -> None:
        """Add the term's own derivatives by the parameters (N, P) to the gradient (N, P) and the blocks (N, P, P)."""
        return
