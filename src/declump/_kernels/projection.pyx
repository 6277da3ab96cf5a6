"""From derivatives of the energy by the radii to those by the parameters: a block-sparse Gauss-Newton Hessian.

What the pixels say is gathered on the rays first, which costs little, and then carried over to the parameters here.
With what gathers it, these are the twin of :func:`declump.evolution.energy.normal_equations`.
"""

from libc.stdint cimport int32_t, int64_t

import numpy as np


cdef inline void _add(double* target, double factor, const double* row, Py_ssize_t count) noexcept nogil:
    """Add a row, times a factor; plain pointers are added several numbers at once."""
    cdef Py_ssize_t index
    for index in range(count):
        target[index] += factor * row[index]


cdef inline void _add_four(
    double* target,
    double one,
    double two,
    double three,
    double four,
    const double* rows,
    Py_ssize_t count,
) noexcept nogil:
    """Add four rows that follow one another, each times its factor."""
    cdef Py_ssize_t index
    cdef const double* second = rows + count
    cdef const double* third = second + count
    cdef const double* fourth = third + count
    for index in range(count):
        target[index] += (one * rows[index] + two * second[index]) + (three * third[index] + four * fourth[index])


def carry_gradient(const double[:, :, ::1] basis, const double[:, ::1] by_radius):
    """Gradient (N, P) of the energy, by the derivatives (N, K) of it by the radii.

    ``basis`` (N, K, P) are the derivatives of each cell's radii by its own parameters.
    """
    cdef Py_ssize_t cells = basis.shape[0], rays = basis.shape[1], parameters = basis.shape[2], cell, ray
    cdef double push
    result = np.zeros((cells, parameters))
    cdef double[:, ::1] gradient = result
    with nogil:
        for cell in range(cells):
            for ray in range(rays):
                push = by_radius[cell, ray]
                if push != 0.0:
                    _add(&gradient[cell, 0], push, &basis[cell, ray, 0], parameters)
    return result


def thin_curvatures(const double[:, ::1] diagonal, const double[:, ::1] adjacent, Py_ssize_t stride):
    """Second derivatives (N, K / stride) by every so manieth ray, between which the others are interpolated.

    ``diagonal`` and ``adjacent`` (N, K) are those of a ray with itself and with the next; so is what is given.
    """
    cdef Py_ssize_t cells = diagonal.shape[0], rays = diagonal.shape[1], cell, kept, following, offset
    cdef double curvature, coupling, far, later
    of_rays, of_next = np.zeros((cells, rays // stride)), np.zeros((cells, rays // stride))
    cdef double[:, ::1] own = of_rays, next_ = of_next
    with nogil:
        for cell in range(cells):
            for kept in range(rays // stride):
                following = kept + 1 if (kept + 1) * stride < rays else 0
                for offset in range(stride):
                    curvature, coupling = diagonal[cell, kept * stride + offset], adjacent[cell, kept * stride + offset]
                    far, later = <double>offset / stride, <double>(offset + 1) / stride
                    own[cell, kept] += (1 - far) * ((1 - far) * curvature + 2 * (1 - later) * coupling)
                    own[cell, following] += far * (far * curvature + 2 * later * coupling)
                    next_[cell, kept] += (
                        far * (1 - far) * curvature + ((1 - far) * later + far * (1 - later)) * coupling
                    )
    return of_rays, of_next


def own_blocks(const double[:, :, ::1] basis, const double[:, ::1] diagonal, const double[:, ::1] adjacent):
    """Diagonal blocks (N, P, P) of the Hessian, by the second derivatives (N, K) of the energy by the radii.

    ``basis`` (N, K, P) are the derivatives of each cell's radii by its own parameters.
    """
    cdef Py_ssize_t cells = basis.shape[0], rays = basis.shape[1], parameters = basis.shape[2]
    cdef Py_ssize_t cell, ray, before, following, count, p, q
    cdef double on, back, forth, value
    result = np.zeros((cells, parameters, parameters))
    cdef double[:, :, ::1] blocks = result
    # Four rays at once below; those added to make it up weigh nothing.
    cdef double[:, ::1] own = np.zeros((rays + 3, parameters)), weighted = np.zeros((rays + 3, parameters))
    with nogil:
        for cell in range(cells):
            count = 0
            for ray in range(rays):
                before, following = ray - 1 if ray > 0 else rays - 1, ray + 1 if ray + 1 < rays else 0
                on, back, forth = diagonal[cell, ray], adjacent[cell, before], adjacent[cell, ray]
                if on == 0.0:
                    continue
                for p in range(parameters):
                    value = basis[cell, ray, p]
                    own[count, p] = value
                    weighted[count, p] = on * value + forth * basis[cell, following, p] + back * basis[cell, before, p]
                count += 1
            weighted[count : count + 3] = 0.0
            for ray in range(0, count, 4):
                for p in range(parameters):
                    _add_four(  # the whole row: half would be slower, as its lengths differ
                        &blocks[cell, p, 0],
                        own[ray, p],
                        own[ray + 1, p],
                        own[ray + 2, p],
                        own[ray + 3, p],
                        &weighted[ray, 0],
                        parameters,
                    )
            for p in range(parameters):
                for q in range(p):
                    blocks[cell, p, q] = blocks[cell, q, p]
    return result


def shared_blocks(const double[:, :, ::1] basis, meetings, Py_ssize_t stride):
    """Off-diagonal blocks (Q, P, P) of the pairs (Q, 2) of cells that meet, the earlier cell first.

    ``basis`` (N, K / stride, P) may be that of every so manieth ray, as in :func:`thin_curvatures`; meetings name all.
    """
    of_cells, of_sectors, of_fractions, of_slopes, of_earlier = meetings
    cdef const int32_t[::1] cell_of = of_cells, sector_of = of_sectors, before = of_earlier
    cdef const double[::1] fraction_of = of_fractions, slope_of = of_slopes
    cdef Py_ssize_t cells = basis.shape[0], rays = basis.shape[1], parameters = basis.shape[2], count = 0
    cdef Py_ssize_t visit, other, cell, earlier, sector, following, pair, p, q
    cdef double fraction, factor, value
    cdef int32_t[:, ::1] pair_of = np.full((cells, cells), -1, np.int32)
    with nogil:
        for visit in range(cell_of.shape[0]):
            other = before[visit]
            while other >= 0:
                if pair_of[cell_of[other], cell_of[visit]] < 0:
                    pair_of[cell_of[other], cell_of[visit]] = count
                    count += 1
                other = before[other]
    of_pairs, result = np.empty((count, 2), np.int64), np.zeros((count, parameters, parameters))
    cdef int64_t[:, ::1] pairs = of_pairs
    cdef double[:, :, ::1] shared = result
    cdef double[::1] later = np.empty(parameters)
    with nogil:
        for earlier in range(cells):
            for cell in range(cells):
                if pair_of[earlier, cell] >= 0:
                    pairs[pair_of[earlier, cell], 0] = earlier
                    pairs[pair_of[earlier, cell], 1] = cell
        for visit in range(cell_of.shape[0]):
            other = before[visit]
            if other < 0:
                continue
            cell, sector = cell_of[visit], sector_of[visit] // stride
            fraction = (sector_of[visit] % stride + fraction_of[visit]) / stride
            following = sector + 1 if sector + 1 < rays else 0
            for q in range(parameters):
                later[q] = (1 - fraction) * basis[cell, sector, q] + fraction * basis[cell, following, q]
            while other >= 0:
                earlier, sector = cell_of[other], sector_of[other] // stride
                fraction = (sector_of[other] % stride + fraction_of[other]) / stride
                following = sector + 1 if sector + 1 < rays else 0
                pair = pair_of[earlier, cell]
                factor = 2 * slope_of[visit] * slope_of[other]
                for p in range(parameters):
                    value = factor * (
                        (1 - fraction) * basis[earlier, sector, p] + fraction * basis[earlier, following, p]
                    )
                    _add(&shared[pair, p, 0], value, &later[0], parameters)
                other = before[other]
    return of_pairs, result
