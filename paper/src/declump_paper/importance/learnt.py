"""What was learnt: a weight an example, and how it came about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Ended = Literal["nothing improves", "bound"]


@dataclass(frozen=True)
class Step:
    """One accepted raise of one example's weight.

    Attributes
    ----------
    cycle : int
        From 1.
    image : str
        Name of the image.
    clump : int
        Its number within the image.
    cell : int
        The cell of the image whose outline is the example.
    weight : float
        After the raise.
    before, after : int
        Terminated discrepancy E of the clump, or of the image, in pixels.
    """

    cycle: int
    image: str
    clump: int
    cell: int
    weight: float
    before: int
    after: int


@dataclass(frozen=True, eq=False)
class Importance:
    """Importance of shape examples.

    Attributes
    ----------
    weights : (N,) float64
        One an example, in the order of :func:`declump.training.prior.collect_clumps`: by image, clump and whole cell.
    method : "printed" or "held-out"
    in_covariance : bool
        Whether the weights enter the covariance, too; as printed they enter the mean only.
    steps : tuple of Step
        Every accepted raise, in order; none for "held-out".
    cycles : int
        Rounds over all examples (printed) or iterations (held-out) that were begun.
    ended : "nothing improves" or "bound"
        Why the learning ended.
    options : dict
        What it was learnt with, for the card of a prior.
    """

    weights: NDArray[np.float64]
    method: Literal["printed", "held-out"]
    in_covariance: bool
    steps: tuple[Step, ...]
    cycles: int
    ended: Ended
    options: dict[str, Any]

    def __post_init__(self) -> None:
        """Refuse weights that are none."""
        object.__setattr__(self, "weights", np.ascontiguousarray(self.weights, dtype=np.float64))
        if self.weights.ndim != 1 or not np.isfinite(self.weights).all() or np.any(self.weights < 0):
            raise ValueError("weights of examples are finite numbers >= 0 in one row; these are not")

    def to_weights(self) -> dict[str, Any]:
        """Give the arguments of :func:`declump.learn_prior` that make a prior of it."""
        return {"weights": self.weights, "in_covariance": self.in_covariance, "card": {"importance": self.card}}

    @property
    def card(self) -> dict[str, Any]:
        """What to note with a prior."""
        return {
            "method": self.method,
            **self.options,
            "enters": "mean and covariance" if self.in_covariance else "mean",
            "accepted steps": len(self.steps),
            "cycles": self.cycles,
            "ended": self.ended,
            "smallest weight": float(self.weights.min()),
            "largest weight": float(self.weights.max()),
        }
