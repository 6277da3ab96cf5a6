"""How far a cell is expected to reach in each direction, from the clump's outline and the places of the other seeds.

The paper's prior knows shapes but not where in a clump they lie: a hidden side may end anywhere. Yet the clump tells:
a cell ends near the clump's outline where that is close, and about half way to the next seed, give or take, where it is
not. The regression here learns this from examples. Its answer starts the evolution and pulls, weakly, on sides that
nothing else holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump import _kernels
from declump.shapes.contours import directions

Floats = NDArray[np.float64]

FARTHEST = 3.0
"""Distances are looked at up to this many sizes of a cell."""
MEAN_WINDOWS = (0.0, 1 / 12, 1 / 4, 1 / 2, 1.0)
MINIMUM_WINDOWS = (1 / 24, 1 / 8, 1 / 4, 1.0)
"""Angular windows, in turns, over which the surroundings are averaged, and their minimum taken."""
SHRINKAGE = 1e-2
"""Ridge penalty of the regression in units of its number of equations."""


@dataclass(frozen=True)
class ReachModel:
    """A linear model of a cell's radii, in units of its expected size, by what is seen along the rays.

    Attributes
    ----------
    weights : (F,) float64
        One a feature of :func:`reach_features`.
    intercept : float
    spread : float
        Root mean square error of the model on its examples, in units of the size.
    """

    weights: Floats
    intercept: float
    spread: float

    def __post_init__(self) -> None:
        """Refuse numbers that are no model."""
        object.__setattr__(self, "weights", np.ascontiguousarray(self.weights, dtype=np.float64))
        count = 3 * (len(MEAN_WINDOWS) + len(MINIMUM_WINDOWS))
        finite = np.isfinite([*self.weights, self.intercept, self.spread]).all()
        if self.weights.shape != (count,) or not finite or self.spread <= 0:
            raise ValueError(f"a reach model has {count} finite weights, an intercept and a spread > 0; this has not")

    def expected(self, exits: Floats, seeds: NDArray[np.int64], size: float) -> Floats:
        """Radii (N, K) in pixels that the cells of one clump are expected to have.

        Parameters
        ----------
        exits : (N, K)
            First-exit distances of the clump from each seed.
        seeds : (N, 2)
            All seeds of the clump.
        size : float
            Mean radius of the cells of the prior in pixels.
        """
        radii = reach_features(exits, seeds, size) @ self.weights + self.intercept
        return size * np.clip(radii, 0.1, FARTHEST)


def reach_features(exits: Floats, seeds: NDArray[np.int64], size: float) -> Floats:
    """Features (N, K, F) of what lies along each ray and to its sides, in units of the size.

    Three profiles are looked at, each through windows of several widths: the distance to the clump's outline, the
    distance to the line half way to another seed, and the smaller of the two.
    """
    from scipy import ndimage

    rays = exits.shape[1]
    outline = np.minimum(exits / size, FARTHEST)
    half_way = half_way_distances(seeds / size, rays)

    def width(window: float) -> int:
        return max(2 * int(window * rays / 2 + 0.5) - 1, 1) if window < 1 else rays

    profiles = np.stack([outline, half_way, np.minimum(outline, half_way)], axis=1)
    features = [
        look(profiles, width(window), axis=2, mode="wrap")
        for look, windows in ((ndimage.uniform_filter1d, MEAN_WINDOWS), (ndimage.minimum_filter1d, MINIMUM_WINDOWS))
        for window in windows
    ]
    return np.stack(features, axis=2).reshape(len(seeds), -1, rays).swapaxes(1, 2)


def half_way_distances(seeds: Floats, rays: int) -> Floats:
    """Distance (N, K) along each ray to the nearest bisector between its seed and another, at most ``FARTHEST``."""
    distances: Floats = _kernels.nearest_bisectors(np.asarray(seeds, np.float64), *directions(rays), FARTHEST)
    return distances


def fit_reach(features: Floats, radii: Floats, size: float) -> ReachModel:
    """Learn a model from cells whose radii are known.

    Parameters
    ----------
    features : (M, K, F)
        Their :func:`reach_features`.
    radii : (M, K)
        Pixels.
    size : float
        The size the features were taken with.
    """
    design, targets = features.reshape(-1, features.shape[-1]), radii.ravel() / size
    centre, scale = design.mean(axis=0), np.maximum(design.std(axis=0), 1e-9)
    standard = (design - centre) / scale
    normal = standard.T @ standard + SHRINKAGE * len(targets) * np.eye(len(centre))
    weights = np.linalg.solve(normal, standard.T @ (targets - targets.mean())) / scale
    intercept = float(targets.mean() - centre @ weights)
    errors = design @ weights + intercept - targets
    return ReachModel(weights, intercept, max(float(np.sqrt(np.mean(errors**2))), 1e-6))
