"""Found points against marked ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


def match_points(found: Doubles, true: Doubles, reach: float | Doubles) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Match found points (N, 2) with true ones (M, 2) one to one: as many as can be, the nearest first.

    Parameters
    ----------
    found, true : (N, 2), (M, 2)
    reach : float or (N,)
        Largest distance of a pair; one for all found points, or one each.

    Returns
    -------
    of_found, of_true : (P,)
        Indices of the pairs.
    """
    from scipy.optimize import linear_sum_assignment

    away = np.hypot(*(found[:, None] - true[None]).transpose(2, 0, 1))
    allowed = away <= np.broadcast_to(np.asarray(reach, float).reshape(-1, 1), away.shape)
    # A pair counts for more than all that distances can differ by.
    merit = np.where(allowed, 1e3 - away, 0.0)
    rows, columns = linear_sum_assignment(merit, maximize=True)
    kept = allowed[rows, columns]
    return rows[kept], columns[kept]
