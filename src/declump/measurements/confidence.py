"""How far to trust a cell: the probability that its Dice is at least 0.8, from what is known without the truth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump._files import write_atomically

Floats = NDArray[np.float64]

GOOD_DICE = 0.8
"""The Dice that a cell is trusted, or not, to reach."""
FEATURES = (
    "outline_visible_share",
    "overlap_degree",
    "overlap_area_share",
    "overlapping_cells",
    "mahalanobis_distance",
    "clump_discrepancy_share",
    "seed_offset",
    "nucleus_to_cell_area_ratio",
    "nucleus_probability",
    "whole",
)
"""Columns of the cells that are taken as they are; whatever column is added here is learnt from at the next fit."""


@dataclass(frozen=True, eq=False)
class Confidence:
    """A logistic regression on the features of a cell.

    Attributes
    ----------
    names : tuple of str
        The F features.
    means, scales : (F,) float64
        What a feature is centred on and divided by.
    weights : (F,) float64
        Of the centred and scaled features.
    intercept : float
        Log odds of a cell with average features.
    card : mapping
        What it was learnt from, for people: text and numbers.
    """

    names: tuple[str, ...]
    means: Floats
    scales: Floats
    weights: Floats
    intercept: float
    card: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse numbers that do not belong together."""
        for name in ("means", "scales", "weights"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        parts = (self.means, self.scales, self.weights)
        if any(part.shape != (len(self.names),) for part in parts):
            raise ValueError(f"a confidence of {len(self.names)} features has as many means, scales and weights")
        if not all(np.isfinite(part).all() for part in (*parts, self.intercept)) or (self.scales <= 0).any():
            raise ValueError("means, scales, weights and intercept of a confidence are finite, and scales > 0")

    def probability(self, features: Mapping[str, ArrayLike]) -> Floats:
        """Probability (N,) that each cell's Dice is at least 0.8.

        Parameters
        ----------
        features : mapping of str to (N,) array
            See :func:`confidence_features`. Features of other names are passed over; one that is NaN, because it is
            not known, counts as the average one.
        """
        missing = [name for name in self.names if name not in features]
        if missing:
            raise ValueError(f"this confidence was learnt with {', '.join(missing)}, too: give all its features")
        standard = (_matrix({name: features[name] for name in self.names}) - self.means) / self.scales
        odds = self.intercept + np.where(np.isnan(standard), 0, standard) @ self.weights
        return np.asarray((1 + np.tanh(odds / 2)) / 2)

    def save(self, path: str | Path) -> None:
        """Write the confidence as JSON; the same one always gives the same bytes."""
        features = {
            name: {"mean": mean, "scale": scale, "weight": weight}
            for name, mean, scale, weight in zip(
                self.names, self.means.tolist(), self.scales.tolist(), self.weights.tolist(), strict=True
            )
        }
        content = {"card": dict(self.card), "intercept": self.intercept, "features": features}
        write_atomically(path, json.dumps(content, indent=2) + "\n")

    @classmethod
    def load(cls, source: str | Path) -> Confidence:
        """Read a confidence: ``"default"``, which ships with declump, or the path of a file that :meth:`save` wrote."""
        shipped = source == "default"
        path = Path(str(resources.files("declump") / "data" / "confidence.json")) if shipped else Path(source)
        if not path.is_file():
            raise FileNotFoundError(f"there is no confidence at {path}: give the path of a .json file, or 'default'")
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            features = content["features"]
            means, scales, weights = (
                np.array([feature[part] for feature in features.values()], dtype=np.float64)
                for part in ("mean", "scale", "weight")
            )
            return cls(tuple(features), means, scales, weights, float(content["intercept"]), content["card"])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"{path} is not a confidence that declump wrote ({error})") from error


def confidence_features(cells: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """Features (N,) of all cells, by name, from their measured columns (:attr:`Measurements.cells`)."""
    relative = np.asarray(cells["area_relative_to_median"], dtype=np.float64)
    size = np.log(relative, out=np.full(relative.shape, np.nan), where=relative > 0)
    taken = {name: np.asarray(cells[name], dtype=np.float64) for name in FEATURES}
    return {**taken, "log_relative_area": size, "unusual_area": np.abs(size)}


def fit_confidence(
    features: Mapping[str, ArrayLike], reached: ArrayLike, *, ridge: float = 1.0, card: Mapping[str, Any] | None = None
) -> Confidence:
    """Learn to tell good cells from others.

    Parameters
    ----------
    features : mapping of str to (N,) array
        See :func:`confidence_features`; NaN where a feature is not known.
    reached : (N,) bool
        Whether each cell's Dice with its truth is at least 0.8.
    ridge : float
        Price of the squared weights of the standardised features against the log likelihood, so that features that
        say the same share the weight.
    card : mapping, optional
        What to note about the origin of the cells.

    Returns
    -------
    Confidence
    """
    from scipy.optimize import minimize

    matrix, outcome = _matrix(features), np.asarray(reached, dtype=np.bool_)
    if outcome.shape != matrix.shape[:1]:
        raise ValueError(f"there is one outcome for each of {len(matrix)} cells; given was an array of {outcome.shape}")
    if not 0 < outcome.sum() < outcome.size:
        raise ValueError("confidence is learnt from cells of which some reach the Dice and some do not; give both")
    if not ridge > 0:
        raise ValueError(f"the ridge is a number > 0, so that weights stay finite; given was {ridge}")
    known = ~np.isnan(matrix)
    count = np.maximum(known.sum(axis=0), 1)
    means = np.sum(matrix, axis=0, where=known) / count
    scales = np.sqrt(np.sum((matrix - means) ** 2, axis=0, where=known) / count)
    scales[scales <= 1e-12 * np.abs(means)] = 1.0
    inputs = np.column_stack([np.where(known, (matrix - means) / scales, 0), np.ones(len(matrix))])
    sign, price = np.where(outcome, 1.0, -1.0), np.append(np.full(matrix.shape[1], ridge), 0.0)

    def loss(weights: Floats) -> tuple[float, Floats]:
        """Penalised negative log likelihood and its gradient."""
        margin = sign * (inputs @ weights)
        value = np.sum(np.logaddexp(0, -margin)) + np.sum(price * weights**2) / 2
        return float(value), -inputs.T @ (sign * (1 - np.tanh(margin / 2)) / 2) + price * weights

    def curvature(weights: Floats) -> Floats:
        spread = (1 - np.tanh(inputs @ weights / 2) ** 2) / 4
        return np.asarray(inputs.T @ (spread[:, None] * inputs) + np.diag(price))

    start = np.zeros(inputs.shape[1])
    found = minimize(loss, start, jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-8 * len(matrix)})
    return Confidence(tuple(features), means, scales, found.x[:-1], float(found.x[-1]), dict(card or {}))


def _matrix(features: Mapping[str, ArrayLike]) -> Floats:
    """Features (N, F) side by side."""
    columns = [np.asarray(values, dtype=np.float64) for values in features.values()]
    if not columns or len({column.shape for column in columns}) > 1 or columns[0].ndim != 1:
        raise ValueError("features are a mapping of names to columns (N,), one value a cell; these are not")
    matrix = np.column_stack(columns)
    if np.isinf(matrix).any():
        raise ValueError("features are finite numbers, or NaN where they are not known; some of these are infinite")
    return matrix
