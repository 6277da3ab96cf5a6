"""Rays against masks, and contours filled."""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.types import ON_EDGE, TAU, Floats, Ints, Mask


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
def first_exits(
    mask: Mask, clearance: Ints, row: float, column: float, rises: Floats, runs: Floats, step: float
) -> Floats:
    """Twin of the first exit read from :func:`declump.shapes.contours.sample_ray`, for all rays.

    The clearance (H, W) of the mask (:func:`declump._kernels.masks.measure_clearance`) tells how many looks would only
    see it: these are left out.
    """
    rays = rises.size
    exits = np.zeros(rays)
    at_seed = _look(mask, row, column)
    if at_seed < 0.5:
        return exits
    height, width = mask.shape
    for ray in range(rays):
        border = _border_distance(height, width, row, column, rises[ray], runs[ray])
        inner, look = 0.0, 1
        exits[ray] = np.inf
        while inner < border:
            distance = min(look * step, border)
            at_row, at_column = row + distance * rises[ray], column + distance * runs[ray]
            # Points whose four nearest pixels are of the mask lie this far at least in all directions, and one more.
            deep = clearance[min(int(at_row), height - 1), min(int(at_column), width - 1)] - 2
            if deep > 0:
                look += int(deep / step)
                inner = look * step
                look += 1
                continue
            value = _look(mask, at_row, at_column)
            if value < 0.5:
                inner_value = _look(mask, row + inner * rises[ray], column + inner * runs[ray])
                exits[ray] = inner + (distance - inner) * (inner_value - 0.5) / (inner_value - value)
                break
            inner = distance
            look += 1
    return exits


@compiled
def nearest_bisectors(seeds: Floats, rises: Floats, runs: Floats, farthest: float) -> Floats:
    """Distances (N, K), at most the farthest, at which rays of seeds (N, 2) cross the line half way to another seed."""
    distances = np.full((len(seeds), rises.size), farthest)
    for seed in range(len(seeds)):
        for other in range(len(seeds)):
            down, right = seeds[other, 0] - seeds[seed, 0], seeds[other, 1] - seeds[seed, 1]
            squared = down * down + right * right
            if other == seed or squared >= (2 * farthest) ** 2:
                continue
            for ray in range(rises.size):
                along = down * rises[ray] + right * runs[ray]
                if along > 0 and squared / (2 * along) < distances[seed, ray]:
                    distances[seed, ray] = squared / (2 * along)
    return distances


@compiled
def _find_limits(radii: Floats) -> tuple[float, float]:
    """Distances from the seed up to which all points lie inside a contour, and beyond which none do."""
    reach, certain = 0.0, np.inf
    for ray in range(radii.size):
        reach = max(reach, radii[ray])
        certain = min(certain, radii[ray])
    return certain * (np.cos(np.pi / radii.size) * 0.999999), reach


@compiled
def _holds(y: float, x: float, certain: float, reach: float, radii: Floats, rises: Floats, runs: Floats) -> bool:
    """Whether a point, counted from the seed, lies inside a contour with such limits."""
    squared = x * x + y * y
    return squared < certain * certain or (squared <= reach * reach and _before_edge(y, x, radii, rises, runs))


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
    certain, reach = _find_limits(radii)
    squared_certain, squared_reach = certain * certain, reach * reach
    first, end = max(int(np.ceil(row - reach)), 0), min(int(np.floor(row + reach)) + 1, mask.shape[0])
    left, right = max(int(np.ceil(column - reach)), 0), min(int(np.floor(column + reach)) + 1, mask.shape[1])
    for r in range(first, end):
        y = r - row
        for c in range(left, right):
            x = c - column
            squared = x * x + y * y
            if squared < squared_certain or (squared <= squared_reach and _before_edge(y, x, radii, rises, runs)):
                mask[r, c] = True


@compiled
def tabulate_sectors(reach: int, rays: int) -> Ints:
    """Sectors of all points at whole distances, up to a reach, from a seed: (2 reach + 1, 2 reach + 1)."""
    sectors = np.empty((2 * reach + 1, 2 * reach + 1), np.int32)
    for row in range(-reach, reach + 1):
        for column in range(-reach, reach + 1):
            sectors[row + reach, column + reach] = _find_sector(float(row), float(column), rays)
    return sectors


@compiled
def paint_contours(
    image: Ints, numbers: Ints, seeds: Ints, radii: Floats, rises: Floats, runs: Floats, sectors: Ints
) -> int:
    """Put the number (N,) of each contour, with radii (N, K), into its pixels; give how many these are.

    Seeds (N, 2) are whole, so that the sectors of pixels are looked up in a table (:func:`tabulate_sectors`), but for
    contours that are larger than it. Twin of :func:`fill_contour`.
    """
    count, middle = 0, len(sectors) // 2
    for index in range(len(numbers)):
        row, column = seeds[index]
        certain, reach = _find_limits(radii[index])
        far = int(np.floor(reach))
        for r in range(max(row - far, 0), min(row + far + 1, image.shape[0])):
            y = float(r - row)
            for c in range(max(column - far, 0), min(column + far + 1, image.shape[1])):
                x = float(c - column)
                squared = x * x + y * y
                inside = squared < certain * certain
                if not inside and squared <= reach * reach:
                    known = far <= middle
                    sector = sectors[r - row + middle, c - column + middle] if known else _find_sector(y, x, len(rises))
                    inside = _lies_before(y, x, sector, radii[index], rises, runs)
                if inside:
                    image[r, c] = numbers[index]
                    count += 1
    return count


@compiled
def find_meeting(pairs: Ints, boxes: Ints, seeds: Ints, radii: Floats, rises: Floats, runs: Floats) -> Mask:
    """Tell which pairs (M, 2) of contours share a pixel; contours lie in their boxes (N, 4).

    Twin of :meth:`declump.records.crops.Crop.meets`.
    """
    meet = np.zeros(len(pairs), np.bool_)
    for index in range(len(pairs)):
        one, two = pairs[index]
        certain, reach = _find_limits(radii[one])
        other_certain, other_reach = _find_limits(radii[two])
        for r in range(max(boxes[one, 0], boxes[two, 0]), min(boxes[one, 2], boxes[two, 2])):
            for c in range(max(boxes[one, 1], boxes[two, 1]), min(boxes[one, 3], boxes[two, 3])):
                y, x = r - seeds[one, 0], c - seeds[one, 1]
                if _holds(y, x, certain, reach, radii[one], rises, runs):
                    y, x = r - seeds[two, 0], c - seeds[two, 1]
                    if _holds(y, x, other_certain, other_reach, radii[two], rises, runs):
                        meet[index] = True
                        break
            if meet[index]:
                break
    return meet


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
def find_covered(
    ends: Floats, places: Floats, radii: Floats, reaches: Floats, rises: Floats, runs: Floats, covered: Mask
) -> None:
    """Tell which points of rays (N, K) lie inside another contour; each ray has its point at a distance ``ends``.

    ``places`` (N, 2) are the seeds, ``reaches`` (N,) the longest of the radii (N, K); contours that reach nowhere are
    passed over. Twin of :func:`points_inside` for each pair of contours.
    """
    cells, rays = radii.shape
    for cell in range(cells):
        if reaches[cell] == 0.0:
            continue
        farthest = 0.0
        for ray in range(rays):
            farthest = max(farthest, ends[cell, ray])
        for other in range(cells):
            down, right = places[cell, 0] - places[other, 0], places[cell, 1] - places[other, 1]
            reach = reaches[other]
            if other == cell or reach == 0.0 or np.hypot(down, right) > reach + farthest:
                continue
            for ray in range(rays):
                if not covered[cell, ray]:
                    y, x = down + ends[cell, ray] * rises[ray], right + ends[cell, ray] * runs[ray]
                    if x * x + y * y <= reach * reach:
                        covered[cell, ray] = _before_edge(y, x, radii[other], rises, runs)


@compiled
def _before_edge(y: float, x: float, radii: Floats, rises: Floats, runs: Floats) -> bool:
    """Whether a point, counted from the seed, lies on the seed's side of the edge of its sector."""
    return _lies_before(y, x, _find_sector(y, x, radii.size), radii, rises, runs)


@compiled
def _find_sector(y: float, x: float, rays: int) -> int:
    """Sector that a point, counted from the seed, lies in."""
    angle = np.arctan2(y, x)
    if angle < 0:  # as ``%`` would have it, which is slow
        angle += TAU
    sector = int(angle * (rays / TAU))
    return sector if sector < rays else sector - rays


@compiled
def _lies_before(y: float, x: float, sector: int, radii: Floats, rises: Floats, runs: Floats) -> bool:
    """Whether a point of a sector, counted from the seed, lies on the seed's side of the edge of the sector."""
    following = sector + 1 if sector + 1 < radii.size else 0
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
