"""Compiled twins of the readable NumPy code: the same numbers, fast.

Each kernel names the function it doubles; the tests hold the two together. None of them runs in parallel, so that the
same input gives the same bytes whatever the number of threads.

Shapes are written in these letters: N cells of a clump, K rays, P parameters a cell, H rows and W columns.
"""

from __future__ import annotations

import numpy as np
from numba import njit

TAU = 2 * np.pi


@njit(cache=True, nogil=True)
def rotation_taps(angle, rays):
    """Whole shift, four Catmull-Rom weights and their derivatives by the angle, for turning K radii by an angle."""
    shift = angle * rays / TAU
    whole = int(np.floor(shift))
    f = shift - whole
    weights = np.empty(4)
    weights[0] = (-f + 2 * f * f - f * f * f) / 2
    weights[1] = (2 - 5 * f * f + 3 * f * f * f) / 2
    weights[2] = (f + 4 * f * f - 3 * f * f * f) / 2
    weights[3] = (-f * f + f * f * f) / 2
    slopes = np.empty(4)
    slopes[0] = (-1 + 4 * f - 3 * f * f) / 2
    slopes[1] = (-10 * f + 9 * f * f) / 2
    slopes[2] = (1 + 8 * f - 9 * f * f) / 2
    slopes[3] = (-2 * f + 3 * f * f) / 2
    return whole, weights, slopes * (rays / TAU)


@njit(cache=True, nogil=True)
def _border_distance(height, width, row, column, rise, run):
    border = np.inf
    if abs(rise) > 1e-12:
        border = ((height - 0.5 if rise > 0 else -0.5) - row) / rise
    if abs(run) > 1e-12:
        border = min(border, ((width - 0.5 if run > 0 else -0.5) - column) / run)
    return max(border, 0.0)


@njit(cache=True, nogil=True)
def _look(mask, row, column):
    """Bilinear value of a mask at a point, beyond the outer pixel centres as on them."""
    height, width = mask.shape
    row = min(max(row, 0.0), height - 1.0)
    column = min(max(column, 0.0), width - 1.0)
    top, left = int(row), int(column)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = row - top, column - left
    upper = (1 - across) * mask[top, left] + across * mask[top, right]
    lower = (1 - across) * mask[bottom, left] + across * mask[bottom, right]
    return (1 - down) * upper + down * lower


@njit(cache=True, nogil=True)
def outermost_crossings(mask, row, column, rises, runs, step):
    """Twin of the outermost crossing read from :func:`declump.contours.sample_ray`, for all rays."""
    rays = rises.size
    radii = np.zeros(rays)
    cut = np.zeros(rays, dtype=np.bool_)
    for ray in range(rays):
        border = _border_distance(mask.shape[0], mask.shape[1], row, column, rises[ray], runs[ray])
        outer, outer_value = border, _look(mask, row + border * rises[ray], column + border * runs[ray])
        if outer_value >= 0.5:
            radii[ray], cut[ray] = border, True
            continue
        for look in range(int(np.ceil(border / step)) - 1, -1, -1):
            distance = look * step
            value = _look(mask, row + distance * rises[ray], column + distance * runs[ray])
            if value >= 0.5:
                radii[ray] = distance + (outer - distance) * (value - 0.5) / (value - outer_value)
                break
            outer, outer_value = distance, value
    return radii, cut


@njit(cache=True, nogil=True)
def first_exits(mask, row, column, rises, runs, step):
    """Twin of the first exit read from :func:`declump.contours.sample_ray`, for all rays."""
    rays = rises.size
    exits = np.zeros(rays)
    at_seed = _look(mask, row, column)
    if at_seed < 0.5:
        return exits
    for ray in range(rays):
        border = _border_distance(mask.shape[0], mask.shape[1], row, column, rises[ray], runs[ray])
        inner, inner_value, look = 0.0, at_seed, 1
        exits[ray] = np.inf
        while inner < border:
            distance = min(look * step, border)
            value = _look(mask, row + distance * rises[ray], column + distance * runs[ray])
            if value < 0.5:
                exits[ray] = inner + (distance - inner) * (inner_value - 0.5) / (inner_value - value)
                break
            inner, inner_value = distance, value
            look += 1
    return exits


@njit(cache=True, nogil=True)
def fill_contour(mask, row, column, radii, rises, runs):
    """Set the pixels of ``mask`` that lie inside a contour; twin of :func:`declump.contours.inside`."""
    rays = radii.size
    reach, certain = 0.0, np.inf
    for ray in range(rays):
        reach = max(reach, radii[ray])
        certain = min(certain, radii[ray])
    certain *= np.cos(np.pi / rays) * 0.999999
    first, end = max(int(np.ceil(row - reach)), 0), min(int(np.floor(row + reach)) + 1, mask.shape[0])
    left, right = max(int(np.ceil(column - reach)), 0), min(int(np.floor(column + reach)) + 1, mask.shape[1])
    for r in range(first, end):
        y = r - row
        for c in range(left, right):
            x = c - column
            squared = x * x + y * y
            if squared < certain * certain:
                mask[r, c] = True
            elif squared <= reach * reach:
                sector = int((np.arctan2(y, x) % TAU) * (rays / TAU)) % rays
                following = sector + 1 if sector + 1 < rays else 0
                start_y, start_x = radii[sector] * rises[sector], radii[sector] * runs[sector]
                edge_y = radii[following] * rises[following] - start_y
                edge_x = radii[following] * runs[following] - start_x
                if edge_x * (y - start_y) - edge_y * (x - start_x) > 0:
                    mask[r, c] = True


@njit(cache=True, nogil=True)
def largest_copy(shape, exits, tolerated):
    """Twin of :func:`declump.alignment.largest_copy_by_sorting`: scale and shift of the largest inscribed copy."""
    rays = shape.size
    smallest = np.empty(tolerated + 1)
    best_scale, best_shift = -1.0, 0
    for shift in range(rays):
        smallest[:] = np.inf
        for ray in range(rays):
            source = ray - shift
            if source < 0:
                source += rays
            ratio = exits[ray] / shape[source]
            if ratio < smallest[tolerated]:
                place = tolerated
                while place > 0 and smallest[place - 1] > ratio:
                    smallest[place] = smallest[place - 1]
                    place -= 1
                smallest[place] = ratio
                if smallest[tolerated] <= best_scale:
                    break
        if smallest[tolerated] > best_scale:
            best_scale, best_shift = smallest[tolerated], shift
    return best_scale, best_shift


@njit(cache=True, nogil=True)
def pose(mean, modes, coefficients, log_scale, rotation, radii, basis):
    """Radii (K,) of a posed shape, and their derivatives (K, P) by coefficients, log scale and rotation.

    Twin of :func:`declump.energy.pose`.
    """
    rays, count = modes.shape
    whole, weights, slopes = rotation_taps(rotation, rays)
    scale = np.exp(log_scale)
    shape = mean + modes @ coefficients
    for ray in range(rays):
        value, slope = 0.0, 0.0
        for mode in range(count):
            basis[ray, mode] = 0.0
        for tap in range(4):
            source = (ray - whole - tap + 1) % rays
            value += weights[tap] * shape[source]
            slope += slopes[tap] * shape[source]
            weight = scale * weights[tap]
            for mode in range(count):
                basis[ray, mode] += weight * modes[source, mode]
        radii[ray] = scale * value
        basis[ray, count] = scale * value
        basis[ray, count + 1] = scale * slope


@njit(cache=True, nogil=True)
def _entries_within(distances, first, end, limit):
    """Index behind the last entry of a sector, sorted by distance, that lies within a limit."""
    while first < end:
        middle = (first + end) // 2
        if distances[middle] <= limit:
            first = middle + 1
        else:
            end = middle
    return first


@njit(cache=True, nogil=True)
def cover(rows, columns, radii, softness, table, left, touched):
    """Multiply into ``left`` (H, W; ones before) what every cell leaves uncovered; give the number of pixels touched.

    ``table`` is a :class:`declump.energy.PolarTable`: the pixels round a seed, sector by sector, from near to far, so
    that only the pixels a cell can reach are visited. ``touched`` receives the flat indices of pixels below one.
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
            band = _entries_within(distances, starts[sector], end, min(near, far) - softness)
            outside = _entries_within(distances, band, end, max(near, far) + softness)
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


@njit(cache=True, nogil=True)
def soft_discrepancy(clump, clump_size, left, touched, count):
    """Sum of ``(union - clump)^2`` over all pixels; twin of :func:`declump.energy.soft_discrepancy`.

    Untouched pixels have no union: together they give the clump's size less its touched pixels.
    """
    clump_flat, left_flat = clump.ravel(), left.ravel()
    total = float(clump_size)
    for place in range(count):
        pixel = touched[place]
        residual = 1.0 - left_flat[pixel] - clump_flat[pixel]
        total += residual * residual - clump_flat[pixel]
    return total


@njit(cache=True, nogil=True)
def hard_discrepancy(clump, clump_size, rows, columns, radii, rises, runs, table, union, touched):
    """Equation 2 with binary masks; twin of :func:`declump.energy.hard_discrepancy`. ``union`` is False before and after."""
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
            for entry in range(starts[sector], _entries_within(distances, starts[sector], starts[sector + 1], max(near, far))):
                y, x = d_rows[entry], d_columns[entry]
                row, column = rows[cell] + y, columns[cell] + x
                if not (0 <= row < height and 0 <= column < width):
                    continue
                pixel = row * width + column
                if union_flat[pixel]:
                    continue
                if distances[entry] < certain or edge_x * (y - start_y) - edge_y * (x - start_x) > 0:
                    union_flat[pixel] = True
                    touched[count] = pixel
                    count += 1
    different = clump_size
    for place in range(count):
        different += -1 if clump_flat[touched[place]] else 1
        union_flat[touched[place]] = False
    return different


@njit(cache=True, nogil=True)
def normal_equations(rows, columns, radii, basis, softness, table, clump, left, last, targets, precisions):
    """Gradient, diagonal blocks and off-diagonal blocks of the Gauss-Newton model of the soft energy.

    Twin of :func:`declump.energy.normal_equations`. ``left`` is what :func:`cover` gives for these radii; ``last`` is
    scratch, -1 for every pixel before and after. What the pixels say is gathered on the rays first, which costs little,
    and then carried over to the parameters.

    Returns
    -------
    gradient : (N, P)
    blocks : (N, P, P)
    pairs : (Q, 2) int64
        The pairs of cells whose outlines meet in a pixel; only they share a block.
    shared : (Q, P, P)
    """
    by_radius, diagonal, adjacent, meetings = _gather_on_rays(
        rows, columns, radii, softness, table, clump.ravel(), left.ravel(), left.shape[1], last
    )
    by_radius += 2 * precisions * (radii - targets)
    diagonal += 2 * precisions
    gradient, blocks = _own_blocks(basis, by_radius, diagonal, adjacent)
    pairs, shared = _shared_blocks(basis, meetings)
    return gradient, blocks, pairs, shared


@njit(cache=True, nogil=True)
def _gather_on_rays(rows, columns, radii, softness, table, clump, left, width, last):
    """Derivatives of the discrepancy by the radii: first, and second within a cell, (N, K) each.

    The second ones couple a ray with itself (``diagonal``) and with the next (``adjacent``). Where outlines of two
    cells meet in a pixel is kept as ``meetings``: for each visit of a pixel its cell, sector, fraction, slope, and the
    visit by an earlier cell or -1.
    """
    starts, d_rows, d_columns, distances, fractions = table
    cells, rays = radii.shape
    height = left.size // width
    capacity = 0
    bands = np.empty((cells, rays, 2), dtype=np.int64)
    for cell in range(cells):
        for sector in range(rays):
            near, far = radii[cell, sector], radii[cell, sector + 1 if sector + 1 < rays else 0]
            end = starts[sector + 1]
            bands[cell, sector, 0] = _entries_within(distances, starts[sector], end, min(near, far) - softness)
            bands[cell, sector, 1] = _entries_within(distances, bands[cell, sector, 0], end, max(near, far) + softness)
            capacity += bands[cell, sector, 1] - bands[cell, sector, 0]
    visit_cell = np.empty(capacity, dtype=np.int32)
    visit_sector = np.empty(capacity, dtype=np.int32)
    visit_fraction = np.empty(capacity)
    visit_slope = np.empty(capacity)
    visit_before = np.empty(capacity, dtype=np.int32)
    visit_pixel = np.empty(capacity, dtype=np.int64)
    visits = 0
    by_radius = np.zeros((cells, rays))
    diagonal = np.zeros((cells, rays))
    adjacent = np.zeros((cells, rays))
    for cell in range(cells):
        for sector in range(rays):
            following = sector + 1 if sector + 1 < rays else 0
            near, far = radii[cell, sector], radii[cell, following]
            for entry in range(bands[cell, sector, 0], bands[cell, sector, 1]):
                row, column = rows[cell] + d_rows[entry], columns[cell] + d_columns[entry]
                if not (0 <= row < height and 0 <= column < width):
                    continue
                pixel = row * width + column
                remaining = left[pixel]
                fraction = fractions[entry]
                depth = (near + fraction * (far - near) - distances[entry]) / softness
                if remaining == 0.0 or depth <= -1 or depth >= 1:
                    continue
                others = remaining / (0.5 - depth * (3 - depth * depth) / 4)
                slope = others * 0.75 * (1 - depth * depth) / softness
                push = 2 * (1.0 - remaining - clump[pixel]) * slope
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
    meetings = visit_cell[:visits], visit_sector, visit_fraction, visit_slope, visit_before
    return by_radius, diagonal, adjacent, meetings


@njit(cache=True, nogil=True)
def _own_blocks(basis, by_radius, diagonal, adjacent):
    """Gradient (N, P) and diagonal blocks (N, P, P) from the derivatives by the radii."""
    cells, rays, parameters = basis.shape
    gradient = np.zeros((cells, parameters))
    blocks = np.zeros((cells, parameters, parameters))
    weighted = np.empty(parameters)
    for cell in range(cells):
        own, block = basis[cell], blocks[cell]
        for ray in range(rays):
            before, following = ray - 1 if ray > 0 else rays - 1, ray + 1 if ray + 1 < rays else 0
            on, back, forth = diagonal[cell, ray], adjacent[cell, before], adjacent[cell, ray]
            if on == 0.0:
                continue
            for p in range(parameters):
                gradient[cell, p] += by_radius[cell, ray] * own[ray, p]
                weighted[p] = on * own[ray, p] + forth * own[following, p] + back * own[before, p]
            for p in range(parameters):
                value = own[ray, p]
                for q in range(parameters):
                    block[p, q] += value * weighted[q]
    return gradient, blocks


@njit(cache=True, nogil=True)
def _shared_blocks(basis, meetings):
    """Off-diagonal blocks (Q, P, P) of the pairs (Q, 2) of cells that meet, the earlier cell first."""
    visit_cell, visit_sector, visit_fraction, visit_slope, visit_before = meetings
    cells, rays, parameters = basis.shape
    pair_of = np.full((cells, cells), -1, dtype=np.int32)
    count = 0
    for visit in range(visit_cell.size):
        other = visit_before[visit]
        while other >= 0:
            if pair_of[visit_cell[other], visit_cell[visit]] < 0:
                pair_of[visit_cell[other], visit_cell[visit]] = count
                count += 1
            other = visit_before[other]
    pairs = np.empty((count, 2), dtype=np.int64)
    for first in range(cells):
        for second in range(cells):
            if pair_of[first, second] >= 0:
                pairs[pair_of[first, second]] = first, second
    shared = np.zeros((count, parameters, parameters))
    later = np.empty(parameters)
    for visit in range(visit_cell.size):
        other = visit_before[visit]
        if other < 0:
            continue
        cell, sector, fraction = visit_cell[visit], visit_sector[visit], visit_fraction[visit]
        following = sector + 1 if sector + 1 < rays else 0
        for q in range(parameters):
            later[q] = (1 - fraction) * basis[cell, sector, q] + fraction * basis[cell, following, q]
        while other >= 0:
            earlier, sector, fraction = visit_cell[other], visit_sector[other], visit_fraction[other]
            following = sector + 1 if sector + 1 < rays else 0
            block = shared[pair_of[earlier, cell]]
            factor = 2 * visit_slope[visit] * visit_slope[other]
            for p in range(parameters):
                value = factor * ((1 - fraction) * basis[earlier, sector, p] + fraction * basis[earlier, following, p])
                for q in range(parameters):
                    block[p, q] += value * later[q]
            other = visit_before[other]
    return pairs, shared


@njit(cache=True, nogil=True)
def _multiply(blocks, pairs, shared, vector, product):
    cells, parameters = vector.shape
    for cell in range(cells):
        product[cell] = blocks[cell] @ vector[cell]
    for pair in range(len(pairs)):
        first, second = pairs[pair]
        block = shared[pair]
        product[first] += block @ vector[second]
        product[second] += block.T @ vector[first]


@njit(cache=True, nogil=True)
def truncated_conjugate_gradient(gradient, blocks, pairs, shared, free, radius, tolerance, bound):
    """Steihaug's method: the step in a trust region of a block-sparse quadratic model; fixed parameters do not move.

    Returns
    -------
    step : (N, P)
    on_border : bool
        Whether the step ends on the border of the region.
    """
    step = np.zeros_like(gradient)
    residual = -gradient * free
    direction = residual.copy()
    product = np.empty_like(gradient)
    squared = np.sum(residual * residual)
    target = squared * tolerance * tolerance
    for _ in range(bound):
        if squared <= target or squared == 0.0:
            break
        _multiply(blocks, pairs, shared, direction, product)
        product *= free
        curvature = np.sum(direction * product)
        length = squared / curvature if curvature > 0 else np.inf
        a, b, c = np.sum(direction * direction), np.sum(step * direction), np.sum(step * step) - radius * radius
        to_border = (-b + np.sqrt(max(b * b - a * c, 0.0))) / a
        if length >= to_border:
            step += to_border * direction
            return step, True
        step += length * direction
        residual -= length * product
        following = np.sum(residual * residual)
        direction = residual + (following / squared) * direction
        squared = following
    return step, False


@njit(cache=True, nogil=True)
def predicted_decrease(gradient, blocks, pairs, shared, step):
    """Decrease of the block-sparse quadratic model along a step."""
    product = np.empty_like(step)
    _multiply(blocks, pairs, shared, step, product)
    return -np.sum(gradient * step) - 0.5 * np.sum(step * product)
