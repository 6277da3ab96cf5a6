"""Shapes scaled and turned."""

from libc.math cimport exp, floor

from declump._kernels.outlines cimport TAU

import numpy as np


cdef Py_ssize_t _find_taps(double angle, Py_ssize_t rays, double* weights, double* slopes) noexcept nogil:
    """Whole shift, four Catmull-Rom weights and their derivatives by the angle, for turning K radii by an angle.

    Twin of :func:`declump.shapes.contours.rotation_taps`.
    """
    cdef double shift = angle * rays / TAU, density = rays / TAU
    cdef Py_ssize_t whole = <Py_ssize_t>floor(shift)
    cdef double f = shift - whole
    weights[0] = (-f + 2 * f * f - f * f * f) / 2
    weights[1] = (2 - 5 * f * f + 3 * f * f * f) / 2
    weights[2] = (f + 4 * f * f - 3 * f * f * f) / 2
    weights[3] = (-f * f + f * f * f) / 2
    slopes[0] = density * (-1 + 4 * f - 3 * f * f) / 2
    slopes[1] = density * (-10 * f + 9 * f * f) / 2
    slopes[2] = density * (1 + 8 * f - 9 * f * f) / 2
    slopes[3] = density * (-2 * f + 3 * f * f) / 2
    return whole


cdef void _pose(
    const double[::1] mean,
    const double[:, ::1] modes,
    const double[:, ::1] by_mode,
    const double[:] coefficients,
    double log_scale,
    double rotation,
    double[::1] radii,
    double[:, ::1] basis,
    double[::1] shape,
) noexcept nogil:
    cdef Py_ssize_t rays = modes.shape[0], count = modes.shape[1], mode, ray, source, before, earlier, first, tap
    cdef Py_ssize_t[4] places
    cdef double[4] weights
    cdef double[4] slopes
    cdef double scale = exp(log_scale), coefficient, value, slope
    source = (1 - _find_taps(rotation, rays, weights, slopes)) % rays
    if source < 0:  # C keeps the sign
        source += rays
    shape[:] = mean
    # Rays are independent of one another, so that several are summed at once.
    for mode in range(count):
        coefficient = coefficients[mode]
        for ray in range(rays):
            shape[ray] += by_mode[mode, ray] * coefficient
    for ray in range(rays):
        before = source - 1 if source > 0 else rays - 1
        earlier = before - 1 if before > 0 else rays - 1
        first = earlier - 1 if earlier > 0 else rays - 1
        value, slope = 0.0, 0.0
        places = [source, before, earlier, first]
        for tap in range(4):
            value += weights[tap] * shape[places[tap]]
            slope += slopes[tap] * shape[places[tap]]
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


def pose(
    const double[::1] mean,
    const double[:, ::1] modes,
    const double[:, ::1] by_mode,
    const double[::1] coefficients,
    double log_scale,
    double rotation,
    double[::1] radii,
    double[:, ::1] basis,
):
    """Radii (K,) of a posed shape, and their derivatives (K, P) by coefficients, log scale and rotation.

    The modes (K, t) are given mode by mode, too: (t, K). Twin of :func:`declump.evolution.energy.pose`.
    """
    cdef double[::1] shape = np.empty(mean.shape[0])
    with nogil:
        _pose(mean, modes, by_mode, coefficients, log_scale, rotation, radii, basis, shape)


def pose_cells(
    const double[::1] mean,
    const double[:, ::1] modes,
    const double[:, ::1] by_mode,
    const double[:, ::1] parameters,
    const double[::1] units,
    double[:, ::1] radii,
    double[:, :, ::1] basis,
):
    """Pose N shapes by their parameters (N, P), the last two in ``units`` (2,): radii (N, K), derivatives (N, K, P)."""
    cdef Py_ssize_t count = modes.shape[1], cell, ray
    cdef double[::1] shape = np.empty(mean.shape[0])
    with nogil:
        for cell in range(parameters.shape[0]):
            _pose(
                mean,
                modes,
                by_mode,
                parameters[cell],
                parameters[cell, count] * units[0],
                parameters[cell, count + 1] * units[1],
                radii[cell],
                basis[cell],
                shape,
            )
            for ray in range(mean.shape[0]):
                basis[cell, ray, count] *= units[0]
                basis[cell, ray, count + 1] *= units[1]
