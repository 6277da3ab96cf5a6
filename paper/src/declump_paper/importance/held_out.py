"""Weights under which the shapes of clumps that were left out are least surprising; not in the paper."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from declump.datasets import AnnotatedImage
from declump.shapes.prior import ShapePrior, add_turned_copies
from declump.training.prior import collect_clumps
from declump_paper.importance.learnt import Ended, Importance

Floats = NDArray[np.float64]

SPREAD = 0.3
"""Expected standard deviation of the log weights: weights mostly stay within a third of 1."""


def held_out_importance(
    images: Iterable[AnnotatedImage],
    *,
    rays: int = 360,
    copies: bool = True,
    modes: int | None = None,
    spread: float = SPREAD,
    iterations: int = 200,
) -> Importance:
    """Learn how much each whole cell counts in mean and covariance, from what foretells shapes of other clumps.

    Each clump in turn is left out. The energy of its shapes is their negative log likelihood under the normal
    distribution of the others, with weighted mean and covariance, in the modes of equal weights. The weights minimise
    the sum of these energies and of a price on their logarithms, without which the few examples of a training set are
    fitted too closely: without evidence all stay at 1.

    Parameters
    ----------
    images : iterable of AnnotatedImage
    rays, copies, modes
        As for :func:`declump.learn_prior`, for which the importance is learnt.
    spread : float
        Standard deviation of the log weights that is expected beforehand; > 0.
    iterations : int
        Bound on the steps of the minimiser (L-BFGS).

    Returns
    -------
    Importance

    Raises
    ------
    ValueError
        If fewer than two clumps have a whole cell, or the spread is no number > 0.
    """
    from scipy import optimize

    if not (np.isfinite(spread) and spread > 0):
        raise ValueError(f"the spread of the log weights is a number > 0; given was {spread}")
    known = [clump for image in collect_clumps(images, rays=rays) for clump in image if len(clump.radii)]
    if len(known) < 2:
        raise ValueError("leaving out a clump needs at least two with a whole cell; there is only one")
    shapes = np.concatenate([clump.radii for clump in known])
    owners = np.repeat(np.arange(len(known)), [len(clump.radii) for clump in known])
    _, stacked = _coordinates(shapes, copies, modes)
    found = optimize.minimize(
        held_out_energy,
        np.zeros(len(shapes)),
        args=(stacked, owners, spread),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations},
    )
    weights = np.exp(found.x)
    ended: Ended = "nothing improves" if found.success else "bound"
    options = {"spread": spread, "cycles at most": iterations}
    return Importance(weights / weights.mean(), "held-out", True, (), int(found.nit), ended, options)


def energy_of_new_shapes(
    new: Floats, shapes: Floats, weights: Floats, *, copies: bool = True, modes: int | None = None
) -> float:
    """Mean energy, a shape and mode, of shapes that were not learnt from: less is better foretold.

    Parameters
    ----------
    new : (M, K) float
    shapes : (N, K) float
        Examples.
    weights : (N,) float
        Their importance.
    copies, modes
        As for :func:`declump.learn_prior`.
    """
    plain, stacked = _coordinates(shapes, copies, modes)
    coordinates = plain.project(new) / np.sqrt(plain.variances)
    normal = _Normal(np.asarray(weights, dtype=np.float64), stacked)
    return normal.energy(coordinates - normal.mean) / coordinates.size


def held_out_energy(
    logarithms: Floats, shapes: Floats, owners: NDArray[np.int64], spread: float
) -> tuple[float, Floats]:
    """Energy of log weights (N,), and its gradient.

    Parameters
    ----------
    logarithms : (N,)
    shapes : (C, N, t)
        Coordinates of the examples and their copies, in standard deviations of equal weights; the first are themselves.
    owners : (N,)
        Clump of each example.
    spread : float
        See :func:`held_out_importance`.
    """
    weights = np.exp(logarithms)
    energy, gradient = float(logarithms @ logarithms) / (2 * spread**2), logarithms / spread**2
    for owner in np.unique(owners):
        kept = owners != owner
        normal = _Normal(weights[kept], shapes[:, kept])
        errors = shapes[0, ~kept] - normal.mean
        energy += normal.energy(errors)
        gradient[kept] += normal.gradient(errors)
    return energy, gradient


class _Normal:
    """The normal distribution of weighted shapes (C, N, t), of which each copy has the weight (N,) of its example.

    With few examples the covariance is uncertain. It is mixed with that of equal weights, in these coordinates the unit
    matrix, which counts as much as t examples.
    """

    def __init__(self, weights: Floats, shapes: Floats) -> None:
        self.copies, count, size = shapes.shape
        share = np.tile(weights, self.copies)
        self.share = share / share.sum()
        flat = shapes.reshape(-1, size)
        self.mean = self.share @ flat
        self.centred = flat - self.mean
        self.covariance = (self.share[:, None] * self.centred).T @ self.centred
        self.own = count / (count + size)
        self.inverse = np.linalg.inv(self.own * self.covariance + (1 - self.own) * np.eye(size))

    def energy(self, errors: Floats) -> float:
        """Negative log likelihood of shapes (M, t), given as differences from the mean, but for a constant."""
        squared = np.sum((errors @ self.inverse) * errors)
        return float(squared - len(errors) * np.linalg.slogdet(self.inverse)[1]) / 2

    def gradient(self, errors: Floats) -> Floats:
        """Derivatives (N,) of that energy by the log weights."""
        pulled = errors @ self.inverse
        by_covariance = self.own * (len(errors) * self.inverse - pulled.T @ pulled) / 2
        by_example = np.sum((self.centred @ by_covariance) * self.centred, axis=1)
        by_example -= np.sum(by_covariance * self.covariance) + self.centred @ pulled.sum(axis=0)
        return np.asarray((self.share * by_example).reshape(self.copies, -1).sum(axis=0))


def _coordinates(shapes: Floats, copies: bool, modes: int | None) -> tuple[ShapePrior, Floats]:
    """Prior of equal weights, and the examples and their copies (C, N, t) in its standard deviations."""
    examples = add_turned_copies(shapes) if copies else shapes
    plain = ShapePrior.fit(examples, modes=modes)
    coordinates = plain.project(examples) / np.sqrt(plain.variances)
    return plain, coordinates.reshape(-1, len(shapes), plain.variances.size)
