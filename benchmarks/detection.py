"""Nuclei found and missed."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment


def count_detected(found: np.ndarray, true: np.ndarray) -> int:
    """Nuclei found, one to one, each sharing over 60 % of both its own pixels and the true nucleus'."""
    size = (int(true.max()) + 1, int(found.max()) + 1)
    shared = np.bincount(true.ravel() * size[1] + found.ravel(), minlength=size[0] * size[1])
    shared = shared.reshape(size).astype(float)
    of_true, of_found = shared / np.maximum(shared.sum(1, keepdims=True), 1), shared / np.maximum(shared.sum(0), 1)
    good = ((of_true > 0.6) & (of_found > 0.6))[1:, 1:]
    return int(good[linear_sum_assignment(good, maximize=True)].sum())
