"""The discrepancy between a clump and the union of its cells (equation 2), and its derivatives, in plain NumPy.

This is the text to read; :mod:`declump._kernels` computes the same numbers fast.

A cell covers a pixel at distance d from its seed by ``u = step((R - d) / softness)``, where R is its radius in the
pixel's direction and ``step`` rises smoothly from 0 at -1 to 1 at 1. N cells cover it by ``U = 1 - prod(1 - u_i)``.
With the clump C (1 inside, 0 outside) the soft discrepancy is ``sum (U - C)^2``, a non-linear least-squares problem;
the hard one, which the paper prints, is what remains when the softness goes to zero. Pixels further than the softness
from every outline do not change, and are not visited by the kernels.

Between two rays the radius is interpolated linearly by the angle; the polygon that a mask is filled from runs along the
chord instead, nearer to the seed by at most ``R (1 - cos(pi / K))``: 0.004 pixels for a radius of 100 and K = 360.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from declump import _kernels, contours

Floats = NDArray[np.float64]


class PolarTable(NamedTuple):
    """Pixels round a seed that sits on a pixel centre: sector by sector, in each from near to far.

    ``starts`` (K + 1,) tells where each sector begins; ``rows`` and ``columns`` are offsets from the seed,
    ``distances`` in pixels, ``fractions`` how far through its sector a pixel lies, from 0 to 1.
    """

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    distances: Floats
    fractions: Floats


@lru_cache(maxsize=4)
def polar_table(rays: int, reach: int) -> PolarTable:
    """Table of all pixels within ``reach`` pixels of a seed, for K rays."""
    rows, columns = (part.ravel() for part in np.mgrid[-reach : reach + 1, -reach : reach + 1])
    distances, sectors, fractions = polar_coordinates(rows, columns, rays)
    order = np.lexsort((distances, sectors))
    order = order[distances[order] <= reach]
    starts = np.searchsorted(sectors[order], np.arange(rays + 1))
    offsets = rows[order].astype(np.int32), columns[order].astype(np.int32)
    return PolarTable(starts, *offsets, distances[order], fractions[order])


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
    whole, _, slopes = _kernels.rotation_taps(float(rotation), mean.size)
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
    union = np.zeros(clump.shape, dtype=np.bool_)
    for seed, radius in zip(seeds, radii, strict=True):
        union |= contours.to_mask(seed, radius, clump.shape)
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


def ray_misfit(radii: Floats, targets: Floats, precisions: Floats) -> float:
    """Sum over cells and rays of ``precision (R - target)^2``: what is expected of the outline apart from the clump."""
    return float(np.sum(precisions * (radii - targets) ** 2))


def normal_equations(
    clump: NDArray[np.bool_],
    seeds: NDArray[np.int64],
    radii: Floats,
    basis: Floats,
    softness: float,
    targets: Floats,
    precisions: Floats,
) -> tuple[Floats, Floats]:
    """Gradient and Gauss-Newton Hessian of soft discrepancy plus ray misfit by the parameters of all cells.

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
    targets, precisions : (N, K)
        See :func:`ray_misfit`.

    Returns
    -------
    gradient : (N, P)
    hessian : (N, P, N, P)
    """
    cells, _, parameters = basis.shape
    cover = coverages(clump.shape, seeds, radii, softness)
    residuals = (1 - np.prod(1 - cover, axis=0) - clump).ravel()
    jacobian = np.empty((residuals.size, cells, parameters))
    for index, (distances, radius, sectors, fractions) in enumerate(_rays_at_pixels(clump.shape, seeds, radii)):
        others = np.prod(1 - np.delete(cover, index, axis=0), axis=0)
        slope = others * smooth_step_slope((radius - distances) / softness) / softness
        following = (sectors + 1) % radii.shape[1]
        own, share = basis[index], fractions[..., None]
        by_parameters = (1 - share) * own[sectors] + share * own[following]
        jacobian[:, index] = (slope[..., None] * by_parameters).reshape(residuals.size, parameters)
    gradient = 2 * np.einsum("m,mip->ip", residuals, jacobian)
    hessian = 2 * np.einsum("mip,mjq->ipjq", jacobian, jacobian)
    gradient += 2 * np.einsum("ik,ikp->ip", precisions * (radii - targets), basis)
    for index in range(cells):
        hessian[index, :, index] += 2 * np.einsum("k,kp,kq->pq", precisions[index], basis[index], basis[index])
    return gradient, hessian


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
