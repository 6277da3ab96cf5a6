"""How sure a mean over cells is, when cells of one image belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Interval:
    """A figure with its confidence interval.

    Attributes
    ----------
    estimate : float
        The figure over everything that was measured.
    low, high : float
        Ends of the interval.
    level : float
        How often such an interval holds the true figure, 0.95 for 95 %.
    """

    estimate: float
    low: float
    high: float
    level: float

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out 0, so that the sign of a difference is known."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        """Write the figure with its sign, and the interval in brackets."""
        return f"{self.estimate:+.4f} ({self.low:+.4f} to {self.high:+.4f})"


def bootstrap_interval(
    differences: Sequence[ArrayLike],
    *,
    level: float = 0.95,
    repetitions: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> Interval:
    """Mean of paired differences over cells, with an interval by drawing whole images again (percentile bootstrap).

    Cells of an image are not independent, so images are what is drawn, with replacement; the figure of a draw is the
    mean over all cells of the images in it. Images that show the same cells, or results of one image in several
    folds, go into one entry.

    Parameters
    ----------
    differences : sequence of (N_i,) float
        One entry an image: for each of its cells the figure of one method minus that of the other. Entries may be
        empty. Any other figure of cells serves as well.
    level : float
        Between 0 and 1.
    repetitions : int
        Number of draws.
    rng : int or numpy Generator
        The same seed gives the same interval.

    Returns
    -------
    Interval
        With fewer than about ten images such intervals are known to be somewhat too narrow.

    Raises
    ------
    ValueError
        If there is no cell at all, fewer than two images have one, or a number is not finite.

    Examples
    --------
    >>> found = bootstrap_interval([[0.1, 0.2], [0.0], [0.3, 0.1, 0.2]])
    >>> round(found.estimate, 3), found.low >= 0, found.clear
    (0.15, True, False)
    """
    entries = [np.asarray(entry, dtype=np.float64).ravel() for entry in differences]
    entries = [entry for entry in entries if entry.size]
    if len(entries) < 2:
        raise ValueError(
            f"an interval needs at least two images with cells, got {len(entries)}; give one entry an image."
        )
    if not all(np.isfinite(entry).all() for entry in entries):
        raise ValueError("differences are finite numbers; leave out cells for which there is none.")
    if not 0 < level < 1 or repetitions < 1:
        raise ValueError(f"level lies in (0, 1) and repetitions >= 1; got {level} and {repetitions}.")
    sums, counts = np.array([entry.sum() for entry in entries]), np.array([entry.size for entry in entries])
    drawn = np.random.default_rng(rng).integers(len(entries), size=(repetitions, len(entries)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(sums.sum() / counts.sum()), float(low), float(high), level)
