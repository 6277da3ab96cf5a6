"""Level sets in a narrow band: distance-regularised flow."""

from libc.math cimport M_PI, cos, fabs, sin, sqrt
from libc.stdint cimport int32_t

from declump._kernels.outlines cimport TAU

import numpy as np

cdef enum Mark:  # nothing is done, derivatives are taken, the function changes
    IS_OUTSIDE = 0
    IS_RING = 1
    IS_BAND = 2

OUTSIDE, RING, BAND = IS_OUTSIDE, IS_RING, IS_BAND


cdef Py_ssize_t _mark_band(
    const double[:, ::1] phi, Py_ssize_t reach, unsigned char[:, ::1] marks, int32_t[:, ::1] band
) noexcept nogil:
    cdef Py_ssize_t height = phi.shape[0], width = phi.shape[1], count = 0, row, column, near, beside
    cdef bint inside
    marks[:, :] = IS_OUTSIDE
    for row in range(height):
        for column in range(width):
            inside = phi[row, column] <= 0
            if not (
                (column + 1 < width and (phi[row, column + 1] <= 0) != inside)
                or (row + 1 < height and (phi[row + 1, column] <= 0) != inside)
            ):
                continue
            for near in range(max(row - reach - 1, 0), min(row + reach + 2, height)):
                for beside in range(max(column - reach - 1, 0), min(column + reach + 2, width)):
                    if -reach <= near - row <= reach and -reach <= beside - column <= reach:
                        marks[near, beside] = IS_BAND
                    elif marks[near, beside] == IS_OUTSIDE:
                        marks[near, beside] = IS_RING
    for row in range(height):
        for column in range(width):
            if marks[row, column] != IS_OUTSIDE:
                band[count, 0], band[count, 1] = row, column
                count += 1
    return count


def mark_band(const double[:, ::1] phi, Py_ssize_t reach, unsigned char[:, ::1] marks, int32_t[:, ::1] band):
    """Mark the pixels near the outline and list them, ring and band alike; gives their number.

    Twin of :func:`declump_paper.compared.level_sets.find_band`.
    """
    with nogil:
        count = _mark_band(phi, reach, marks, band)
    return count


def flow(
    double[:, ::1] phi,
    const double[:, ::1] edge,
    const double[:, ::1] push,
    double centre_row,
    double centre_column,
    double step,
    double regularity,
    double length,
    double star,
    double width,
    bint tails,
    Py_ssize_t steps,
    Py_ssize_t reach,
    Py_ssize_t renewal,
):
    """Move a level-set function (H, W) in place; twin of :func:`declump_paper.compared.level_sets.flow_by_arrays`."""
    cdef Py_ssize_t height = phi.shape[0], across = phi.shape[1], count = 0
    cdef Py_ssize_t number, index, row, column, above, below, left, right
    cdef double down, aside, slope, excess, rise, run, distance, falling, laplacian, flux, total, value, dirac, speed
    cdef double curvature, along
    cdef unsigned char[:, ::1] marks = np.zeros((height, across), np.uint8)
    cdef int32_t[:, ::1] band = np.empty((height * across, 2), np.int32)
    # Of every marked pixel: normal (rows, columns), flux of the regularity, flux of the star.
    cdef double[:, :, ::1] fields = np.zeros((height, across, 6))
    cdef double[::1] change = np.empty(height * across)
    with nogil:
        for number in range(steps):
            if number % renewal == 0:
                count = _mark_band(phi, reach, marks, band)
                if count == 0:
                    break
            for index in range(count):
                row, column = band[index, 0], band[index, 1]
                above, below = max(row - 1, 0), min(row + 1, height - 1)
                left, right = max(column - 1, 0), min(column + 1, across - 1)
                down = (phi[below, column] - phi[above, column]) / 2
                aside = (phi[row, right] - phi[row, left]) / 2
                slope = sqrt(down * down + aside * aside)
                fields[row, column, 0] = down / (slope + 1e-10)
                fields[row, column, 1] = aside / (slope + 1e-10)
                # Double well: flat and unit slope are both at rest. The factor minus 1; the 1 is the Laplacian below.
                if slope < 1e-10:
                    excess = 0.0
                elif slope <= 1:
                    excess = sin(TAU * slope) / (TAU * slope) - 1
                else:
                    excess = (slope - 1) / slope - 1
                fields[row, column, 2] = excess * down
                fields[row, column, 3] = excess * aside
                if star > 0:
                    rise, run = row - centre_row, column - centre_column
                    distance = max(sqrt(rise * rise + run * run), 1e-10)
                    rise, run = rise / distance, run / distance
                    falling = min(down * rise + aside * run, 0.0)
                    fields[row, column, 4] = falling * rise
                    fields[row, column, 5] = falling * run
            for index in range(count):
                row, column = band[index, 0], band[index, 1]
                change[index] = 0.0
                if marks[row, column] != IS_BAND:
                    continue
                above, below = max(row - 1, 0), min(row + 1, height - 1)
                left, right = max(column - 1, 0), min(column + 1, across - 1)
                laplacian = (
                    phi[below, column] + phi[above, column] + phi[row, right] + phi[row, left] - 4 * phi[row, column]
                )
                flux = (
                    fields[below, column, 2] - fields[above, column, 2] + fields[row, right, 3] - fields[row, left, 3]
                ) / 2
                total = regularity * (laplacian + flux)
                if star > 0:
                    flux = (
                        fields[below, column, 4]
                        - fields[above, column, 4]
                        + fields[row, right, 5]
                        - fields[row, left, 5]
                    )
                    total += star * flux / 2
                value = phi[row, column]
                if tails or fabs(value) <= width:
                    if tails:
                        dirac = width / (M_PI * (width * width + value * value))
                    else:
                        dirac = (1 + cos(M_PI * value / width)) / (2 * width)
                    speed = push[row, column]
                    if length > 0:
                        curvature = (
                            fields[below, column, 0]
                            - fields[above, column, 0]
                            + fields[row, right, 1]
                            - fields[row, left, 1]
                        ) / 2
                        along = (
                            (edge[below, column] - edge[above, column]) * fields[row, column, 0]
                            + (edge[row, right] - edge[row, left]) * fields[row, column, 1]
                        ) / 2
                        speed += length * (along + edge[row, column] * curvature)
                    total += dirac * speed
                change[index] = step * total
            for index in range(count):
                phi[band[index, 0], band[index, 1]] += change[index]
