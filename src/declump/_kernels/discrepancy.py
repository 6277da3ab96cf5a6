"""How much of a clump the cells cover: the discrepancy, soft and hard."""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.types import ON_EDGE, Floats, Ints, Mask, Meetings, PolarTable


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
def outline_bands(radii: Floats, softness: float, table: PolarTable) -> tuple[Ints, int]:
    """First and end entry (N, K, 2) of the band round each outline, sector by sector, and how many lie in all."""
    starts, _, _, distances, _ = table
    cells, rays = radii.shape
    count = 0
    bands = np.empty((cells, rays, 2), dtype=np.int64)
    for cell in range(cells):
        for sector in range(rays):
            near, far = radii[cell, sector], radii[cell, sector + 1 if sector + 1 < rays else 0]
            end = starts[sector + 1]
            bands[cell, sector, 0] = entries_within(distances, starts[sector], end, min(near, far) - softness)
            bands[cell, sector, 1] = entries_within(distances, bands[cell, sector, 0], end, max(near, far) + softness)
            count += bands[cell, sector, 1] - bands[cell, sector, 0]
    return bands, count


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
    """Add the derivatives of the soft discrepancy by the radii: first, and second within a cell, (N, K) each.

    The second ones couple a ray with itself (``diagonal``) and with the next (``adjacent``); those of two cells whose
    outlines meet in a pixel follow from the meetings. ``left`` (H, W) is what :func:`cover` gives for these radii;
    ``last`` (H W,) is scratch, -1 for every pixel before and after.
    """
    _, d_rows, d_columns, distances, fractions = table
    cells, rays = radii.shape
    height, width = left.shape
    clump_flat, left_flat = clump.ravel(), left.ravel()
    bands, capacity = outline_bands(radii, softness, table)
    visit_cell = np.empty(capacity, dtype=np.int32)
    visit_sector = np.empty(capacity, dtype=np.int32)
    visit_fraction = np.empty(capacity)
    visit_slope = np.empty(capacity)
    visit_before = np.empty(capacity, dtype=np.int32)
    visit_pixel = np.empty(capacity, dtype=np.int64)
    visits = 0
    for cell in range(cells):
        for sector in range(rays):
            following = sector + 1 if sector + 1 < rays else 0
            near, far = radii[cell, sector], radii[cell, following]
            for entry in range(bands[cell, sector, 0], bands[cell, sector, 1]):
                row, column = rows[cell] + d_rows[entry], columns[cell] + d_columns[entry]
                if not (0 <= row < height and 0 <= column < width):
                    continue
                pixel = row * width + column
                remaining = left_flat[pixel]
                fraction = fractions[entry]
                depth = (near + fraction * (far - near) - distances[entry]) / softness
                if remaining == 0.0 or depth <= -1 or depth >= 1:
                    continue
                others = remaining / (0.5 - depth * (3 - depth * depth) / 4)
                slope = others * 0.75 * (1 - depth * depth) / softness
                push = 2 * (1.0 - remaining - clump_flat[pixel]) * slope
                by_radius[cell, sector] += push * (1 - fraction)
                by_radius[cell, following] += push * fraction
                squared = 2 * slope * slope
                diagonal[cell, sector] += squared * (1 - fraction) * (1 - fraction)
                diagonal[cell, following] += squared * fraction * fraction
                adjacent[cell, sector] += squared * fraction * (1 - fraction)
                visit_cell[visits], visit_sector[visits] = cell, sector
                visit_fraction[visits], visit_slope[visits] = fraction, slope
                visit_before[visits], visit_pixel[visits] = last[pixel], pixel
                last[pixel] = visits
                visits += 1
    for visit in range(visits):
        last[visit_pixel[visit]] = -1
    return visit_cell[:visits], visit_sector, visit_fraction, visit_slope, visit_before


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
    starts, d_rows, d_columns, distances, _ = table
    cells, rays = radii.shape
    height, width = union.shape
    union_flat, clump_flat = union.ravel(), clump.ravel()
    count = 0
    for cell in range(cells):
        for sector in range(rays):
            following = sector + 1 if sector + 1 < rays else 0
            near, far = radii[cell, sector], radii[cell, following]
            start_y, start_x = near * rises[sector], near * runs[sector]
            edge_y, edge_x = far * rises[following] - start_y, far * runs[following] - start_x
            certain = min(near, far) * np.cos(np.pi / rays) * 0.999999
            end = entries_within(distances, starts[sector], starts[sector + 1], max(near, far))
            for entry in range(starts[sector], end):
                y, x = d_rows[entry], d_columns[entry]
                row, column = rows[cell] + y, columns[cell] + x
                if not (0 <= row < height and 0 <= column < width):
                    continue
                pixel = row * width + column
                if union_flat[pixel]:
                    continue
                if distances[entry] < certain or edge_x * (y - start_y) - edge_y * (x - start_x) > ON_EDGE:
                    union_flat[pixel] = True
                    touched[count] = pixel
                    count += 1
    different = clump_size
    for place in range(count):
        different += -1 if clump_flat[touched[place]] else 1
        union_flat[touched[place]] = False
    return different
