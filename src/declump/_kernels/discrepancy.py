"""How much of a clump the cells cover: the discrepancy, soft and hard.

From one set of outlines to the next few pixels change. Those that lie surely inside a cell are counted in an image that
is kept, and brought up to date where the outlines have moved; only the pixels near outlines are looked at each time.
"""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.outlines import add_visits, entries_within, entries_within_near
from declump._kernels.types import ON_EDGE, Floats, Ints, Mask, Meetings, PolarTable, Visits


@compiled
def _move_interiors(
    rows: Ints,
    columns: Ints,
    radii: Floats,
    softness: float,
    table: PolarTable,
    clump: Mask,
    depths: Ints,
    inner: Ints,
    covered: Ints,
) -> None:
    """Count anew, in ``depths`` (H, W), in how many cells each pixel lies deeper than the softness.

    ``inner`` (N, K) tells up to which entry of its sector a cell was counted before, and is brought up to date, as is
    ``covered`` (2,): how many pixels of the clump (H, W), and outside it, lie in any cell.
    """
    starts, d_rows, d_columns, distances, _ = table
    cells, rays = radii.shape
    height, width = depths.shape
    flat, inside = depths.ravel(), clump.ravel()
    chord = np.cos(np.pi / rays) * 0.999999
    for cell in range(cells):
        for sector in range(rays):
            least = min(radii[cell, sector], radii[cell, sector + 1 if sector + 1 < rays else 0])
            limit = min(least - softness, least * chord)
            before = inner[cell, sector]
            after = entries_within_near(distances, starts[sector], starts[sector + 1], limit, before)
            inner[cell, sector] = after
            change = 1 if after > before else -1
            for entry in range(min(before, after), max(before, after)):
                row, column = rows[cell] + d_rows[entry], columns[cell] + d_columns[entry]
                if 0 <= row < height and 0 <= column < width:
                    # Without a sign it is not asked whether it counts from behind.
                    pixel = np.uint64(row * width + column)
                    depth = flat[pixel] + change
                    flat[pixel] = depth
                    if depth == (1 if change > 0 else 0):
                        covered[0 if inside[pixel] else 1] += change


@compiled
def _look_at_bands(
    rows: Ints,
    columns: Ints,
    radii: Floats,
    softness: float,
    table: PolarTable,
    rises: Floats,
    runs: Floats,
    depths: Ints,
    inner: Ints,
    places: Ints,
) -> tuple[Visits, Ints, Floats, Mask]:
    """Find the pixels in the bands round the outlines that no cell covers surely, as ``depths`` and ``inner`` tell.

    ``rises`` and ``runs`` (K,) are the directions of the rays; ``places`` (H, W) is scratch, -1 for every pixel before
    and after.

    Returns
    -------
    visits : Visits
        With the place of a pixel in what follows for its flat index.
    pixels : (U,)
        Their flat indices.
    left : (U,)
        What all cells leave uncovered of each.
    united : (U,)
        Whether it lies inside any outline.
    """
    starts, d_rows, d_columns, distances, fractions = table
    cells, rays = radii.shape
    height, width = depths.shape
    flat, place_of = depths.ravel(), places.ravel()
    outer = np.empty((cells, rays), np.int64)
    capacity = 0
    for cell in range(cells):
        for sector in range(rays):
            most = max(radii[cell, sector], radii[cell, sector + 1 if sector + 1 < rays else 0])
            first, end = inner[cell, sector], starts[sector + 1]
            outer[cell, sector] = entries_within(distances, first, end, most + softness)
            capacity += outer[cell, sector] - first
    at_cell, at_sector = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    at_fraction, at_depth = np.empty(capacity), np.empty(capacity)
    at_place = np.empty(capacity, np.int64)
    pixels, left, united = np.empty(capacity, np.int64), np.empty(capacity), np.empty(capacity, np.bool_)
    count, known = 0, 0
    for cell in range(cells):
        for sector in range(rays):
            following = sector + 1 if sector + 1 < rays else 0
            near, far = radii[cell, sector], radii[cell, following]
            start_y, start_x = near * rises[sector], near * runs[sector]
            edge_y, edge_x = far * rises[following] - start_y, far * runs[following] - start_x
            for entry in range(inner[cell, sector], outer[cell, sector]):
                y, x = d_rows[entry], d_columns[entry]
                row, column = rows[cell] + y, columns[cell] + x
                if not (0 <= row < height and 0 <= column < width):
                    continue
                pixel = np.uint64(row * width + column)
                if flat[pixel] > 0:
                    continue
                depth = (near + fractions[entry] * (far - near) - distances[entry]) / softness
                if not depth > -1:
                    continue
                place = place_of[pixel]
                if place < 0:
                    place = place_of[pixel] = known
                    pixels[known], left[known], united[known] = pixel, 1.0, False
                    known += 1
                if edge_x * (y - start_y) - edge_y * (x - start_x) > ON_EDGE:
                    united[place] = True
                if depth >= 1:
                    left[place] = 0.0
                    continue
                left[place] *= 0.5 - depth * (3 - depth * depth) / 4
                at_cell[count], at_sector[count] = cell, sector
                at_fraction[count], at_depth[count], at_place[count] = fractions[entry], depth, place
                count += 1
    for place in range(known):
        place_of[pixels[place]] = -1
    visits = at_cell[:count], at_sector[:count], at_fraction[:count], at_depth[:count], at_place[:count]
    return visits, pixels[:known], left[:known], united[:known]


@compiled
def _sum_discrepancies(
    clump: Mask, clump_size: int, covered: Ints, pixels: Ints, left: Floats, united: Mask
) -> tuple[float, int]:
    """Soft and hard discrepancy; twins of those of :mod:`declump.evolution.energy`.

    Pixels of the clump that no cell comes near count 1, as do those outside it that one surely covers.
    """
    inside = clump.ravel()
    different = clump_size - covered[0] + covered[1]
    soft = float(different)
    for place in range(len(pixels)):
        own = 1.0 if inside[pixels[place]] else 0.0
        residual = 1.0 - left[place] - own
        soft += residual * residual - own
        if united[place]:
            different += -1 if inside[pixels[place]] else 1
    return soft, different


@compiled
def cover(
    rows: Ints,
    columns: Ints,
    radii: Floats,
    softness: float,
    table: PolarTable,
    rises: Floats,
    runs: Floats,
    clump: Mask,
    clump_size: int,
    depths: Ints,
    inner: Ints,
    covered: Ints,
    places: Ints,
) -> tuple[Visits, Ints, Floats, float, int]:
    """Cover a clump (H, W) by cells, from where they were before, and compare.

    Returns
    -------
    visits, pixels, left
        As of the bands round the outlines.
    soft, hard
        Discrepancies.
    """
    _move_interiors(rows, columns, radii, softness, table, clump, depths, inner, covered)
    visits, pixels, left, united = _look_at_bands(
        rows, columns, radii, softness, table, rises, runs, depths, inner, places
    )
    soft, hard = _sum_discrepancies(clump, clump_size, covered, pixels, left, united)
    return visits, pixels, left, soft, hard


@compiled
def gather_discrepancy(
    visits: Visits,
    softness: float,
    clump: Mask,
    pixels: Ints,
    left: Floats,
    by_radius: Floats,
    diagonal: Floats,
    adjacent: Floats,
) -> Meetings:
    """Add the derivatives of the soft discrepancy by the radii; see :func:`add_visits`.

    ``visits``, ``pixels`` and ``left`` are what :func:`cover` gives for these radii.
    """
    cells, sectors, fractions, depths, places = visits
    inside = clump.ravel()
    pushes, squares, slopes = np.zeros(len(places)), np.zeros(len(places)), np.zeros(len(places))
    for visit in range(len(places)):
        remaining, depth = left[places[visit]], depths[visit]
        if remaining > 0.0:
            others = remaining / (0.5 - depth * (3 - depth * depth) / 4)
            slope = others * 0.75 * (1 - depth * depth) / softness
            own = 1.0 if inside[pixels[places[visit]]] else 0.0
            pushes[visit] = 2 * (1.0 - remaining - own) * slope
            squares[visit] = 2 * slope * slope
            slopes[visit] = slope
    kept = cells.copy(), sectors.copy(), fractions.copy(), depths, places.copy()
    last = np.full(len(pixels), -1, np.int32)
    return add_visits(kept, pushes, squares, slopes, last, by_radius, diagonal, adjacent)
