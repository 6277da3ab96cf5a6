"""Windows of an image: turned and scaled, or in polar coordinates."""

from libc.math cimport INFINITY, floor, rint, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np

ctypedef fused value:
    uint8_t
    float


def sample_affine(
    const value[:, :, :] planes,
    double unit,
    const double[::1] beyond,
    const double[::1] corner,
    const double[:, ::1] steps,
    float[:, :, ::1] window,
):
    """Fill a window (C, A, B) from planes (C, H, W); twin of :func:`declump.regions.sampling.sample_affine`.

    ``corner`` is the row and column of its first point, ``steps`` (2, 2) how they change from one row of the window to
    the next, and from one column to the next.
    """
    cdef Py_ssize_t height = planes.shape[1], width = planes.shape[2], i, j, plane, top, left, below, beside
    cdef double row, column, down, right, above, under
    with nogil:
        for i in range(window.shape[1]):
            for j in range(window.shape[2]):
                row = corner[0] + i * steps[0, 0] + j * steps[1, 0]
                column = corner[1] + i * steps[0, 1] + j * steps[1, 1]
                if not (-0.5 < row < height - 0.5 and -0.5 < column < width - 0.5):
                    for plane in range(window.shape[0]):
                        window[plane, i, j] = <float>beyond[plane]
                    continue
                row, column = min(max(row, 0.0), height - 1.0), min(max(column, 0.0), width - 1.0)
                top, left = <Py_ssize_t>row, <Py_ssize_t>column
                below, beside = min(top + 1, height - 1), min(left + 1, width - 1)
                down, right = row - top, column - left
                for plane in range(window.shape[0]):
                    above = planes[plane, top, left] * (1 - right) + planes[plane, top, beside] * right
                    under = planes[plane, below, left] * (1 - right) + planes[plane, below, beside] * right
                    window[plane, i, j] = <float>(unit * (above * (1 - down) + under * down))


def sample_number(
    const int32_t[:, :] labels,
    Py_ssize_t number,
    const double[::1] corner,
    const double[:, ::1] steps,
    float[:, ::1] window,
):
    """Fill a window (A, B) with 1 where labels (H, W) have a number, else 0; points as in :func:`sample_affine`."""
    cdef Py_ssize_t height = labels.shape[0], width = labels.shape[1], i, j, row, column
    with nogil:
        for i in range(window.shape[0]):
            for j in range(window.shape[1]):
                row = <Py_ssize_t>floor(corner[0] + i * steps[0, 0] + j * steps[1, 0] + 0.5)
                column = <Py_ssize_t>floor(corner[1] + i * steps[0, 1] + j * steps[1, 1] + 0.5)
                if 0 <= row < height and 0 <= column < width and labels[row, column] == number:
                    window[i, j] = 1.0
                else:
                    window[i, j] = 0.0


def sample_polar(
    const float[:, :, :] planes,
    const int32_t[:, :] nuclei,
    Py_ssize_t number,
    const int64_t[::1] ignored,
    const double[::1] seed,
    const double[:, ::1] others,
    const double[::1] rises,
    const double[::1] runs,
    double step,
    double lead,
    const float[::1] beyond,
    float[:, :, ::1] window,
):
    """Fill a window (9, A, D) as seen from a seed; twin of :func:`declump.evidence.windows.sample_window_by_points`.

    ``planes`` (4, H, W) have the values ``beyond`` (4,) outside the image; ``rises`` and ``runs`` (A,) are directions.
    """
    cdef Py_ssize_t height = nuclei.shape[0], width = nuclei.shape[1], depths = window.shape[2]
    cdef Py_ssize_t angle, depth, other, plane, place, top, left, below, beside
    cdef double distance, y, x, squared, row, column, other_row, other_column
    cdef float down, right, above, under, one = 1
    cdef int32_t name
    cdef bint other_nucleus
    cdef double[::1] rows = np.empty(depths), columns = np.empty(depths), nearest = np.empty(depths)
    with nogil:
        for angle in range(window.shape[1]):
            for depth in range(depths):
                distance = step * (depth + 0.5)
                rows[depth], columns[depth] = seed[0] + rises[angle] * distance, seed[1] + runs[angle] * distance
                nearest[depth] = INFINITY
            # Along a ray rather than seed by seed for a point: several points at once.
            for other in range(others.shape[0]):
                other_row, other_column = others[other, 0], others[other, 1]
                for depth in range(depths):
                    y, x = rows[depth] - other_row, columns[depth] - other_column
                    squared = y * y + x * x
                    nearest[depth] = squared if squared < nearest[depth] else nearest[depth]
            for depth in range(depths):
                row, column = rows[depth], columns[depth]
                distance = (sqrt(nearest[depth]) / step - (depth + 0.5)) / lead
                window[7, angle, depth] = <float>min(max(distance, -1.0), 1.0)
                window[8, angle, depth] = <float>depth / <float>depths
                if not (-0.5 < row < height - 0.5 and -0.5 < column < width - 0.5):
                    for plane in range(4):
                        window[plane, angle, depth] = beyond[plane]
                    for plane in range(4, 7):
                        window[plane, angle, depth] = 0.0
                    continue
                row, column = min(max(row, 0.0), height - 1.0), min(max(column, 0.0), width - 1.0)
                name = nuclei[<Py_ssize_t>rint(row), <Py_ssize_t>rint(column)]
                other_nucleus = name > 0 and name != number
                for place in range(ignored.shape[0]):
                    other_nucleus = other_nucleus and name != ignored[place]
                window[4, angle, depth] = 1.0 if other_nucleus else 0.0
                window[5, angle, depth] = 1.0 if name == number else 0.0
                window[6, angle, depth] = 1.0
                top, left = <Py_ssize_t>row, <Py_ssize_t>column
                below, beside = min(top + 1, height - 1), min(left + 1, width - 1)
                down, right = <float>(row - top), <float>(column - left)
                for plane in range(4):
                    above = planes[plane, top, left] * (one - right) + planes[plane, top, beside] * right
                    under = planes[plane, below, left] * (one - right) + planes[plane, below, beside] * right
                    window[plane, angle, depth] = above * (one - down) + under * down
