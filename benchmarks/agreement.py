"""How far two findings of the same cells agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import declump

PARTNERS = 0.5
"""Cells with at least this Dice are the same cell."""


@dataclass(frozen=True)
class Agreement:
    """Dice of the cells of one finding that the other has, too, and how many it has not."""

    dice: NDArray[np.float64]
    missed: int

    @classmethod
    def of(cls, cells: NDArray[np.bool_], others: NDArray[np.bool_]) -> Agreement:
        """Compare masks (N, H, W) and (M, H, W), pairs chosen for the largest sum of Dice."""
        seen = cells[cells.any(axis=(1, 2))]
        found = declump.score(seen, others, matching="hungarian").dice
        return cls(found[found >= PARTNERS], int(np.count_nonzero(found < PARTNERS)))

    def __add__(self, other: Agreement) -> Agreement:
        """Pool two."""
        return Agreement(np.concatenate([self.dice, other.dice]), self.missed + other.missed)

    def __str__(self) -> str:
        """Mean Dice, and the share missed."""
        count = len(self.dice) + self.missed
        mean = float(self.dice.mean()) if len(self.dice) else float("nan")
        return f"{mean:.4f}, {self.missed} of {count} missed ({self.missed / max(count, 1):.1%})"
