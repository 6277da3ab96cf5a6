"""What several kernels need: sectors, the edges of outlines, and the pixels inside one.

Sizes and indices are Py_ssize_t, so that nothing overflows; angles and lengths are double.
"""

from libc.math cimport M_PI, atan2, cos
from libc.stdint cimport int32_t, int64_t

cdef extern from *:
    """
    #define TAU 6.283185307179586
    #define ON_EDGE 1e-9
    #define JUST_BELOW_1 0.999999
    """
    const double TAU
    const double ON_EDGE  # twice the area of a triangle that counts as none: a point on an edge is not inside
    const double JUST_BELOW_1  # for what is to be certain however it is rounded


cdef inline double share_within(Py_ssize_t rays) noexcept nogil:
    """Share of the shorter of two neighbouring radii up to which all points lie inside their edge."""
    return cos(M_PI / rays) * JUST_BELOW_1


cdef inline Py_ssize_t find_sector(double y, double x, Py_ssize_t rays) noexcept nogil:
    """Sector that a point, counted from the seed, lies in."""
    cdef double angle = atan2(y, x)
    if angle < 0:
        angle += TAU
    cdef Py_ssize_t sector = <Py_ssize_t>(angle * (rays / TAU))
    return sector if sector < rays else sector - rays


cdef inline bint lies_before(
    double y, double x, Py_ssize_t sector, const double[::1] radii, const double[::1] rises, const double[::1] runs
) noexcept nogil:
    """Whether a point of a sector, counted from the seed, lies on the seed's side of the edge of the sector."""
    cdef Py_ssize_t following = sector + 1 if sector + 1 < radii.shape[0] else 0
    cdef double start_y = radii[sector] * rises[sector], start_x = radii[sector] * runs[sector]
    cdef double edge_y = radii[following] * rises[following] - start_y
    cdef double edge_x = radii[following] * runs[following] - start_x
    return edge_x * (y - start_y) - edge_y * (x - start_x) > ON_EDGE


cdef inline bint before_edge(
    double y, double x, const double[::1] radii, const double[::1] rises, const double[::1] runs
) noexcept nogil:
    """Whether a point, counted from the seed, lies on the seed's side of the edge of its sector."""
    return lies_before(y, x, find_sector(y, x, radii.shape[0]), radii, rises, runs)


cdef inline Py_ssize_t entries_within(
    const double[::1] distances, Py_ssize_t first, Py_ssize_t end, double limit
) noexcept nogil:
    """Index behind the last entry of a sector, sorted by distance, that lies within a limit."""
    cdef Py_ssize_t middle
    while first < end:
        middle = (first + end) // 2
        if distances[middle] <= limit:
            first = middle + 1
        else:
            end = middle
    return first


cdef inline Py_ssize_t entries_within_near(
    const double[::1] distances, Py_ssize_t first, Py_ssize_t end, double limit, Py_ssize_t guess
) noexcept nogil:
    """Do what :func:`entries_within` does, faster where the index is not far from a guess."""
    cdef Py_ssize_t step = 1
    if guess < end and distances[guess] <= limit:
        while guess + step < end and distances[guess + step] <= limit:
            guess += step
            step *= 2
        return entries_within(distances, guess + 1, min(guess + step, end), limit)
    while guess - step >= first and distances[guess - step] > limit:
        guess -= step
        step *= 2
    return entries_within(distances, max(guess - step, first), guess, limit)


cdef inline Py_ssize_t pixels_inside(
    Py_ssize_t row,
    Py_ssize_t column,
    const double[::1] radii,
    const double[::1] rises,
    const double[::1] runs,
    const int64_t[::1] starts,
    const int32_t[::1] d_rows,
    const int32_t[::1] d_columns,
    const double[::1] distances,
    Py_ssize_t height,
    Py_ssize_t width,
    int64_t[::1] pixels,
) noexcept nogil:
    """Write the flat indices of the pixels inside one outline into ``pixels``; give their number.

    The seed is at ``row`` and ``column``; ``rises`` and ``runs`` are the directions of the ``radii`` (K,). ``starts`` to
    ``distances`` are those of a :class:`declump._kernels.types.PolarTable`.
    """
    cdef Py_ssize_t rays = radii.shape[0], count = 0, sector, following, entry, end, y, x, at_row, at_column
    cdef double near, far, start_y, start_x, edge_y, edge_x, certain
    for sector in range(rays):
        following = sector + 1 if sector + 1 < rays else 0
        near, far = radii[sector], radii[following]
        start_y, start_x = near * rises[sector], near * runs[sector]
        edge_y, edge_x = far * rises[following] - start_y, far * runs[following] - start_x
        certain = min(near, far) * cos(M_PI / rays) * JUST_BELOW_1
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
