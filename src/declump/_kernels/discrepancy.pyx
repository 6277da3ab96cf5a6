"""How much of a clump the cells cover: the discrepancy, soft and hard.

From one set of outlines to the next few pixels change. Those that lie surely inside a cell are counted in an image that
is kept, and brought up to date where the outlines have moved; only the pixels near outlines are looked at each time.
"""

from libc.stdint cimport int16_t, int32_t, int64_t

from declump._kernels.outlines cimport ON_EDGE, entries_within, entries_within_near, share_within

import numpy as np


cdef void _move_interiors(
    const int64_t[::1] rows,
    const int64_t[::1] columns,
    const double[:, ::1] radii,
    double softness,
    const int64_t[::1] starts,
    const int32_t[::1] d_rows,
    const int32_t[::1] d_columns,
    const double[::1] distances,
    const unsigned char[:, :] clump,
    int16_t[:, ::1] depths,
    int64_t[:, ::1] inner,
    int64_t[::1] covered,
) noexcept nogil:
    """Count anew, in ``depths`` (H, W), in how many cells each pixel lies deeper than the softness.

    ``inner`` (N, K) tells up to which entry of its sector a cell was counted before, and is brought up to date, as is
    ``covered`` (2,): how many pixels of the clump (H, W), and outside it, lie in any cell.
    """
    cdef Py_ssize_t rays = radii.shape[1], cell, sector, before, after, entry, row, column
    cdef double least, limit, chord = share_within(rays)
    cdef int change, depth
    for cell in range(radii.shape[0]):
        for sector in range(rays):
            least = min(radii[cell, sector], radii[cell, sector + 1 if sector + 1 < rays else 0])
            limit = min(least - softness, least * chord)
            before = inner[cell, sector]
            after = entries_within_near(distances, starts[sector], starts[sector + 1], limit, before)
            inner[cell, sector] = after
            change = 1 if after > before else -1
            for entry in range(min(before, after), max(before, after)):
                row, column = rows[cell] + d_rows[entry], columns[cell] + d_columns[entry]
                if 0 <= row < depths.shape[0] and 0 <= column < depths.shape[1]:
                    depth = depths[row, column] + change
                    depths[row, column] = depth
                    if depth == (1 if change > 0 else 0):
                        covered[0 if clump[row, column] else 1] += change


cdef Py_ssize_t _find_bands(
    const double[:, ::1] radii,
    double softness,
    const int64_t[::1] starts,
    const double[::1] distances,
    const int64_t[:, ::1] inner,
    int64_t[:, ::1] outer,
) noexcept nogil:
    """Find up to which entry of each sector (N, K) the band round an outline reaches; give the entries in all bands."""
    cdef Py_ssize_t rays = radii.shape[1], capacity = 0, cell, sector
    cdef double most
    for cell in range(radii.shape[0]):
        for sector in range(rays):
            most = max(radii[cell, sector], radii[cell, sector + 1 if sector + 1 < rays else 0])
            outer[cell, sector] = entries_within(distances, inner[cell, sector], starts[sector + 1], most + softness)
            capacity += outer[cell, sector] - inner[cell, sector]
    return capacity


def _look_at_bands(
    const int64_t[::1] rows,
    const int64_t[::1] columns,
    const double[:, ::1] radii,
    double softness,
    table,
    const double[::1] rises,
    const double[::1] runs,
    const int16_t[:, ::1] depths,
    const int64_t[:, ::1] inner,
    int32_t[:, ::1] places,
):
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
    cdef const int64_t[::1] starts = table.starts
    cdef const int32_t[::1] d_rows = table.rows, d_columns = table.columns
    cdef const double[::1] distances = table.distances, fractions = table.fractions
    cdef Py_ssize_t cells = radii.shape[0], rays = radii.shape[1], height = depths.shape[0], width = depths.shape[1]
    cdef Py_ssize_t cell, sector, following, entry, y, x, row, column, capacity, count = 0, known = 0
    cdef double near, far, start_y, start_x, edge_y, edge_x, depth
    cdef int32_t place
    cdef int64_t[:, ::1] outer = np.empty((cells, rays), np.int64)
    with nogil:
        capacity = _find_bands(radii, softness, starts, distances, inner, outer)
    in_cells, in_sectors = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    in_fractions, in_depths, in_places = np.empty(capacity), np.empty(capacity), np.empty(capacity, np.int64)
    of_pixels, of_left, of_united = np.empty(capacity, np.int64), np.empty(capacity), np.empty(capacity, np.bool_)
    cdef int32_t[::1] at_cell = in_cells, at_sector = in_sectors
    cdef double[::1] at_fraction = in_fractions, at_depth = in_depths, left = of_left
    cdef int64_t[::1] at_place = in_places, pixels = of_pixels
    cdef unsigned char[::1] united = of_united
    with nogil:
        for cell in range(cells):
            for sector in range(rays):
                following = sector + 1 if sector + 1 < rays else 0
                near, far = radii[cell, sector], radii[cell, following]
                start_y, start_x = near * rises[sector], near * runs[sector]
                edge_y, edge_x = far * rises[following] - start_y, far * runs[following] - start_x
                for entry in range(inner[cell, sector], outer[cell, sector]):
                    y, x = d_rows[entry], d_columns[entry]
                    row, column = rows[cell] + y, columns[cell] + x
                    if not (0 <= row < height and 0 <= column < width) or depths[row, column] > 0:
                        continue
                    depth = (near + fractions[entry] * (far - near) - distances[entry]) / softness
                    if not depth > -1:
                        continue
                    place = places[row, column]
                    if place < 0:
                        place = places[row, column] = known
                        pixels[known], left[known], united[known] = row * width + column, 1.0, False
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
        for entry in range(known):
            (&places[0, 0])[pixels[entry]] = -1
    visits = in_cells[:count], in_sectors[:count], in_fractions[:count], in_depths[:count], in_places[:count]
    return visits, of_pixels[:known], of_left[:known], of_united[:known]


def _sum_discrepancies(
    const unsigned char[::1] clump,
    Py_ssize_t clump_size,
    const int64_t[::1] covered,
    const int64_t[::1] pixels,
    const double[::1] left,
    const unsigned char[::1] united,
):
    """Soft and hard discrepancy; twins of those of :mod:`declump.evolution.energy`.

    Pixels of the clump (H W,) that no cell comes near count 1, as do those outside it that one surely covers.
    """
    cdef Py_ssize_t different = clump_size - covered[0] + covered[1], place
    cdef double soft = different, own, residual
    with nogil:
        for place in range(pixels.shape[0]):
            own = 1.0 if clump[pixels[place]] else 0.0
            residual = 1.0 - left[place] - own
            soft += residual * residual - own
            if united[place]:
                different += -1 if own else 1
    return soft, different


def cover(
    const int64_t[::1] rows,
    const int64_t[::1] columns,
    const double[:, ::1] radii,
    double softness,
    table,
    const double[::1] rises,
    const double[::1] runs,
    const unsigned char[:, :] clump,
    Py_ssize_t clump_size,
    int16_t[:, ::1] depths,
    int64_t[:, ::1] inner,
    int64_t[::1] covered,
    int32_t[:, ::1] places,
):
    """Cover a clump (H, W) by cells, from where they were before, and compare.

    Returns
    -------
    visits, pixels, left
        As of the bands round the outlines.
    soft, hard
        Discrepancies.
    """
    cdef const int64_t[::1] starts = table.starts
    cdef const int32_t[::1] d_rows = table.rows, d_columns = table.columns
    cdef const double[::1] distances = table.distances
    with nogil:
        _move_interiors(
            rows, columns, radii, softness, starts, d_rows, d_columns, distances, clump, depths, inner, covered
        )
    visits, pixels, left, united = _look_at_bands(
        rows, columns, radii, softness, table, rises, runs, depths, inner, places
    )
    soft, hard = _sum_discrepancies(np.ravel(clump), clump_size, covered, pixels, left, united)
    return visits, pixels, left, soft, hard


def gather_discrepancy(
    visits,
    double softness,
    clump,
    const int64_t[::1] pixels,
    const double[::1] left,
    double[:, ::1] by_radius,
    double[:, ::1] diagonal,
    double[:, ::1] adjacent,
):
    """Add what each visit gives to the derivatives by the radii: first, and second within a cell, (N, K) each.

    ``visits``, ``pixels`` and ``left`` are what :func:`cover` gives for these radii. The second derivatives couple a ray
    with itself (``diagonal``) and with the next (``adjacent``); those of two cells whose outlines meet in a pixel follow
    from the meetings, which are given.
    """
    in_cells, in_sectors, in_fractions, in_depths, in_places = visits
    cdef const int32_t[::1] cells = in_cells, sectors = in_sectors
    cdef const double[::1] fractions = in_fractions, depths = in_depths
    cdef const int64_t[::1] places = in_places
    cdef const unsigned char[::1] inside = clump.ravel()
    cdef Py_ssize_t rays = by_radius.shape[1], count = 0, visit, cell, sector, following, place
    cdef double remaining, depth, others, slope, own, push, squared, fraction
    size = len(in_places)
    of_cells, of_sectors, of_earlier = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    of_fractions, of_slopes = np.empty(size), np.empty(size)
    cdef int32_t[::1] met_cells = of_cells, met_sectors = of_sectors, earlier = of_earlier
    cdef double[::1] met_fractions = of_fractions, slopes = of_slopes
    cdef int32_t[::1] last = np.full(pixels.shape[0], -1, np.int32)
    with nogil:
        for visit in range(places.shape[0]):
            place, depth = places[visit], depths[visit]
            remaining = left[place]
            if not remaining > 0.0:
                continue
            others = remaining / (0.5 - depth * (3 - depth * depth) / 4)
            slope = others * 0.75 * (1 - depth * depth) / softness
            if slope == 0.0:
                continue
            own = 1.0 if inside[pixels[place]] else 0.0
            push, squared = 2 * (1.0 - remaining - own) * slope, 2 * slope * slope
            cell, sector, fraction = cells[visit], sectors[visit], fractions[visit]
            following = sector + 1 if sector + 1 < rays else 0
            by_radius[cell, sector] += push * (1 - fraction)
            by_radius[cell, following] += push * fraction
            diagonal[cell, sector] += squared * (1 - fraction) * (1 - fraction)
            diagonal[cell, following] += squared * fraction * fraction
            adjacent[cell, sector] += squared * fraction * (1 - fraction)
            met_cells[count], met_sectors[count], met_fractions[count] = cell, sector, fraction
            slopes[count], earlier[count] = slope, last[place]
            last[place] = count
            count += 1
    return of_cells[:count], of_sectors[:count], of_fractions[:count], of_slopes[:count], of_earlier[:count]
