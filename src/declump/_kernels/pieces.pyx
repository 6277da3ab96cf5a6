"""Connected pieces of a mask as runs along its rows, which are far fewer than its pixels."""

from libc.stdint cimport int32_t, int64_t, uint32_t

import numpy as np

ctypedef fused number:
    unsigned char
    int32_t
    uint32_t
    int64_t


cdef inline int32_t _find_first(int32_t[::1] joined, int32_t run) noexcept nogil:
    """First run of the piece that a run belongs to, as far as is known; the way there becomes shorter."""
    while joined[run] != run:
        joined[run] = joined[joined[run]]
        run = joined[run]
    return run


def find_runs(const unsigned char[:, :] mask, bint corners):
    """Runs (R, 3) of a mask (H, W) along its rows: row, first column and the one behind the last.

    Also the piece (R,), from 0, that each belongs to, and the number of pieces. Pieces are numbered as they are met
    along the rows. Twin of :func:`scipy.ndimage.label`, with neighbours by a side, or by a corner as well.
    """
    cdef Py_ssize_t height = mask.shape[0], width = mask.shape[1], reach = 1 if corners else 0
    cdef Py_ssize_t count = 0, above = 0, above_end = 0, row, first, column, begin, other, run
    cdef int32_t one, two, number_of_pieces = 0
    found = np.empty((height * ((width + 1) // 2), 3), np.int32)
    cdef int32_t[:, ::1] runs = found
    cdef int32_t[::1] joined = np.empty(len(found), np.int32)
    with nogil:
        for row in range(height):
            first, column = count, 0
            while column < width:
                if not mask[row, column]:
                    column += 1
                    continue
                begin = column
                while column < width and mask[row, column]:
                    column += 1
                runs[count, 0], runs[count, 1], runs[count, 2] = row, begin, column
                joined[count] = count
                while above < above_end and runs[above, 2] + reach <= begin:
                    above += 1
                other = above
                while other < above_end and runs[other, 1] < column + reach:
                    one, two = _find_first(joined, other), _find_first(joined, count)
                    joined[max(one, two)] = min(one, two)
                    other += 1
                count += 1
            above, above_end = first, count
    of_runs = np.empty(count, np.int32)
    cdef int32_t[::1] pieces = of_runs
    with nogil:
        for run in range(count):
            if joined[run] == run:
                pieces[run] = number_of_pieces
                number_of_pieces += 1
            else:  # an earlier run, whose piece is known
                pieces[run] = pieces[_find_first(joined, run)]
    return found[:count].copy(), of_runs, number_of_pieces


def measure_runs(
    const int32_t[:, ::1] runs, const int32_t[::1] pieces, Py_ssize_t count, Py_ssize_t height, Py_ssize_t width
):
    """Areas (n,), first pixels (n, 2) and extents (n, 4) of pieces that are made of runs in a mask (H, W).

    Also their numbers, from 1, along its top, left, bottom and right edge: (4, the longer side).
    """
    of_areas, of_firsts = np.zeros(count, np.int64), np.empty((count, 2), np.int64)
    of_boxes, of_edges = np.empty((count, 4), np.int64), np.zeros((4, max(height, width)), np.int32)
    cdef int64_t[::1] areas = of_areas
    cdef int64_t[:, ::1] firsts = of_firsts, boxes = of_boxes
    cdef int32_t[:, ::1] edges = of_edges
    cdef Py_ssize_t run, row, begin, end, piece
    with nogil:
        for run in range(runs.shape[0]):
            row, begin, end, piece = runs[run, 0], runs[run, 1], runs[run, 2], pieces[run]
            if not areas[piece]:
                firsts[piece, 0], firsts[piece, 1] = row, begin
                boxes[piece, 0], boxes[piece, 1], boxes[piece, 3] = row, begin, end
            areas[piece] += end - begin
            boxes[piece, 1] = min(boxes[piece, 1], <int64_t>begin)
            boxes[piece, 2] = row + 1
            boxes[piece, 3] = max(boxes[piece, 3], <int64_t>end)
            if row == 0:
                edges[0, begin:end] = piece + 1
            if begin == 0:
                edges[1, row] = piece + 1
            if row == height - 1:
                edges[2, begin:end] = piece + 1
            if end == width:
                edges[3, row] = piece + 1
    return of_areas, of_firsts, of_boxes, of_edges


def paint_runs(number[:, :] image, const int32_t[:, ::1] runs, const int32_t[::1] pieces, values):
    """Put the value (n,) of each piece into the pixels of its runs in an image (H, W)."""
    cdef const int64_t[::1] of_pieces = np.asarray(values, np.int64)
    cdef Py_ssize_t run, column
    cdef number value
    with nogil:
        for run in range(runs.shape[0]):
            value = <number>of_pieces[pieces[run]]
            for column in range(runs[run, 1], runs[run, 2]):
                image[runs[run, 0], column] = value
