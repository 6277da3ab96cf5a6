"""Whether probabilities hold what they promise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Calibration:
    """Promised and observed shares, by bins of the promised probability.

    Attributes
    ----------
    predicted : (B,) float64
        Mean probability of the cells of each bin; NaN for an empty bin.
    observed : (B,) float64
        Share of them that reached the Dice; NaN for an empty bin.
    count : (B,) int64
        Number of cells in each bin.
    brier : float
        Mean squared difference of probability and outcome over all cells: 0 is perfect.
    """

    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    count: NDArray[np.int64]
    brier: float

    @property
    def error(self) -> float:
        """Expected calibration error: mean distance of promised and observed share, each bin weighted by its cells."""
        held = self.count > 0
        gaps = np.abs(self.predicted[held] - self.observed[held])
        return float(np.average(gaps, weights=self.count[held])) if held.any() else np.nan


def calibration_curve(probability: ArrayLike, reached: ArrayLike, *, bins: int = 10) -> Calibration:
    """Hold probabilities against what happened.

    Parameters
    ----------
    probability : (N,) float
        From 0 to 1.
    reached : (N,) bool
        What happened.
    bins : int
        Number B of bins of equal width.

    Returns
    -------
    Calibration

    Examples
    --------
    >>> curve = calibration_curve([0.1, 0.3, 0.9, 0.7], [False, False, True, True], bins=2)
    >>> curve.predicted.tolist(), curve.observed.tolist(), curve.count.tolist()
    ([0.2, 0.8], [0.0, 1.0], [2, 2])
    """
    promised, happened = np.asarray(probability, dtype=np.float64), np.asarray(reached, dtype=np.bool_)
    if promised.ndim != 1 or promised.shape != happened.shape:
        raise ValueError(
            f"there is one outcome for each probability; given were arrays of {promised.shape} and {happened.shape}"
        )
    if not ((promised >= 0) & (promised <= 1)).all():
        raise ValueError("probabilities lie between 0 and 1; these do not all: leave out those that are not known")
    if bins < 1:
        raise ValueError(f"a calibration curve needs at least one bin; asked for were {bins}")
    member = np.minimum((promised * bins).astype(np.int64), bins - 1)
    count = np.bincount(member, minlength=bins)
    divisor = np.where(count > 0, count, np.nan)
    return Calibration(
        np.bincount(member, promised, bins) / divisor,
        np.bincount(member, happened, bins) / divisor,
        count,
        float(np.mean((promised - happened) ** 2)) if promised.size else np.nan,
    )
