"""Rays against masks, and contours filled."""

from libc.math cimport INFINITY, ceil, fabs, floor, hypot
from libc.stdint cimport int32_t, int64_t, uint32_t

from declump._kernels cimport outlines
from declump._kernels.outlines cimport before_edge, find_sector, lies_before, share_within

import numpy as np

ON_EDGE = outlines.ON_EDGE
"""Twice the area in square pixels of a triangle that counts as none: a point on an edge is not inside."""


cdef inline double _border_distance(
    Py_ssize_t height, Py_ssize_t width, double row, double column, double rise, double run
) noexcept nogil:
    cdef double border = INFINITY
    if fabs(rise) > 1e-12:
        border = ((height - 0.5 if rise > 0 else -0.5) - row) / rise
    if fabs(run) > 1e-12:
        border = min(border, ((width - 0.5 if run > 0 else -0.5) - column) / run)
    return max(border, 0.0)


cdef inline double _look(const unsigned char[:, :] mask, double row, double column) noexcept nogil:
    """Bilinear value of a mask at a point, beyond the outer pixel centres as on them."""
    cdef Py_ssize_t height = mask.shape[0], width = mask.shape[1], top, left, bottom, right
    cdef double down, across, upper, lower
    row = min(max(row, 0.0), height - 1.0)
    column = min(max(column, 0.0), width - 1.0)
    top, left = <Py_ssize_t>row, <Py_ssize_t>column
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = row - top, column - left
    upper = (1 - across) * mask[top, left] + across * mask[top, right]
    lower = (1 - across) * mask[bottom, left] + across * mask[bottom, right]
    return (1 - down) * upper + down * lower


def outermost_crossings(
    const unsigned char[:, :] mask, double row, double column, const double[::1] rises, const double[::1] runs, double step
):
    """Twin of the outermost crossing read from :func:`declump.shapes.contours.sample_ray`, for all rays."""
    cdef Py_ssize_t rays = rises.shape[0], ray, look
    cdef double border, outer, outer_value, distance, value
    of_rays, of_cuts = np.zeros(rays), np.zeros(rays, np.bool_)
    cdef double[::1] radii = of_rays
    cdef unsigned char[::1] cut = of_cuts
    with nogil:
        for ray in range(rays):
            border = _border_distance(mask.shape[0], mask.shape[1], row, column, rises[ray], runs[ray])
            outer, outer_value = border, _look(mask, row + border * rises[ray], column + border * runs[ray])
            if outer_value >= 0.5:
                radii[ray], cut[ray] = border, True
                continue
            for look in range(<Py_ssize_t>ceil(border / step) - 1, -1, -1):
                distance = look * step
                value = _look(mask, row + distance * rises[ray], column + distance * runs[ray])
                if value >= 0.5:
                    radii[ray] = distance + (outer - distance) * (value - 0.5) / (value - outer_value)
                    break
                outer, outer_value = distance, value
    return of_rays, of_cuts


def first_exits(
    const unsigned char[:, :] mask,
    const int32_t[:, ::1] clearance,
    double row,
    double column,
    const double[::1] rises,
    const double[::1] runs,
    double step,
):
    """Twin of the first exit read from :func:`declump.shapes.contours.sample_ray`, for all rays.

    The clearance (H, W) of the mask (:func:`declump._kernels.masks.measure_clearance`) tells how many looks would only
    see it: these are left out.
    """
    cdef Py_ssize_t height = mask.shape[0], width = mask.shape[1], rays = rises.shape[0], ray, look
    cdef double border, inner, inner_value, distance, at_row, at_column, value
    cdef int32_t deep
    result = np.zeros(rays)
    cdef double[::1] exits = result
    if _look(mask, row, column) < 0.5:
        return result
    with nogil:
        for ray in range(rays):
            border = _border_distance(height, width, row, column, rises[ray], runs[ray])
            inner, look = 0.0, 1
            exits[ray] = INFINITY
            while inner < border:
                distance = min(look * step, border)
                at_row, at_column = row + distance * rises[ray], column + distance * runs[ray]
                # Points whose four nearest pixels are of the mask lie this far at least in all directions, and one more.
                deep = clearance[min(<Py_ssize_t>at_row, height - 1), min(<Py_ssize_t>at_column, width - 1)] - 2
                if deep > 0:
                    look += <Py_ssize_t>(deep / step)
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
    return result


def nearest_bisectors(const double[:, :] seeds, const double[::1] rises, const double[::1] runs, double farthest):
    """Distances (N, K), at most the farthest, at which rays of seeds (N, 2) cross the line half way to another seed."""
    cdef Py_ssize_t count = seeds.shape[0], seed, other, ray
    cdef double down, right, squared, along
    result = np.full((count, rises.shape[0]), farthest)
    cdef double[:, ::1] distances = result
    with nogil:
        for seed in range(count):
            for other in range(count):
                down, right = seeds[other, 0] - seeds[seed, 0], seeds[other, 1] - seeds[seed, 1]
                squared = down * down + right * right
                if other == seed or squared >= (2 * farthest) * (2 * farthest):
                    continue
                for ray in range(rises.shape[0]):
                    along = down * rises[ray] + right * runs[ray]
                    if along > 0 and squared / (2 * along) < distances[seed, ray]:
                        distances[seed, ray] = squared / (2 * along)
    return result


cdef struct Limits:
    double certain  # up to here all points lie inside a contour
    double reach  # and beyond here none do


cdef Limits _find_limits(const double[::1] radii) noexcept nogil:
    cdef Limits limits = Limits(INFINITY, 0.0)
    cdef Py_ssize_t ray
    for ray in range(radii.shape[0]):
        limits.reach = max(limits.reach, radii[ray])
        limits.certain = min(limits.certain, radii[ray])
    limits.certain *= share_within(radii.shape[0])
    return limits


cdef inline bint _holds(
    double y, double x, Limits limits, const double[::1] radii, const double[::1] rises, const double[::1] runs
) noexcept nogil:
    """Whether a point, counted from the seed, lies inside a contour with such limits."""
    cdef double squared = x * x + y * y
    return squared < limits.certain * limits.certain or (
        squared <= limits.reach * limits.reach and before_edge(y, x, radii, rises, runs)
    )


def fill_contour(
    unsigned char[:, :] mask,
    double row,
    double column,
    const double[::1] radii,
    const double[::1] rises,
    const double[::1] runs,
):
    """Set the pixels of ``mask`` that lie inside a contour; twin of :func:`declump.shapes.contours.inside`."""
    cdef Limits limits
    cdef Py_ssize_t first, end, left, right, r, c
    with nogil:
        limits = _find_limits(radii)
        first, end = <Py_ssize_t>ceil(row - limits.reach), <Py_ssize_t>floor(row + limits.reach) + 1
        left, right = <Py_ssize_t>ceil(column - limits.reach), <Py_ssize_t>floor(column + limits.reach) + 1
        for r in range(max(first, 0), min(end, mask.shape[0])):
            for c in range(max(left, 0), min(right, mask.shape[1])):
                if _holds(r - row, c - column, limits, radii, rises, runs):
                    mask[r, c] = True


def tabulate_sectors(Py_ssize_t reach, Py_ssize_t rays):
    """Sectors of all points at whole distances, up to a reach, from a seed: (2 reach + 1, 2 reach + 1)."""
    cdef Py_ssize_t row, column
    result = np.empty((2 * reach + 1, 2 * reach + 1), np.int32)
    cdef int32_t[:, ::1] sectors = result
    with nogil:
        for row in range(-reach, reach + 1):
            for column in range(-reach, reach + 1):
                sectors[row + reach, column + reach] = find_sector(row, column, rays)
    return result


def paint_contours(
    uint32_t[:, :] image,
    const uint32_t[:] numbers,
    const int64_t[:, :] seeds,
    const double[:, ::1] radii,
    const double[::1] rises,
    const double[::1] runs,
    const int32_t[:, ::1] sectors,
):
    """Put the number (N,) of each contour, with radii (N, K), into its pixels; give how many these are.

    Seeds (N, 2) are whole, so that the sectors of pixels are looked up in a table (:func:`tabulate_sectors`), but for
    contours that are larger than it. Twin of :func:`fill_contour`.
    """
    cdef Py_ssize_t middle = sectors.shape[0] // 2, count = 0, index, row, column, far, r, c, sector
    cdef double y, x, squared
    cdef bint inside
    cdef Limits limits
    cdef const double[::1] own
    with nogil:
        for index in range(numbers.shape[0]):
            row, column, own = seeds[index, 0], seeds[index, 1], radii[index]
            limits = _find_limits(own)
            far = <Py_ssize_t>floor(limits.reach)
            for r in range(max(row - far, 0), min(row + far + 1, image.shape[0])):
                y = r - row
                for c in range(max(column - far, 0), min(column + far + 1, image.shape[1])):
                    x = c - column
                    squared = x * x + y * y
                    inside = squared < limits.certain * limits.certain
                    if not inside and squared <= limits.reach * limits.reach:
                        if far <= middle:
                            sector = sectors[r - row + middle, c - column + middle]
                        else:
                            sector = find_sector(y, x, rises.shape[0])
                        inside = lies_before(y, x, sector, own, rises, runs)
                    if inside:
                        image[r, c] = numbers[index]
                        count += 1
    return count


cdef bint _meet(
    const int64_t[:] box,
    const int64_t[:] other_box,
    const int64_t[:] seed,
    const int64_t[:] other_seed,
    const double[::1] radii,
    const double[::1] other_radii,
    const double[::1] rises,
    const double[::1] runs,
) noexcept nogil:
    """Whether two contours, which lie in their boxes, share a pixel."""
    cdef Limits limits = _find_limits(radii), other_limits = _find_limits(other_radii)
    cdef Py_ssize_t r, c
    for r in range(max(box[0], other_box[0]), min(box[2], other_box[2])):
        for c in range(max(box[1], other_box[1]), min(box[3], other_box[3])):
            if _holds(r - seed[0], c - seed[1], limits, radii, rises, runs) and _holds(
                r - other_seed[0], c - other_seed[1], other_limits, other_radii, rises, runs
            ):
                return True
    return False


def find_meeting(
    const int64_t[:, :] pairs,
    const int64_t[:, :] boxes,
    const int64_t[:, :] seeds,
    const double[:, ::1] radii,
    const double[::1] rises,
    const double[::1] runs,
):
    """Tell which pairs (M, 2) of contours share a pixel; contours lie in their boxes (N, 4).

    Twin of :meth:`declump.records.crops.Crop.meets`.
    """
    cdef Py_ssize_t index
    cdef int64_t one, two
    result = np.zeros(pairs.shape[0], np.bool_)
    cdef unsigned char[::1] meet = result
    with nogil:
        for index in range(pairs.shape[0]):
            one, two = pairs[index, 0], pairs[index, 1]
            meet[index] = _meet(
                boxes[one], boxes[two], seeds[one], seeds[two], radii[one], radii[two], rises, runs
            )
    return result


def points_inside(
    const double[:, :] points,
    double row,
    double column,
    const double[::1] radii,
    const double[::1] rises,
    const double[::1] runs,
):
    """Twin of :func:`declump.shapes.contours.inside` for points (N, 2); passes over those too far away."""
    cdef Py_ssize_t index
    cdef double y, x, reach
    result = np.zeros(points.shape[0], np.bool_)
    cdef unsigned char[::1] inside = result
    with nogil:
        reach = _find_limits(radii).reach
        for index in range(points.shape[0]):
            y, x = points[index, 0] - row, points[index, 1] - column
            if x * x + y * y <= reach * reach:
                inside[index] = before_edge(y, x, radii, rises, runs)
    return result


def find_covered(
    const double[:, :] ends,
    const double[:, :] places,
    const double[:, ::1] radii,
    const double[::1] reaches,
    const double[::1] rises,
    const double[::1] runs,
    unsigned char[:, ::1] covered,
):
    """Tell which points of rays (N, K) lie inside another contour; each ray has its point at a distance ``ends``.

    ``places`` (N, 2) are the seeds, ``reaches`` (N,) the longest of the radii (N, K); contours that reach nowhere are
    passed over. Twin of :func:`points_inside` for each pair of contours.
    """
    cdef Py_ssize_t cells = radii.shape[0], rays = radii.shape[1], cell, other, ray
    cdef double farthest, down, right, reach, y, x
    with nogil:
        for cell in range(cells):
            if reaches[cell] == 0.0:
                continue
            farthest = 0.0
            for ray in range(rays):
                farthest = max(farthest, ends[cell, ray])
            for other in range(cells):
                down, right = places[cell, 0] - places[other, 0], places[cell, 1] - places[other, 1]
                reach = reaches[other]
                if other == cell or reach == 0.0 or hypot(down, right) > reach + farthest:
                    continue
                for ray in range(rays):
                    if not covered[cell, ray]:
                        y, x = down + ends[cell, ray] * rises[ray], right + ends[cell, ray] * runs[ray]
                        if x * x + y * y <= reach * reach:
                            covered[cell, ray] = before_edge(y, x, radii[other], rises, runs)


def largest_copy(const double[:] shape, const double[:] exits, Py_ssize_t tolerated):
    """Twin of :func:`declump.shapes.alignment.largest_copy_by_sorting`: scale and shift of the largest copy."""
    cdef Py_ssize_t rays = shape.shape[0], best_shift = 0, shift, ray, source, place
    cdef double best_scale = -1.0, ratio
    cdef double[::1] smallest = np.empty(tolerated + 1)
    with nogil:
        for shift in range(rays):
            smallest[:] = INFINITY
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
