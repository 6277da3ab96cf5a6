"""Rays against masks, and contours filled."""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.types import ON_EDGE, TAU, Floats, Mask


@compiled
def _border_distance(height: int, width: int, row: float, column: float, rise: float, run: float) -> float:
    border = np.inf
    if abs(rise) > 1e-12:
        border = ((height - 0.5 if rise > 0 else -0.5) - row) / rise
    if abs(run) > 1e-12:
        border = min(border, ((width - 0.5 if run > 0 else -0.5) - column) / run)
    return max(border, 0.0)


@compiled
def _look(mask: Mask, row: float, column: float) -> float:
    """Bilinear value of a mask at a point, beyond the outer pixel centres as on them."""
    height, width = mask.shape
    row = min(max(row, 0.0), height - 1.0)
    column = min(max(column, 0.0), width - 1.0)
    top, left = int(row), int(column)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = row - top, column - left
    upper = (1 - across) * mask[top, left] + across * mask[top, right]
    lower = (1 - across) * mask[bottom, left] + across * mask[bottom, right]
    value: float = (1 - down) * upper + down * lower
    return value


@compiled
def outermost_crossings(
    mask: Mask, row: float, column: float, rises: Floats, runs: Floats, step: float
) -> tuple[Floats, Mask]:
    """Twin of the outermost crossing read from :func:`declump.shapes.contours.sample_ray`, for all rays."""
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


@compiled
def _is_deep(mask: Mask, row: float, column: float) -> bool:
    """Whether the four pixels round a point are all in the mask, so that it has not to be looked at any closer."""
    top, left = int(row), int(column)
    if row < 0 or column < 0 or top + 1 >= mask.shape[0] or left + 1 >= mask.shape[1]:
        return False
    return bool(mask[top, left] & mask[top, left + 1] & mask[top + 1, left] & mask[top + 1, left + 1])


@compiled
def first_exits(mask: Mask, row: float, column: float, rises: Floats, runs: Floats, step: float) -> Floats:
    """Twin of the first exit read from :func:`declump.shapes.contours.sample_ray`, for all rays."""
    rays = rises.size
    exits = np.zeros(rays)
    at_seed = _look(mask, row, column)
    if at_seed < 0.5:
        return exits
    for ray in range(rays):
        border = _border_distance(mask.shape[0], mask.shape[1], row, column, rises[ray], runs[ray])
        inner, look = 0.0, 1
        exits[ray] = np.inf
        while inner < border:
            distance = min(look * step, border)
            at_row, at_column = row + distance * rises[ray], column + distance * runs[ray]
            if not _is_deep(mask, at_row, at_column):
                value = _look(mask, at_row, at_column)
                if value < 0.5:
                    inner_value = _look(mask, row + inner * rises[ray], column + inner * runs[ray])
                    exits[ray] = inner + (distance - inner) * (inner_value - 0.5) / (inner_value - value)
                    break
            inner = distance
            look += 1
    return exits


@compiled
def fill_contour(
    mask: Mask,
    row: float,
    column: float,
    radii: Floats,
    rises: Floats,
    runs: Floats,
) -> None:
    """Set the pixels of ``mask`` that lie inside a contour; twin of :func:`declump.shapes.contours.inside`."""
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
                mask[r, c] |= _before_edge(y, x, radii, rises, runs)


@compiled
def points_inside(points: Floats, row: float, column: float, radii: Floats, rises: Floats, runs: Floats) -> Mask:
    """Twin of :func:`declump.shapes.contours.inside` for points (N, 2); passes over those too far away."""
    result = np.zeros(points.shape[0], np.bool_)
    reach = 0.0
    for ray in range(radii.size):
        reach = max(reach, radii[ray])
    for index in range(points.shape[0]):
        y, x = points[index, 0] - row, points[index, 1] - column
        if x * x + y * y <= reach * reach:
            result[index] = _before_edge(y, x, radii, rises, runs)
    return result


@compiled
def _before_edge(y: float, x: float, radii: Floats, rises: Floats, runs: Floats) -> bool:
    """Whether a point, counted from the seed, lies on the seed's side of the edge of its sector."""
    rays = radii.size
    sector = int((np.arctan2(y, x) % TAU) * (rays / TAU)) % rays
    following = sector + 1 if sector + 1 < rays else 0
    start_y, start_x = radii[sector] * rises[sector], radii[sector] * runs[sector]
    edge_y = radii[following] * rises[following] - start_y
    edge_x = radii[following] * runs[following] - start_x
    return bool(edge_x * (y - start_y) - edge_y * (x - start_x) > ON_EDGE)


@compiled
def largest_copy(shape: Floats, exits: Floats, tolerated: int) -> tuple[float, int]:
    """Twin of :func:`declump.shapes.alignment.largest_copy_by_sorting`: scale and shift of the largest copy."""
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
