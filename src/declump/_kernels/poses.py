"""Shapes scaled and turned."""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.types import TAU, Floats


@compiled
def rotation_taps(angle: float, rays: int) -> tuple[int, Floats, Floats]:
    """Whole shift, four Catmull-Rom weights and their derivatives by the angle, for turning K radii by an angle.

    Twin of :func:`declump.shapes.contours.rotation_taps`.
    """
    shift = angle * rays / TAU
    whole = int(np.floor(shift))
    f = shift - whole
    weights = np.empty(4)
    weights[0] = (-f + 2 * f * f - f * f * f) / 2
    weights[1] = (2 - 5 * f * f + 3 * f * f * f) / 2
    weights[2] = (f + 4 * f * f - 3 * f * f * f) / 2
    weights[3] = (-f * f + f * f * f) / 2
    slopes, density = np.empty(4), rays / TAU
    slopes[0] = density * (-1 + 4 * f - 3 * f * f) / 2
    slopes[1] = density * (-10 * f + 9 * f * f) / 2
    slopes[2] = density * (1 + 8 * f - 9 * f * f) / 2
    slopes[3] = density * (-2 * f + 3 * f * f) / 2
    return whole, weights, slopes


@compiled
def pose(
    mean: Floats,
    modes: Floats,
    coefficients: Floats,
    log_scale: float,
    rotation: float,
    radii: Floats,
    basis: Floats,
) -> None:
    """Radii (K,) of a posed shape, and their derivatives (K, P) by coefficients, log scale and rotation.

    Twin of :func:`declump.evolution.energy.pose`.
    """
    rays, count = modes.shape
    whole, weights, slopes = rotation_taps(rotation, rays)
    scale = np.exp(log_scale)
    shape = mean.copy()
    # Rays are independent of one another, so that several are summed at once.
    for mode in range(count):
        for ray in range(rays):
            shape[ray] += modes[ray, mode] * coefficients[mode]
    source = (1 - whole) % rays
    for ray in range(rays):
        before = source - 1 if source > 0 else rays - 1
        earlier = before - 1 if before > 0 else rays - 1
        first = earlier - 1 if earlier > 0 else rays - 1
        value, slope = 0.0, 0.0
        for tap, place in enumerate((source, before, earlier, first)):
            value += weights[tap] * shape[place]
            slope += slopes[tap] * shape[place]
        for mode in range(count):
            basis[ray, mode] = (
                scale * weights[0] * modes[source, mode]
                + scale * weights[1] * modes[before, mode]
                + scale * weights[2] * modes[earlier, mode]
                + scale * weights[3] * modes[first, mode]
            )
        source = source + 1 if source + 1 < rays else 0
        radii[ray] = scale * value
        basis[ray, count] = scale * value
        basis[ray, count + 1] = scale * slope


@compiled
def pose_cells(mean: Floats, modes: Floats, parameters: Floats, units: Floats, radii: Floats, basis: Floats) -> None:
    """Pose N shapes by their parameters (N, P), the last two in ``units`` (2,): radii (N, K), derivatives (N, K, P)."""
    count = modes.shape[1]
    for cell in range(len(parameters)):
        own = parameters[cell]
        pose(mean, modes, own[:count], own[count] * units[0], own[count + 1] * units[1], radii[cell], basis[cell])
        for ray in range(mean.size):
            basis[cell, ray, count] *= units[0]
            basis[cell, ray, count + 1] *= units[1]
