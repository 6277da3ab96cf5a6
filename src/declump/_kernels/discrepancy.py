"""How much of a clump the cells cover: the discrepancy, soft and hard."""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.outlines import add_visits, entries_within, pixels_inside, visit_bands
from declump._kernels.types import Floats, Ints, Mask, Meetings, PolarTable


@compiled
def cover(
    rows: Ints,
    columns: Ints,
    radii: Floats,
    softness: float,
    table: PolarTable,
    left: Floats,
    touched: Ints,
) -> int:
    """Multiply into ``left`` (H, W; ones before) what every cell leaves uncovered; give the number of pixels touched.

    Only the pixels of the table that a cell can reach are visited. ``touched`` receives the flat indices of pixels
    below one.
    """
    starts, d_rows, d_columns, distances, fractions = table
    cells, rays = radii.shape
    height, width = left.shape
    flat = left.ravel()
    count = 0
    for cell in range(cells):
        for sector in range(rays):
            near = radii[cell, sector]
            far = radii[cell, sector + 1 if sector + 1 < rays else 0]
            end = starts[sector + 1]
            band = entries_within(distances, starts[sector], end, min(near, far) - softness)
            outside = entries_within(distances, band, end, max(near, far) + softness)
            for entry in range(starts[sector], band):
                row, column = rows[cell] + d_rows[entry], columns[cell] + d_columns[entry]
                if 0 <= row < height and 0 <= column < width:
                    pixel = row * width + column
                    if flat[pixel] == 1.0:
                        touched[count] = pixel
                        count += 1
                    flat[pixel] = 0.0
            for entry in range(band, outside):
                row, column = rows[cell] + d_rows[entry], columns[cell] + d_columns[entry]
                depth = (near + fractions[entry] * (far - near) - distances[entry]) / softness
                if depth > -1 and 0 <= row < height and 0 <= column < width:
                    pixel = row * width + column
                    before = flat[pixel]
                    after = 0.0 if depth >= 1 else before * (0.5 - depth * (3 - depth * depth) / 4)
                    if before == 1.0 and after < 1.0:
                        touched[count] = pixel
                        count += 1
                    flat[pixel] = after
    return count


@compiled
def soft_discrepancy(clump: Floats, clump_size: int, left: Floats, touched: Ints, count: int) -> float:
    """Sum of ``(union - clump)^2`` over all pixels; twin of :func:`declump.evolution.energy.soft_discrepancy`.

    Untouched pixels have no union: together they give the clump's size less its touched pixels.
    """
    clump_flat, left_flat = clump.ravel(), left.ravel()
    total = float(clump_size)
    for place in range(count):
        pixel = touched[place]
        residual = 1.0 - left_flat[pixel] - clump_flat[pixel]
        total += residual * residual - clump_flat[pixel]
    return total


@compiled
def gather_discrepancy(
    rows: Ints,
    columns: Ints,
    radii: Floats,
    softness: float,
    table: PolarTable,
    clump: Floats,
    left: Floats,
    last: Ints,
    by_radius: Floats,
    diagonal: Floats,
    adjacent: Floats,
) -> Meetings:
    """Add the derivatives of the soft discrepancy by the radii; see :func:`add_visits`.

    ``left`` (H, W) is what :func:`cover` gives for these radii.
    """
    clump_flat, left_flat = clump.ravel(), left.ravel()
    visits = visit_bands(rows, columns, radii, softness, table, left.shape)
    _, _, _, depths, pixels = visits
    pushes, squares, slopes = np.zeros(len(pixels)), np.zeros(len(pixels)), np.zeros(len(pixels))
    for visit in range(len(pixels)):
        remaining, depth = left_flat[pixels[visit]], depths[visit]
        if remaining > 0.0:
            others = remaining / (0.5 - depth * (3 - depth * depth) / 4)
            slope = others * 0.75 * (1 - depth * depth) / softness
            pushes[visit] = 2 * (1.0 - remaining - clump_flat[pixels[visit]]) * slope
            squares[visit] = 2 * slope * slope
            slopes[visit] = slope
    return add_visits(visits, pushes, squares, slopes, last, by_radius, diagonal, adjacent)


@compiled
def hard_discrepancy(
    clump: Mask,
    clump_size: int,
    rows: Ints,
    columns: Ints,
    radii: Floats,
    rises: Floats,
    runs: Floats,
    table: PolarTable,
    union: Mask,
    touched: Ints,
) -> int:
    """Equation 2 with binary masks; twin of :func:`declump.evolution.energy.hard_discrepancy`.

    ``union`` is scratch, False for every pixel before and after.
    """
    union_flat, clump_flat = union.ravel(), clump.ravel()
    inside = np.empty(union.size, dtype=np.int64)
    count = 0
    for cell in range(len(radii)):
        size = pixels_inside(rows[cell], columns[cell], radii[cell], rises, runs, table, union.shape, inside)
        for pixel in inside[:size]:
            if not union_flat[pixel]:
                union_flat[pixel] = True
                touched[count] = pixel
                count += 1
    different = clump_size
    for place in range(count):
        different += -1 if clump_flat[touched[place]] else 1
        union_flat[touched[place]] = False
    return different
