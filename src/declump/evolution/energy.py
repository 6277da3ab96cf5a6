"""The discrepancy between a clump and the union of its cells (equation 2), and its derivatives, in plain NumPy.

This is the text to read, and computes nothing with :mod:`declump._kernels`, which gives the same numbers fast.

A cell covers a pixel at distance d from its seed by ``u = step((R - d) / softness)``, where R is its radius in the
pixel's direction and ``step`` rises smoothly from 0 at -1 to 1 at 1. N cells cover it by ``U = 1 - prod(1 - u_i)``.
With the clump C (1 inside, 0 outside) the soft discrepancy is ``sum (U - C)^2``, a non-linear least-squares problem;
the hard one, which the paper prints, is what remains when the softness goes to zero. Pixels further than the softness
from every outline do not change, and are not visited by the kernels.

Evidence beside the clump adds a term: how far the radii are from expected ones (:func:`ray_misfit`). These may be wrong
here and there, and are held against a robust loss.

Between two rays the radius is interpolated linearly by the angle; the polygon that a mask is filled from runs along the
chord instead, nearer to the seed by at most ``R (1 - cos(pi / K))``: 0.004 pixels for a radius of 100 and K = 360.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.shapes import contours

Floats = NDArray[np.float64]


def polar_coordinates(
    rows: NDArray[np.int64], columns: NDArray[np.int64], rays: int
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Distance, sector and fraction of a sector of pixels at given offsets from a seed."""
    position = np.mod(np.arctan2(rows, columns), 2 * np.pi) * (rays / (2 * np.pi))
    sectors = np.floor(position).astype(np.int64)
    return np.hypot(rows, columns), sectors % rays, position - sectors


def smooth_step(depth: Floats) -> Floats:
    """Coverage at a depth given in units of the softness: 0 below -1, 1 above 1, a cubic between."""
    depth = np.clip(depth, -1, 1)
    return 0.5 + depth * (3 - depth**2) / 4


def smooth_step_slope(depth: Floats) -> Floats:
    """Derivative of :func:`smooth_step`."""
    return 0.75 * (1 - np.clip(depth, -1, 1) ** 2)


def pose(mean: Floats, modes: Floats, coefficients: Floats, log_scale: float, rotation: float) -> tuple[Floats, Floats]:
    """Radii of a hypothesis, scaled and turned, and their derivatives.

    Parameters
    ----------
    mean : (K,), modes : (K, t), coefficients : (t,)
        The shape ``mean + modes @ coefficients``.
    log_scale, rotation : float
        Natural logarithm of the scale; radians.

    Returns
    -------
    radii : (K,)
    basis : (K, t + 2)
        Derivatives by the coefficients, the log scale and the rotation.
    """
    shape, scale = mean + modes @ coefficients, np.exp(log_scale)
    radii = scale * contours.rotate(shape, rotation)
    whole, _, slopes = contours.rotation_taps(float(rotation), mean.size)
    turning = np.sum([slope * np.roll(shape, whole + tap - 1) for tap, slope in enumerate(slopes)], axis=0)
    return radii, np.column_stack([scale * contours.rotate(modes.T, rotation).T, radii, scale * turning])


def hard_discrepancy(clump: NDArray[np.bool_], seeds: NDArray[np.int64], radii: Floats) -> int:
    """Equation 2 with binary masks: in how many pixels the union of the cells and the clump differ.

    Parameters
    ----------
    clump : (H, W) bool
    seeds : (N, 2) int
    radii : (N, K)
    """
    union, pixels = np.zeros(clump.shape, dtype=np.bool_), np.moveaxis(np.indices(clump.shape), 0, -1)
    for seed, radius in zip(seeds, radii, strict=True):
        union |= contours.inside(pixels, seed, radius)
    return int(np.sum(union != clump))


def coverages(shape: tuple[int, ...], seeds: NDArray[np.int64], radii: Floats, softness: float) -> Floats:
    """Soft coverage (N, H, W) of every pixel by every cell."""
    result = np.empty((len(seeds), *shape))
    for index, (distances, radius, _, _) in enumerate(_rays_at_pixels(shape, seeds, radii)):
        result[index] = smooth_step((radius - distances) / softness)
    return result


def soft_discrepancy(clump: NDArray[np.bool_], seeds: NDArray[np.int64], radii: Floats, softness: float) -> float:
    """Sum over all pixels of ``(U - C)^2``."""
    union = 1 - np.prod(1 - coverages(clump.shape, seeds, radii, softness), axis=0)
    return float(np.sum((union - clump) ** 2))


def robust_loss(residuals: Floats, scales: Floats | float) -> Floats:
    """Loss of Geman and McClure: the square of a small residual, never more than the square of the scale."""
    return residuals**2 / (1 + (residuals / scales) ** 2)


def robust_weights(residuals: Floats, scales: Floats | float) -> Floats:
    """What the square of a residual is to be weighed by for the slope of :func:`robust_loss`; from 1 down to 0.

    The loss is concave in the square, so squares with these weights lie above it: a Hessian from them is never
    indefinite, and what lowers them lowers the loss.
    """
    return 1 / (1 + (residuals / scales) ** 2) ** 2


def ray_misfit(radii: Floats, targets: Floats, precisions: Floats, tolerances: Floats | float = np.inf) -> float:
    """Sum over cells and rays of ``precision loss(R - target)``: what is expected of the outline apart from the clump.

    Parameters
    ----------
    radii, targets, precisions : (N, K)
    tolerances : (N, K) or float
        Scales of :func:`robust_loss` in pixels; where infinite the loss is the square.
    """
    return float(np.sum(precisions * robust_loss(radii - targets, tolerances)))


def normal_equations(
    clump: NDArray[np.bool_],
    seeds: NDArray[np.int64],
    radii: Floats,
    basis: Floats,
    softness: float,
    targets: Floats,
    precisions: Floats,
    tolerances: Floats | float = np.inf,
) -> tuple[Floats, Floats]:
    """Gradient and Gauss-Newton Hessian of soft discrepancy and ray misfit by the parameters of all cells.

    Parameters
    ----------
    clump : (H, W) bool
    seeds : (N, 2) int
        On pixel centres.
    radii : (N, K)
    basis : (N, K, P)
        Derivatives of each cell's radii by its own parameters.
    softness : float
        Pixels.
    targets, precisions, tolerances : (N, K)
        See :func:`ray_misfit`.

    Returns
    -------
    gradient : (N, P)
    hessian : (N, P, N, P)
    """
    cover = coverages(clump.shape, seeds, radii, softness)
    others = [np.prod(1 - np.delete(cover, index, axis=0), axis=0) for index in range(len(seeds))]
    by_parameters = _coverages_by_parameters(clump.shape, seeds, radii, basis, softness)
    jacobian = np.stack(others)[..., None] * by_parameters
    residuals = 1 - np.prod(1 - cover, axis=0) - clump
    gradient = 2 * np.einsum("hw,ihwp->ip", residuals, jacobian)
    hessian = 2 * np.einsum("ihwp,jhwq->ipjq", jacobian, jacobian)

    precisions = precisions * robust_weights(radii - targets, tolerances)
    gradient += 2 * np.einsum("ik,ikp->ip", precisions * (radii - targets), basis)
    for index, own in enumerate(basis):
        hessian[index, :, index] += 2 * np.einsum("k,kp,kq->pq", precisions[index], own, own)
    return gradient, hessian


def _coverages_by_parameters(
    shape: tuple[int, ...], seeds: NDArray[np.int64], radii: Floats, basis: Floats, softness: float
) -> Floats:
    """Derivatives (N, H, W, P) of every cell's coverage of every pixel by its own parameters."""
    result = np.empty((len(seeds), *shape, basis.shape[2]))
    for index, (distances, radius, sectors, fractions) in enumerate(_rays_at_pixels(shape, seeds, radii)):
        slope = smooth_step_slope((radius - distances) / softness) / softness
        following = (sectors + 1) % radii.shape[1]
        own, share = basis[index], fractions[..., None]
        result[index] = slope[..., None] * ((1 - share) * own[sectors] + share * own[following])
    return result


def _rays_at_pixels(
    shape: tuple[int, ...], seeds: NDArray[np.int64], radii: Floats
) -> list[tuple[Floats, Floats, NDArray[np.int64], Floats]]:
    """For each cell and every pixel: distance to the seed, radius in its direction, sector and fraction."""
    grid = np.indices(shape)
    result = []
    for seed, radius in zip(seeds, radii, strict=True):
        distances, sectors, fractions = polar_coordinates(grid[0] - seed[0], grid[1] - seed[1], radius.size)
        following = (sectors + 1) % radius.size
        interpolated = (1 - fractions) * radius[sectors] + fractions * radius[following]
        result.append((distances, interpolated, sectors, fractions))
    return result
