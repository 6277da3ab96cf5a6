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
    by_mode: Floats,
    coefficients: Floats,
    log_scale: float,
    rotation: float,
    radii: Floats,
    basis: Floats,
) -> None:
    """Radii (K,) of a posed shape, and their derivatives (K, P) by coefficients, log scale and rotation.

    The modes (K, t) are given mode by mode, too: (t, K). Twin of :func:`declump.evolution.energy.pose`.
    """
    rays, count = modes.shape
    whole, weights, slopes = rotation_taps(rotation, rays)
    scale = np.exp(log_scale)
    shape = mean.copy()
    # Rays are independent of one another, so that several are summed at once.
    for mode in range(count):
        coefficient, own = coefficients[mode], by_mode[mode]
        for ray in range(rays):
            shape[ray] += own[ray] * coefficient
    source = (1 - whole) % rays
    for ray in range(rays):
        before = source - 1 if source > 0 else rays - 1
        earlier = before - 1 if before > 0 else rays - 1
        first = earlier - 1 if earlier > 0 else rays - 1
        value, slope = 0.0, 0.0
        for tap, place in enumerate((source, before, earlier, first)):
            value += weights[tap] * shape[place]
            slope += slopes[tap] * shape[place]
        derivatives, one, two, three, four = basis[ray], modes[source], modes[before], modes[earlier], modes[first]
        for mode in range(count):
            derivatives[mode] = (
                scale * weights[0] * one[mode]
                + scale * weights[1] * two[mode]
                + scale * weights[2] * three[mode]
                + scale * weights[3] * four[mode]
            )
        source = source + 1 if source + 1 < rays else 0
        radii[ray] = scale * value
        derivatives[count] = scale * value
        derivatives[count + 1] = scale * slope


@compiled
def pose_cells(
    mean: Floats, modes: Floats, by_mode: Floats, parameters: Floats, units: Floats, radii: Floats, basis: Floats
) -> None:
    """Pose N shapes by their parameters (N, P), the last two in ``units`` (2,): radii (N, K), derivatives (N, K, P)."""
    count = modes.shape[1]
    for cell in range(len(parameters)):
        own, poses = parameters[cell], (parameters[cell, count] * units[0], parameters[cell, count + 1] * units[1])
        pose(mean, modes, by_mode, own[:count], poses[0], poses[1], radii[cell], basis[cell])
        for ray in range(mean.size):
            basis[cell, ray, count] *= units[0]
            basis[cell, ray, count + 1] *= units[1]
