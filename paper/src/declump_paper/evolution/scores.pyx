"""What outlines are worth: pixels that count for or against them, summed inside each."""

from libc.stdint cimport int8_t, int32_t, int64_t

from declump._kernels.outlines cimport pixels_inside

import numpy as np


def sum_pixel_scores(
    const int8_t[:, ::1] pixel_scores,
    Py_ssize_t row,
    Py_ssize_t column,
    const double[:, ::1] radii,
    const double[::1] rises,
    const double[::1] runs,
    table,
):
    """Sum ``pixel_scores`` (H, W) over the pixels inside each of N outlines round one seed.

    Twin of :func:`declump_paper.evolution.cover.sum_scores_by_masks`; ``table`` is a
    :class:`declump._kernels.types.PolarTable`.
    """
    cdef const int64_t[::1] starts = table.starts
    cdef const int32_t[::1] d_rows = table.rows, d_columns = table.columns
    cdef const double[::1] distances = table.distances
    cdef Py_ssize_t height = pixel_scores.shape[0], width = pixel_scores.shape[1], outline, index, size
    cdef int64_t[::1] inside = np.empty(height * width, np.int64)
    result = np.zeros(radii.shape[0], np.int64)
    cdef int64_t[::1] sums = result
    with nogil:
        for outline in range(radii.shape[0]):
            size = pixels_inside(
                row, column, radii[outline], rises, runs, starts, d_rows, d_columns, distances, height, width, inside
            )
            for index in range(size):
                sums[outline] += pixel_scores[inside[index] // width, inside[index] % width]
    return result
