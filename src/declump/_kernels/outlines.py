"""Pixels of outlines: those inside one, and those in the soft band round it."""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.types import ON_EDGE, Floats, Ints, Meetings, PolarTable, Visits


@compiled
def entries_within(distances: Floats, first: int, end: int, limit: float) -> int:
    """Index behind the last entry of a sector, sorted by distance, that lies within a limit."""
    while first < end:
        middle = (first + end) // 2
        if distances[middle] <= limit:
            first = middle + 1
        else:
            end = middle
    return first


@compiled
def entries_within_near(distances: Floats, first: int, end: int, limit: float, guess: int) -> int:
    """Do what :func:`entries_within` does, faster where the index is not far from a guess."""
    step = 1
    if guess < end and distances[guess] <= limit:
        while guess + step < end and distances[guess + step] <= limit:
            guess, step = guess + step, 2 * step
        return entries_within(distances, guess + 1, min(guess + step, end), limit)
    while guess - step >= first and distances[guess - step] > limit:
        guess, step = guess - step, 2 * step
    return entries_within(distances, max(guess - step, first), guess, limit)


@compiled
def pixels_inside(
    row: int,
    column: int,
    radii: Floats,
    rises: Floats,
    runs: Floats,
    table: PolarTable,
    shape: tuple[int, int],
    pixels: Ints,
) -> int:
    """Write the flat indices of the pixels inside one outline into ``pixels``; give their number.

    The seed is at ``row`` and ``column``; ``rises`` and ``runs`` are the directions of the ``radii`` (K,).
    """
    starts, d_rows, d_columns, distances, _ = table
    height, width = shape
    rays = len(radii)
    count = 0
    for sector in range(rays):
        following = sector + 1 if sector + 1 < rays else 0
        near, far = radii[sector], radii[following]
        start_y, start_x = near * rises[sector], near * runs[sector]
        edge_y, edge_x = far * rises[following] - start_y, far * runs[following] - start_x
        certain = min(near, far) * np.cos(np.pi / rays) * 0.999999
        end = entries_within(distances, starts[sector], starts[sector + 1], max(near, far))
        for entry in range(starts[sector], end):
            y, x = d_rows[entry], d_columns[entry]
            at_row, at_column = row + y, column + x
            if (
                0 <= at_row < height
                and 0 <= at_column < width
                and (distances[entry] < certain or edge_x * (y - start_y) - edge_y * (x - start_x) > ON_EDGE)
            ):
                pixels[count] = at_row * width + at_column
                count += 1
    return count


@compiled
def add_visits(
    visits: Visits,
    pushes: Floats,
    squares: Floats,
    slopes: Floats,
    last: Ints,
    by_radius: Floats,
    diagonal: Floats,
    adjacent: Floats,
) -> Meetings:
    """Add what each visit gives to the derivatives by the radii: first, and second within a cell, (N, K) each.

    The second ones couple a ray with itself (``diagonal``) and with the next (``adjacent``); those of two cells whose
    outlines meet in a pixel follow from the meetings. A visit gives its ``pushes`` to the first derivative, its
    ``squares`` to the second; one without a slope is passed over. ``last`` (H W,) is scratch, -1 for every pixel before
    and after.
    """
    cells, sectors, fractions, _, pixels = visits
    rays = by_radius.shape[1]
    before = np.empty(len(cells), dtype=np.int32)
    count = 0
    for visit in range(len(cells)):
        if slopes[visit] == 0.0:
            continue
        cell, sector, fraction, pixel = cells[visit], sectors[visit], fractions[visit], pixels[visit]
        following = sector + 1 if sector + 1 < rays else 0
        push, squared = pushes[visit], squares[visit]
        by_radius[cell, sector] += push * (1 - fraction)
        by_radius[cell, following] += push * fraction
        diagonal[cell, sector] += squared * (1 - fraction) * (1 - fraction)
        diagonal[cell, following] += squared * fraction * fraction
        adjacent[cell, sector] += squared * fraction * (1 - fraction)
        cells[count], sectors[count], fractions[count], pixels[count] = cell, sector, fraction, pixel
        slopes[count], before[count] = slopes[visit], last[pixel]
        last[pixel] = count
        count += 1
    for visit in range(count):
        last[pixels[visit]] = -1
    return cells[:count], sectors, fractions, slopes, before
