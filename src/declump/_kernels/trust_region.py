"""The step in a trust region of a block-sparse quadratic model."""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.types import Floats, Ints

LEAST_CURVATURE = 1e-6
"""Least curvature that a preconditioner counts on, as a share of the largest of its cell."""


@compiled
def _multiply(blocks: Floats, pairs: Ints, shared: Floats, vector: Floats, product: Floats) -> None:
    """Product of the block-sparse Hessian with a vector (N, P)."""
    cells, parameters = vector.shape
    for cell in range(cells):
        for p in range(parameters):
            product[cell, p] = 0.0
        for q in range(parameters):
            factor = vector[cell, q]
            for p in range(parameters):
                product[cell, p] += blocks[cell, q, p] * factor
    for pair in range(len(pairs)):
        first, second = pairs[pair, 0], pairs[pair, 1]
        for p in range(parameters):
            factor, total = vector[first, p], 0.0
            for q in range(parameters):
                total += shared[pair, p, q] * vector[second, q]
                product[second, q] += shared[pair, p, q] * factor
            product[first, p] += total


@compiled
def factorise(blocks: Floats, free: Floats, damping: float) -> Floats:
    """Cholesky factors (N, P, P), below the diagonal, of the blocks of what is free; 1 on it for what is fixed.

    ``damping`` is added to every curvature; where there is hardly any even then, a little of the largest of its cell.
    """
    cells, parameters = free.shape
    factors = np.zeros((cells, parameters, parameters))
    for cell in range(cells):
        factor, largest = factors[cell], 0.0
        for p in range(parameters):
            largest = max(largest, blocks[cell, p, p] * free[cell, p])
        least = LEAST_CURVATURE * largest if largest > 0.0 else 1.0
        for p in range(parameters):
            if free[cell, p] == 0.0:
                factor[p, p] = 1.0
                continue
            for q in range(p + 1):
                total = blocks[cell, p, q] * free[cell, q]
                for r in range(q):
                    total -= factor[p, r] * factor[q, r]
                if q == p:
                    factor[p, p] = np.sqrt(max(total + damping, least))
                else:
                    factor[p, q] = total / factor[q, q]
    return factors


@compiled
def _precondition(factors: Floats, vector: Floats, result: Floats) -> None:
    """Solve the equations of every cell by itself, whose blocks have these factors, for a vector (N, P)."""
    cells, parameters = vector.shape
    for cell in range(cells):
        factor = factors[cell]
        for p in range(parameters):
            total = vector[cell, p]
            for q in range(p):
                total -= factor[p, q] * result[cell, q]
            result[cell, p] = total / factor[p, p]
        for p in range(parameters - 1, -1, -1):
            value = result[cell, p] / factor[p, p]
            result[cell, p] = value
            for q in range(p):
                result[cell, q] -= factor[p, q] * value


@compiled
def _inner(first: Floats, second: Floats) -> float:
    total = 0.0
    for cell in range(first.shape[0]):
        for p in range(first.shape[1]):
            total += first[cell, p] * second[cell, p]
    return total


@compiled
def _add(target: Floats, factor: float, vector: Floats) -> None:
    for cell in range(target.shape[0]):
        for p in range(target.shape[1]):
            target[cell, p] += factor * vector[cell, p]


@compiled
def truncated_conjugate_gradient(
    gradient: Floats,
    blocks: Floats,
    pairs: Ints,
    shared: Floats,
    free: Floats,
    factors: Floats,
    radius: float,
    tolerance: float,
    bound: int,
) -> tuple[Floats, bool]:
    """Steihaug's method: the step in a trust region of a block-sparse quadratic model; fixed parameters do not move.

    ``factors`` (N, P, P) are those of the blocks that it is preconditioned by (:func:`factorise`): each cell by itself
    is solved at once, and only what cells do to each other takes turns. Units are plain conjugate gradients.

    Returns
    -------
    step : (N, P)
    on_border : bool
        Whether the step ends on the border of the region.
    """
    cells, parameters = gradient.shape
    step, product = np.zeros((cells, parameters)), np.empty((cells, parameters))
    residual, solved = np.empty((cells, parameters)), np.empty((cells, parameters))
    for cell in range(cells):
        for p in range(parameters):
            residual[cell, p] = -gradient[cell, p] * free[cell, p]
    _precondition(factors, residual, solved)
    direction = solved.copy()
    squared = _inner(residual, solved)
    target = squared * tolerance * tolerance
    for _ in range(bound):
        if squared <= target or squared == 0.0:
            break
        _multiply(blocks, pairs, shared, direction, product)
        for cell in range(cells):
            for p in range(parameters):
                product[cell, p] *= free[cell, p]
        curvature = _inner(direction, product)
        length = squared / curvature if curvature > 0 else np.inf
        a, b = _inner(direction, direction), _inner(step, direction)
        c = _inner(step, step) - radius * radius
        to_border = (-b + np.sqrt(max(b * b - a * c, 0.0))) / a
        if length >= to_border:
            _add(step, to_border, direction)
            return step, True
        _add(step, length, direction)
        _add(residual, -length, product)
        _precondition(factors, residual, solved)
        following = _inner(residual, solved)
        for cell in range(cells):
            for p in range(parameters):
                direction[cell, p] = solved[cell, p] + following / squared * direction[cell, p]
        squared = following
    return step, False


@compiled
def predicted_decrease(gradient: Floats, blocks: Floats, pairs: Ints, shared: Floats, step: Floats) -> float:
    """Decrease of the block-sparse quadratic model along a step."""
    product = np.empty_like(step)
    _multiply(blocks, pairs, shared, step, product)
    return -_inner(gradient, step) - 0.5 * _inner(step, product)
