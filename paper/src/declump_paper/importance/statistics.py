"""Mean and modes of weighted shapes, moved from those of equal weights instead of computed anew."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.shapes.prior import EXPLAINED, ShapePrior, add_turned_copies, mode_count, principal_modes
from declump.shapes.reach import ReachModel

Floats = NDArray[np.float64]

STILL = 1e-13
"""A mode is left as it is when the mean moves along it by less than this share of the mean's length."""


class WeightedShapes:
    """Priors of one set of examples under changing weights (equations 6 and 7).

    With equal weights let the mean be m and the covariance C. Other weights move the mean by d, and the covariance
    about the moved mean, which counts every example once as printed, is exactly C + d d^T. In the eigenvectors of C
    that is a diagonal plus a rank-one matrix: only modes along which the mean moves change, at most as many as there
    are examples. With turned and mirrored copies these are the few that have the symmetry of the copies.

    Parameters
    ----------
    shapes : (N, K) float
        Examples in pixels.
    copies : bool
        Whether each also stands for its turned and mirrored copies, with the same weight.
    modes : int, optional
        Number of modes t; by default those that hold more than 99.5 % of the variance.
    reach : ReachModel, optional
        Given to every prior.
    """

    def __init__(
        self, shapes: Floats, *, copies: bool, modes: int | None = None, reach: ReachModel | None = None
    ) -> None:
        self.count, self.modes, self.reach = len(shapes), modes, reach
        examples = add_turned_copies(shapes) if copies else np.asarray(shapes, dtype=np.float64)
        self.plain = ShapePrior.fit(examples, modes=modes)
        centred = examples - self.plain.mean
        self.vectors, self.variances = principal_modes(centred, noise=1e-18 * float(self.plain.mean @ self.plain.mean))
        self.offsets = centred.reshape(-1, self.count, centred.shape[1]).mean(axis=0)

    def prior(self, weights: Floats) -> ShapePrior:
        """Give the prior of these weights (N,), all positive."""
        shift = (weights - 1) @ self.offsets / weights.sum()
        along = self.vectors.T @ shift
        moved = np.abs(along) > STILL * np.linalg.norm(self.plain.mean)
        if not moved.any():
            return ShapePrior(self.plain.mean + shift, self.plain.modes, self.plain.variances, self.reach)
        values, turn = np.linalg.eigh(np.diag(self.variances[moved]) + np.outer(along[moved], along[moved]))
        variances = np.concatenate([self.variances[~moved], values])
        order = np.argsort(-variances, kind="stable")
        variances = variances[order]
        count = mode_count(variances, EXPLAINED) if self.modes is None else self.modes
        vectors = np.concatenate([self.vectors[:, ~moved], self.vectors[:, moved] @ turn], axis=1)[:, order[:count]]
        largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(count)]
        vectors *= np.where(largest < 0, -1.0, 1.0)
        return ShapePrior(self.plain.mean + shift, vectors, variances[:count], self.reach)
