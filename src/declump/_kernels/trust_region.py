"""The step in a trust region of a block-sparse quadratic model."""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.types import Floats, Ints


@compiled
def _multiply(blocks: Floats, pairs: Ints, shared: Floats, vector: Floats, product: Floats) -> None:
    """Product of the block-sparse Hessian with a vector (N, P)."""
    cells, parameters = vector.shape
    for cell in range(cells):
        for p in range(parameters):
            total = 0.0
            for q in range(parameters):
                total += blocks[cell, p, q] * vector[cell, q]
            product[cell, p] = total
    for pair in range(len(pairs)):
        first, second = pairs[pair, 0], pairs[pair, 1]
        for p in range(parameters):
            for q in range(parameters):
                product[first, p] += shared[pair, p, q] * vector[second, q]
                product[second, q] += shared[pair, p, q] * vector[first, p]


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
    radius: float,
    tolerance: float,
    bound: int,
) -> tuple[Floats, bool]:
    """Steihaug's method: the step in a trust region of a block-sparse quadratic model; fixed parameters do not move.

    Returns
    -------
    step : (N, P)
    on_border : bool
        Whether the step ends on the border of the region.
    """
    cells, parameters = gradient.shape
    step, product = np.zeros((cells, parameters)), np.empty((cells, parameters))
    residual, direction = np.empty((cells, parameters)), np.empty((cells, parameters))
    for cell in range(cells):
        for p in range(parameters):
            residual[cell, p] = direction[cell, p] = -gradient[cell, p] * free[cell, p]
    squared = _inner(residual, residual)
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
        following = _inner(residual, residual)
        for cell in range(cells):
            for p in range(parameters):
                direction[cell, p] = residual[cell, p] + following / squared * direction[cell, p]
        squared = following
    return step, False


@compiled
def predicted_decrease(gradient: Floats, blocks: Floats, pairs: Ints, shared: Floats, step: Floats) -> float:
    """Decrease of the block-sparse quadratic model along a step."""
    product = np.empty_like(step)
    _multiply(blocks, pairs, shared, step, product)
    return -_inner(gradient, step) - 0.5 * _inner(step, product)
