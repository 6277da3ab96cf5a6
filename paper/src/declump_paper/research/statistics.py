"""Paired t-tests with effect sizes, and a correction for many of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import ttest_rel


@dataclass(frozen=True)
class PairedTest:
    """A paired t-test of two methods on the same images or cells.

    Attributes
    ----------
    count : int
        Number of pairs.
    difference : float
        Mean of the first minus the second.
    t : float
        NaN where all pairs are equal or fewer than two; infinite where all differ by the same.
    p : float
        Two-sided; NaN where t is.
    effect : float
        Cohen's d_z: the mean difference in standard deviations of the differences.
    """

    count: int
    difference: float
    t: float
    p: float
    effect: float


def paired_t_test(first: ArrayLike, second: ArrayLike) -> PairedTest:
    """Test whether the mean difference of pairs is zero.

    Parameters
    ----------
    first, second : (n,) float
        Figures of the two methods; a pair with NaN is left out.

    Returns
    -------
    PairedTest

    Raises
    ------
    ValueError
        If the two have other shapes.

    Examples
    --------
    >>> test = paired_t_test([1.0, 2.0, 3.0, 5.0], [0.0, 2.0, 1.0, 2.0])
    >>> round(test.t, 4), round(test.p, 4), round(test.effect, 4)
    (2.3238, 0.1027, 1.1619)
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape or one.ndim != 1:
        raise ValueError(f"pairs are two arrays (n,) of one length; given were {one.shape} and {other.shape}")
    known = np.isfinite(one) & np.isfinite(other)
    one, other = one[known], other[known]
    differences = one - other
    count = int(differences.size)
    mean = float(differences.mean()) if count else float("nan")
    if count < 2 or not differences.any():
        return PairedTest(count, mean, float("nan"), float("nan"), float("nan"))
    spread = float(differences.std(ddof=1))
    if spread <= 1e-14 * abs(mean):
        endless = float(np.copysign(np.inf, mean))
        return PairedTest(count, mean, endless, 0.0, endless)
    found = ttest_rel(one, other)
    return PairedTest(count, mean, float(found.statistic), float(found.pvalue), mean / spread)


def holm(values: Sequence[float]) -> list[float]:
    """Correct p-values for their number (Holm 1979).

    Parameters
    ----------
    values : sequence of float
        Plain p-values of all tests that are looked at together; NaN, a test that could not be made, stays NaN and does
        not count.

    Returns
    -------
    list of float
        In the same order: below a level exactly where Holm's procedure rejects at that level.

    Examples
    --------
    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    plain = np.asarray(values, dtype=np.float64)
    corrected = np.full(plain.shape, np.nan)
    known = np.flatnonzero(np.isfinite(plain))
    order = known[np.argsort(plain[known], kind="stable")]
    factors = len(order) - np.arange(len(order))
    corrected[order] = np.minimum(np.maximum.accumulate(plain[order] * factors), 1.0)
    return [float(value) for value in corrected]
