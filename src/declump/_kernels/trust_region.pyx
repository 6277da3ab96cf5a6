"""The step in a trust region of a block-sparse quadratic model."""

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int64_t

import numpy as np

cdef double LEAST_CURVATURE = 1e-6
"""Least curvature that a preconditioner counts on, as a share of the largest of its cell."""


cdef void _multiply(
    const double[:, :, ::1] blocks,
    const int64_t[:, ::1] pairs,
    const double[:, :, ::1] shared,
    const double[:, ::1] vector,
    double[:, ::1] product,
) noexcept nogil:
    """Product of the block-sparse Hessian with a vector (N, P)."""
    cdef Py_ssize_t parameters = vector.shape[1], cell, pair, first, second, p, q
    cdef double factor, total
    for cell in range(vector.shape[0]):
        for p in range(parameters):
            product[cell, p] = 0.0
        for q in range(parameters):
            factor = vector[cell, q]
            for p in range(parameters):
                product[cell, p] += blocks[cell, q, p] * factor
    for pair in range(pairs.shape[0]):
        first, second = pairs[pair, 0], pairs[pair, 1]
        for p in range(parameters):
            factor, total = vector[first, p], 0.0
            for q in range(parameters):
                total += shared[pair, p, q] * vector[second, q]
                product[second, q] += shared[pair, p, q] * factor
            product[first, p] += total


def factorise(const double[:, :, ::1] blocks, const double[:, ::1] free, double damping):
    """Cholesky factors (N, P, P), below the diagonal, of the blocks of what is free; 1 on it for what is fixed.

    ``damping`` is added to every curvature; where there is hardly any even then, a little of the largest of its cell.
    """
    cdef Py_ssize_t cells = free.shape[0], parameters = free.shape[1], cell, p, q, r
    cdef double largest, least, total
    result = np.zeros((cells, parameters, parameters))
    cdef double[:, :, ::1] factors = result
    with nogil:
        for cell in range(cells):
            largest = 0.0
            for p in range(parameters):
                largest = max(largest, blocks[cell, p, p] * free[cell, p])
            least = LEAST_CURVATURE * largest if largest > 0.0 else 1.0
            for p in range(parameters):
                if free[cell, p] == 0.0:
                    factors[cell, p, p] = 1.0
                    continue
                for q in range(p + 1):
                    total = blocks[cell, p, q] * free[cell, q]
                    for r in range(q):
                        total -= factors[cell, p, r] * factors[cell, q, r]
                    if q == p:
                        factors[cell, p, p] = sqrt(max(total + damping, least))
                    else:
                        factors[cell, p, q] = total / factors[cell, q, q]
    return result


cdef void _precondition(
    const double[:, :, ::1] factors, const double[:, ::1] vector, double[:, ::1] result
) noexcept nogil:
    """Solve the equations of every cell by itself, whose blocks have these factors, for a vector (N, P)."""
    cdef Py_ssize_t parameters = vector.shape[1], cell, p, q
    cdef double total
    for cell in range(vector.shape[0]):
        for p in range(parameters):
            total = vector[cell, p]
            for q in range(p):
                total -= factors[cell, p, q] * result[cell, q]
            result[cell, p] = total / factors[cell, p, p]
        for p in range(parameters - 1, -1, -1):
            total = result[cell, p] / factors[cell, p, p]
            result[cell, p] = total
            for q in range(p):
                result[cell, q] -= factors[cell, p, q] * total


cdef double _inner(const double[:, ::1] first, const double[:, ::1] second) noexcept nogil:
    cdef Py_ssize_t cell, p
    cdef double total = 0.0
    for cell in range(first.shape[0]):
        for p in range(first.shape[1]):
            total += first[cell, p] * second[cell, p]
    return total


cdef void _add(double[:, ::1] target, double factor, const double[:, ::1] vector) noexcept nogil:
    cdef Py_ssize_t cell, p
    for cell in range(target.shape[0]):
        for p in range(target.shape[1]):
            target[cell, p] += factor * vector[cell, p]


def truncated_conjugate_gradient(
    const double[:, ::1] gradient,
    const double[:, :, ::1] blocks,
    const int64_t[:, ::1] pairs,
    const double[:, :, ::1] shared,
    const double[:, ::1] free,
    const double[:, :, ::1] factors,
    double radius,
    double tolerance,
    Py_ssize_t bound,
):
    """Steihaug's method: the step in a trust region of a block-sparse quadratic model; fixed parameters do not move.

    ``factors`` (N, P, P) are those of the blocks that it is preconditioned by (:func:`factorise`): each cell by itself
    is solved at once, and only what cells do to each other takes turns. Units are plain conjugate gradients.

    Returns
    -------
    step : (N, P)
    on_border : bool
        Whether the step ends on the border of the region.
    """
    cdef Py_ssize_t cells = gradient.shape[0], parameters = gradient.shape[1], cell, p, number
    cdef double squared, target, curvature, length, a, b, c, to_border, following
    result = np.zeros((cells, parameters))
    cdef double[:, ::1] step = result
    cdef double[:, ::1] product = np.empty((cells, parameters)), direction = np.empty((cells, parameters))
    cdef double[:, ::1] residual = np.empty((cells, parameters)), solved = np.empty((cells, parameters))
    cdef bint on_border = False
    with nogil:
        for cell in range(cells):
            for p in range(parameters):
                residual[cell, p] = -gradient[cell, p] * free[cell, p]
        _precondition(factors, residual, solved)
        direction[:] = solved
        squared = _inner(residual, solved)
        target = squared * tolerance * tolerance
        for number in range(bound):
            if squared <= target or squared == 0.0:
                break
            _multiply(blocks, pairs, shared, direction, product)
            for cell in range(cells):
                for p in range(parameters):
                    product[cell, p] *= free[cell, p]
            curvature = _inner(direction, product)
            length = squared / curvature if curvature > 0 else INFINITY
            a, b = _inner(direction, direction), _inner(step, direction)
            c = _inner(step, step) - radius * radius
            to_border = (-b + sqrt(max(b * b - a * c, 0.0))) / a
            if length >= to_border:
                _add(step, to_border, direction)
                on_border = True
                break
            _add(step, length, direction)
            _add(residual, -length, product)
            _precondition(factors, residual, solved)
            following = _inner(residual, solved)
            for cell in range(cells):
                for p in range(parameters):
                    direction[cell, p] = solved[cell, p] + following / squared * direction[cell, p]
            squared = following
    return result, on_border


def predicted_decrease(
    const double[:, ::1] gradient,
    const double[:, :, ::1] blocks,
    const int64_t[:, ::1] pairs,
    const double[:, :, ::1] shared,
    const double[:, ::1] step,
):
    """Decrease of the block-sparse quadratic model along a step."""
    cdef double[:, ::1] product = np.empty((step.shape[0], step.shape[1]))
    with nogil:
        _multiply(blocks, pairs, shared, step, product)
    return -_inner(gradient, step) - 0.5 * _inner(step, product)
