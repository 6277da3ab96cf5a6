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
            solid, end = min(near, far) - softness, max(near, far) + softness
            for entry in range(starts[sector], starts[sector + 1]):
                distance = distances[entry]
                if distance >= end:
                    break
                row, column = rows[cell] + d_rows[entry], columns[cell] + d_columns[entry]
                if row < 0 or row >= height or column < 0 or column >= width:
                    continue
                pixel = row * width + column
                before = flat[pixel]
                if distance <= solid:
                    after = 0.0
                else:
                    depth = (near + fractions[entry] * (far - near) - distance) / softness
                    if depth <= -1:
                        continue
                    after = 0.0 if depth >= 1 else before * (0.5 - depth * (3 - depth * depth) / 4)
                if before == 1.0 and after < 1.0:
                    touched[count] = pixel
                    count += 1
                flat[pixel] = after
    return count


@njit(cache=True, nogil=True)
def soft_discrepancy(clump, left, touched, count, clump_size):
    """Sum of ``(union - clump)^2`` over all pixels, of which only the touched ones differ from ``clump``."""
    clump_flat, left_flat = clump.ravel(), left.ravel()
    total = float(clump_size)
    for place in range(count):
        pixel = touched[place]
        residual = 1.0 - left_flat[pixel] - clump_flat[pixel]
        total += residual * residual - clump_flat[pixel]
    return total


@njit(cache=True, nogil=True)
def hard_discrepancy(clump, rows, columns, radii, rises, runs):
    """Equation 2 with binary masks: number of pixels in which the union of the cells and the clump differ."""
    union = np.zeros(clump.shape, dtype=np.bool_)
    for cell in range(radii.shape[0]):
        fill_contour(union, float(rows[cell]), float(columns[cell]), radii[cell], rises, runs)
    different = 0
    for row in range(clump.shape[0]):
        for column in range(clump.shape[1]):
            different += union[row, column] != clump[row, column]
    return different


@njit(cache=True, nogil=True)
def normal_equations(rows, columns, radii, basis, softness, table, clump, left, targets, precisions):
    """Gradient, diagonal blocks and off-diagonal blocks of the Gauss-Newton model of the soft energy.

    Twin of :func:`declump.energy.normal_equations`.

    Returns
    -------
    gradient : (N, P)
    blocks : (N, P, P)
    pairs : (Q, 2) int, the cells that share a block
    shared : (Q, P, P)
    """
    starts, d_rows, d_columns, distances, fractions = table
    cells, rays = radii.shape
    parameters = basis.shape[2]
    height, width = left.shape
    left_flat, clump_flat = left.ravel(), clump.ravel()

    capacity = 4096
    entry_cell = np.empty(capacity, dtype=np.int32)
    entry_sector = np.empty(capacity, dtype=np.int32)
    entry_fraction = np.empty(capacity)
    entry_slope = np.empty(capacity)
    entry_before = np.empty(capacity, dtype=np.int32)
    last_entry = np.full(left_flat.size, -1, dtype=np.int32)
    entries = 0

    radius_gradient = np.zeros((cells, rays))
    diagonal = np.zeros((cells, rays))
    adjacent = np.zeros((cells, rays))
    for cell in range(cells):
        for sector in range(rays):
            following = sector + 1 if sector + 1 < rays else 0
            near, far = radii[cell, sector], radii[cell, following]
            solid, end = min(near, far) - softness, max(near, far) + softness
            low, high = starts[sector], starts[sector + 1]
            if low < high and distances[low] <= solid:
                first, last = low, high
                while last - first > 1:
                    middle = (first + last) // 2
                    if distances[middle] <= solid:
                        first = middle
                    else:
                        last = middle
                low = last
            for place in range(low, high):
                distance = distances[place]
                if distance >= end:
                    break
                row, column = rows[cell] + d_rows[place], columns[cell] + d_columns[place]
                if row < 0 or row >= height or column < 0 or column >= width:
                    continue
                pixel = row * width + column
                remaining = left_flat[pixel]
                if remaining == 0.0:
                    continue
                fraction = fractions[place]
                depth = (near + fraction * (far - near) - distance) / softness
                if depth <= -1 or depth >= 1:
                    continue
                others = remaining / (0.5 - depth * (3 - depth * depth) / 4)
                slope = others * 0.75 * (1 - depth * depth) / softness
                residual = 1.0 - remaining - clump_flat[pixel]
                radius_gradient[cell, sector] += 2 * residual * slope * (1 - fraction)
                radius_gradient[cell, following] += 2 * residual * slope * fraction
                squared = 2 * slope * slope
                diagonal[cell, sector] += squared * (1 - fraction) * (1 - fraction)
                diagonal[cell, following] += squared * fraction * fraction
                adjacent[cell, sector] += squared * fraction * (1 - fraction)
                if entries == capacity:
                    capacity *= 2
                    entry_cell = np.concatenate((entry_cell, np.empty_like(entry_cell)))
                    entry_sector = np.concatenate((entry_sector, np.empty_like(entry_sector)))
                    entry_fraction = np.concatenate((entry_fraction, np.empty_like(entry_fraction)))
                    entry_slope = np.concatenate((entry_slope, np.empty_like(entry_slope)))
                    entry_before = np.concatenate((entry_before, np.empty_like(entry_before)))
                entry_cell[entries] = cell
                entry_sector[entries] = sector
                entry_fraction[entries] = fraction
                entry_slope[entries] = slope
                entry_before[entries] = last_entry[pixel]
                last_entry[pixel] = entries
                entries += 1
        for ray in range(rays):
            radius_gradient[cell, ray] += 2 * precisions[cell, ray] * (radii[cell, ray] - targets[cell, ray])
            diagonal[cell, ray] += 2 * precisions[cell, ray]

    gradient = np.zeros((cells, parameters))
    blocks = np.zeros((cells, parameters, parameters))
    weighted = np.empty(parameters)
    for cell in range(cells):
        own = basis[cell]
        for ray in range(rays):
            for p in range(parameters):
                gradient[cell, p] += radius_gradient[cell, ray] * own[ray, p]
            before, following = (ray - 1) % rays, (ray + 1) % rays
            for p in range(parameters):
                weighted[p] = (
                    diagonal[cell, ray] * own[ray, p]
                    + adjacent[cell, ray] * own[following, p]
                    + adjacent[cell, before] * own[before, p]
                )
            for p in range(parameters):
                for q in range(parameters):
                    blocks[cell, p, q] += own[ray, p] * weighted[q]

    pair_of = np.full((cells, cells), -1, dtype=np.int32)
    pairs = np.empty((cells * 4, 2), dtype=np.int64)
    shared = np.zeros((cells * 4, parameters, parameters))
    count = 0
    for entry in range(entries):
        other = entry_before[entry]
        if other < 0:
            continue
        cell, sector, fraction = entry_cell[entry], entry_sector[entry], entry_fraction[entry]
        following = sector + 1 if sector + 1 < rays else 0
        for q in range(parameters):
            weighted[q] = (1 - fraction) * basis[cell, sector, q] + fraction * basis[cell, following, q]
        while other >= 0:
            earlier, sector, fraction = entry_cell[other], entry_sector[other], entry_fraction[other]
            following = sector + 1 if sector + 1 < rays else 0
            pair = pair_of[earlier, cell]
            if pair < 0:
                pair = count
                if count == len(pairs):
                    pairs = np.concatenate((pairs, np.empty_like(pairs)))
                    shared = np.concatenate((shared, np.zeros_like(shared)))
                pair_of[earlier, cell] = pair
                pairs[pair, 0], pairs[pair, 1] = earlier, cell
                count += 1
            factor = 2 * entry_slope[entry] * entry_slope[other]
            for p in range(parameters):
                value = factor * (
                    (1 - fraction) * basis[earlier, sector, p] + fraction * basis[earlier, following, p]
                )
                for q in range(parameters):
                    shared[pair, p, q] += value * weighted[q]
            other = entry_before[other]
    return gradient, blocks, pairs[:count], shared[:count]


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
