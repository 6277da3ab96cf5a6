"""Small masks grown, filled, and measured against their convex hulls."""

from libc.stdint cimport int32_t, int64_t

import numpy as np


def grow_diamond(const unsigned char[:, :] mask, Py_ssize_t width):
    """Pixels (H, W) that a mask reaches in so many steps to neighbours by a side.

    Twin of :func:`scipy.ndimage.binary_dilation` with ``iterations``: two sweeps over the distances by steps.
    """
    cdef Py_ssize_t height = mask.shape[0], across = mask.shape[1], row, column
    cdef int32_t step, far = height + across + width + 1
    cdef int32_t[:, ::1] steps = np.empty((height, across), np.int32)
    result = np.empty((height, across), np.bool_)
    cdef unsigned char[:, ::1] grown = result
    with nogil:
        for row in range(height):
            for column in range(across):
                step = 0 if mask[row, column] else far
                if row > 0:
                    step = min(step, steps[row - 1, column] + 1)
                if column > 0:
                    step = min(step, steps[row, column - 1] + 1)
                steps[row, column] = step
        for row in range(height - 1, -1, -1):
            for column in range(across - 1, -1, -1):
                step = steps[row, column]
                if row + 1 < height:
                    step = min(step, steps[row + 1, column] + 1)
                if column + 1 < across:
                    step = min(step, steps[row, column + 1] + 1)
                steps[row, column] = step
                grown[row, column] = step <= width
    return result


def measure_clearance(const unsigned char[:, :] mask):
    """How far (H, W) each pixel of a mask is from the nearest pixel that is not of it, in steps of a king at chess.

    Beyond the border nothing is of the mask. Twin of :func:`scipy.ndimage.distance_transform_cdt` in a frame of zeros.
    """
    cdef Py_ssize_t height = mask.shape[0], width = mask.shape[1], row, column
    cdef int32_t near
    result = np.zeros((height + 2, width + 2), np.int32)
    cdef int32_t[:, ::1] steps = result
    with nogil:
        for row in range(1, height + 1):
            for column in range(1, width + 1):
                if mask[row - 1, column - 1]:
                    near = min(steps[row - 1, column - 1], steps[row - 1, column], steps[row - 1, column + 1])
                    steps[row, column] = min(near, steps[row, column - 1]) + 1
        for row in range(height, 0, -1):
            for column in range(width, 0, -1):
                if steps[row, column]:
                    near = min(steps[row + 1, column - 1], steps[row + 1, column], steps[row + 1, column + 1])
                    steps[row, column] = min(steps[row, column], min(near, steps[row, column + 1]) + 1)
    return result[1:-1, 1:-1].copy()


def fill_holes(const unsigned char[:, :] mask):
    """A mask (H, W) with all that it surrounds, sides being neighbours.

    Twin of :func:`scipy.ndimage.binary_fill_holes`: what no way leads to from the border is filled.
    """
    cdef Py_ssize_t height = mask.shape[0], width = mask.shape[1], count = 0, row, column, near, beside
    cdef int side
    cdef int[4] down = [-1, 1, 0, 0]
    cdef int[4] right = [0, 0, -1, 1]
    result = np.ones((height, width), np.bool_)
    cdef unsigned char[:, ::1] filled = result
    cdef int64_t[::1] waiting = np.empty(height * width, np.int64)
    with nogil:
        for row in range(height):
            for column in range(width):
                if row == 0 or row == height - 1 or column == 0 or column == width - 1:
                    if not mask[row, column]:
                        filled[row, column] = False
                        waiting[count] = row * width + column
                        count += 1
        while count:
            count -= 1
            row, column = waiting[count] // width, waiting[count] % width
            for side in range(4):
                near, beside = row + down[side], column + right[side]
                if 0 <= near < height and 0 <= beside < width and filled[near, beside] and not mask[near, beside]:
                    filled[near, beside] = False
                    waiting[count] = near * width + beside
                    count += 1
    return result


def inner_rim(const unsigned char[:, :] mask):
    """Pixels (H, W) of a mask beside one that is not in it, by a side, or beside the border.

    Twin of ``mask & ~scipy.ndimage.binary_erosion(mask)``.
    """
    cdef Py_ssize_t height = mask.shape[0], width = mask.shape[1], row, column
    result = np.zeros((height, width), np.bool_)
    cdef unsigned char[:, ::1] rim = result
    with nogil:
        for row in range(height):
            for column in range(width):
                if mask[row, column]:
                    rim[row, column] = not (
                        0 < row < height - 1
                        and 0 < column < width - 1
                        and mask[row - 1, column]
                        and mask[row + 1, column]
                        and mask[row, column - 1]
                        and mask[row, column + 1]
                    )
    return result


cdef Py_ssize_t _bend_inwards(
    const int64_t[::1] ends, const unsigned char[::1] known, int64_t[::1] corners
) noexcept nogil:
    """Write the places of the corners of the lower convex envelope of ``ends`` (L,), where they are known; how many."""
    cdef Py_ssize_t count = 0, place
    cdef int64_t one, two
    for place in range(ends.shape[0]):
        if not known[place]:
            continue
        while count > 1:
            one, two = corners[count - 2], corners[count - 1]
            if (ends[two] - ends[one]) * (place - one) < (ends[place] - ends[one]) * (two - one):
                break
            count -= 1
        corners[count] = place
        count += 1
    return count


cdef int64_t _first_inside(const int64_t[::1] ends, int64_t one, int64_t two, Py_ssize_t place) noexcept nogil:
    """Find the first whole pixel at or behind the line between two corners, whose lengths are in half pixels."""
    cdef int64_t run = 2 * (two - one), end = ends[one] * (two - one) + (ends[two] - ends[one]) * (place - one)
    return end // run + (end % run > 0)  # C divides towards zero


def convex_area(const unsigned char[:, :] mask):
    """Count the pixels whose centres lie in the convex hull of the pixels of a mask, or on its edge.

    Twin of the ``area_convex`` of :func:`skimage.measure.regionprops`, whose hull is that of the middles of the sides
    of all pixels. Lengths are counted in half pixels, so that all is done in whole numbers.
    """
    cdef Py_ssize_t height = mask.shape[0], width = mask.shape[1], length = 2 * height + 1
    cdef Py_ssize_t row, column, place, shift, first, last, wider, corners, area = 0, at_left = 0, at_right = 0
    cdef int64_t begin, end, from_left, from_right
    cdef int64_t[::1] left = np.zeros(length, np.int64), right = np.zeros(length, np.int64)
    cdef unsigned char[::1] known = np.zeros(length, np.bool_)
    cdef int64_t[::1] lower = np.empty(length, np.int64), upper = np.empty(length, np.int64)
    with nogil:
        for row in range(height):
            first, last = -1, -1
            for column in range(width):
                if mask[row, column]:
                    if first < 0:
                        first = column
                    last = column
            if first < 0:
                continue
            # Place 2 row + 1 is the row of the centres, those before and behind it are the sides above and below.
            for shift in range(3):
                place, wider = 2 * row + shift, 1 if shift == 1 else 0
                begin, end = 2 * first - wider, -2 * last - wider
                left[place] = min(left[place], begin) if known[place] else begin
                right[place] = min(right[place], end) if known[place] else end
                known[place] = True
        corners = _bend_inwards(left, known, lower)
        _bend_inwards(right, known, upper)
        for row in range(height):
            place = 2 * row + 1
            if not corners or place < lower[0] or place > lower[corners - 1]:
                continue
            while lower[at_left + 1] < place:
                at_left += 1
            while upper[at_right + 1] < place:
                at_right += 1
            from_left = _first_inside(left, lower[at_left], lower[at_left + 1], place)
            from_right = _first_inside(right, upper[at_right], upper[at_right + 1], place)
            area += max(-from_right - from_left + 1, 0)
    return area
