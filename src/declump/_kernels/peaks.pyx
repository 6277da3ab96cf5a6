"""Peaks of a map that stand out from what lies between them."""

from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np


cdef inline int32_t _root(int32_t[::1] parent, int32_t pixel) noexcept nogil:
    while parent[pixel] != pixel:
        parent[pixel] = parent[parent[pixel]]
        pixel = parent[pixel]
    return pixel


def outstanding_peaks(levels, Py_ssize_t height):
    """Where (H, W) a map of levels from 0 to 255 has peaks from which every way to a higher place falls by a height.

    Twin of :func:`skimage.morphology.h_maxima`, for a height of at least 1. Pixels are added level by level from the
    highest, and pieces that meet (8-neighbours) become one: a pixel is a peak if no piece in which it lies has anything
    higher until the height below it.
    """
    cdef const uint8_t[::1] flat = levels.ravel()
    cdef Py_ssize_t rows = levels.shape[0], columns = levels.shape[1], size = flat.shape[0]
    cdef Py_ssize_t level, above, entry, row, column, near_row, near_column
    cdef int32_t pixel, near, one, two
    result = np.zeros(levels.shape, np.bool_)
    cdef unsigned char[::1] peaks = result.reshape(-1)
    cdef int64_t[::1] starts = np.concatenate(([0], np.cumsum(np.bincount(flat, minlength=256)))).astype(np.int64)
    cdef int64_t[::1] filled = starts.copy()
    cdef int32_t[::1] order = np.empty(size, np.int32), parent = np.full(size, -1, np.int32)
    cdef uint8_t[::1] highest = levels.flatten()
    with nogil:
        for pixel in range(size):
            order[filled[flat[pixel]]] = pixel
            filled[flat[pixel]] += 1
        for level in range(255, -1, -1):
            for entry in range(starts[level], starts[level + 1]):
                pixel = order[entry]
                parent[pixel] = pixel
                row, column = pixel // columns, pixel % columns
                for near_row in range(max(row - 1, 0), min(row + 2, rows)):
                    for near_column in range(max(column - 1, 0), min(column + 2, columns)):
                        near = near_row * columns + near_column
                        if parent[near] < 0:
                            continue
                        one, two = _root(parent, pixel), _root(parent, near)
                        if one != two:
                            parent[one] = two
                            highest[two] = max(highest[one], highest[two])
            above = level + height - 1
            if above <= 255 and level > 0:
                for entry in range(starts[above], starts[above + 1]):
                    pixel = order[entry]
                    peaks[pixel] = highest[_root(parent, pixel)] == above
    return result
