"""What the pixels in the bands round outlines add to the derivatives by the radii, and where outlines meet."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from declump._kernels.types import Floats, Ints, Meetings


class Visits(NamedTuple):
    """Visits of pixels by the bands round outlines, in turn; see ``Meetings``. ``pixel`` is a flat index."""

    cell: Ints
    sector: Ints
    fraction: Floats
    slope: Floats
    before: Ints
    pixel: Ints


@njit(cache=True, nogil=True)
def make_visits(capacity: int) -> Visits:
    """Give room for that many visits."""
    return Visits(
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity, dtype=np.int32),
        np.empty(capacity, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def add_visit(
    visits: Visits, count: int, cell: int, sector: int, fraction: float, slope: float, pixel: int, last: Ints
) -> int:
    """Note a visit after ``count`` others, and that it was the ``last`` of its pixel; give their number."""
    visits.cell[count], visits.sector[count] = cell, sector
    visits.fraction[count], visits.slope[count] = fraction, slope
    visits.before[count], visits.pixel[count] = last[pixel], pixel
    last[pixel] = count
    return count + 1


@njit(cache=True, nogil=True)
def end_visits(visits: Visits, count: int, last: Ints) -> Meetings:
    """Make ``last`` -1 everywhere again, and give the visits as the meetings that they hold."""
    for visit in range(count):
        last[visits.pixel[visit]] = -1
    return visits.cell[:count], visits.sector, visits.fraction, visits.slope, visits.before


@njit(cache=True, nogil=True)
def add_on_rays(
    by_radius: Floats,
    diagonal: Floats,
    adjacent: Floats,
    cell: int,
    sector: int,
    fraction: float,
    push: float,
    squared: float,
) -> None:
    """Share first and second derivatives at a pixel between the two rays of its sector."""
    following = sector + 1 if sector + 1 < by_radius.shape[1] else 0
    by_radius[cell, sector] += push * (1 - fraction)
    by_radius[cell, following] += push * fraction
    diagonal[cell, sector] += squared * (1 - fraction) * (1 - fraction)
    diagonal[cell, following] += squared * fraction * fraction
    adjacent[cell, sector] += squared * fraction * (1 - fraction)
