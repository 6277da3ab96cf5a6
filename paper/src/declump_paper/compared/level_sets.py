"""One level-set engine for all compared methods that need one: distance-regularised, in a narrow band.

A cell is a function over a window of the image that is negative inside it. The function starts as a step of +-2, is
kept near a distance function by the double-well potential of Li et al. (DRLSE, TIP 2010), and moves by

    d phi / dt = regularity div(d_p grad phi) + delta(phi) (length (<grad edge, n> + edge curvature) + push)
                 + star div(min(0, d phi / dr) r)

where ``edge`` weighs the length of the outline, ``push`` is any speed inwards, and r points away from a centre. Only
pixels near the outline change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump_paper.compared import level_set_kernels as _kernels

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

STEP_HEIGHT = 2.0
"""A function starts at minus this inside and at this outside."""
BAND_REACH = 4
"""Pixels on either side of the outline that may change."""
BAND_RENEWAL = 5
"""Steps between two looks where the outline is."""


@dataclass(frozen=True)
class Flow:
    """Weights of a flow.

    Attributes
    ----------
    step : float
        Length of a time step; times ``8 * regularity + star`` it is less than 2, or the flow is unstable.
    regularity : float
        Weight of the distance regularisation.
    length : float
        Weight of the outline's length, pixel by pixel times ``edge``.
    star : float
        Weight of what makes the cell star-shaped as seen from its centre.
    width : float
        Half width of the smooth delta function, in units of the function.
    tails : bool
        Whether the delta function has tails, as usual where regions drive the outline, so that it moves fast; without,
        it is 0 beyond its width, as usual where edges do.
    """

    step: float
    regularity: float
    length: float = 0.0
    star: float = 0.0
    width: float = 1.5
    tails: bool = False

    def __post_init__(self) -> None:
        """Refuse steps that cannot be stable."""
        weights = (self.regularity, self.length, self.star)
        if min(self.step, self.width) <= 0 or min(weights) < 0 or self.step * (8 * self.regularity + self.star) >= 2:
            raise ValueError(
                "a flow has a step and a width > 0, weights >= 0, and step * (8 * regularity + star) < 2, "
                f"or it is not stable: take a smaller step; given was {self}"
            )


def step_function(mask: Mask) -> Floats:
    """Level-set function (H, W) of a mask: -2 inside, 2 outside."""
    return np.where(mask, -STEP_HEIGHT, STEP_HEIGHT)


def distance_function(mask: Mask, limit: float = BAND_REACH) -> Floats:
    """Signed distance (H, W) of the pixels from a mask's outline, negative inside, at most ``limit``."""
    from scipy import ndimage

    outside, inside = ndimage.distance_transform_edt(~mask), ndimage.distance_transform_edt(mask)
    return np.asarray(np.clip(np.where(mask, 0.5 - inside, outside - 0.5), -limit, limit))


def evolve_level_set(
    phi: Floats,
    flow: Flow,
    steps: int,
    *,
    edge: Floats | None = None,
    push: Floats | None = None,
    centre: tuple[float, float] = (0.0, 0.0),
) -> Floats:
    """Move a level-set function.

    Parameters
    ----------
    phi : (H, W) float64
        Negative inside the cell; not changed.
    flow : Flow
    steps : int
    edge : (H, W) float64, optional
        Weight of the length at each pixel; 1 by default.
    push : (H, W) float64, optional
        Speed inwards; where it is negative the cell grows. 0 by default.
    centre : (row, column)
        From where the cell is to be star-shaped.

    Returns
    -------
    (H, W) float64
    """
    moved = np.array(phi, dtype=np.float64, order="C")
    _kernels.flow(
        moved,
        np.ones_like(moved) if edge is None else np.ascontiguousarray(edge, dtype=np.float64),
        np.zeros_like(moved) if push is None else np.ascontiguousarray(push, dtype=np.float64),
        float(centre[0]),
        float(centre[1]),
        flow.step,
        flow.regularity,
        flow.length,
        flow.star,
        flow.width,
        flow.tails,
        steps,
        BAND_REACH,
        BAND_RENEWAL,
    )
    return moved


def find_band(phi: Floats, reach: int = BAND_REACH) -> Mask:
    """Pixels (H, W) within ``reach`` rows and columns of one whose right or lower neighbour is across the outline."""
    from scipy import ndimage

    inside = phi <= 0
    crossed = np.zeros(phi.shape, dtype=np.bool_)
    crossed[:, :-1] |= inside[:, :-1] != inside[:, 1:]
    crossed[:-1] |= inside[:-1] != inside[1:]
    return np.asarray(ndimage.maximum_filter(crossed, 2 * reach + 1, mode="constant"), dtype=np.bool_)


def flow_by_arrays(
    phi: Floats, flow: Flow, steps: int, edge: Floats, push: Floats, centre: tuple[float, float]
) -> Floats:
    """Readable twin of the compiled flow; see :func:`evolve_level_set` for the arguments."""
    phi = np.array(phi, dtype=np.float64)
    rows, columns = np.indices(phi.shape) - np.reshape(centre, (2, 1, 1))
    distance = np.maximum(np.hypot(rows, columns), 1e-10)
    outwards = np.stack([rows / distance, columns / distance])
    weight_slope = gradient(edge)
    band = np.zeros(phi.shape, dtype=np.bool_)
    for number in range(steps):
        if number % BAND_RENEWAL == 0:
            band = find_band(phi)
        slope = gradient(phi)
        steepness = np.sqrt(np.sum(slope**2, axis=0))
        normal = slope / (steepness + 1e-10)
        speed = push + flow.length * (np.sum(weight_slope * normal, axis=0) + edge * divergence(normal))
        falling = np.minimum(np.sum(slope * outwards, axis=0), 0)
        change = (
            flow.regularity * (laplacian(phi) + divergence((diffusion(steepness) - 1) * slope))
            + flow.star * divergence(falling * outwards)
            + dirac(phi, flow.width, flow.tails) * speed
        )
        phi[band] += flow.step * change[band]
    return phi


def diffusion(steepness: Floats) -> Floats:
    """Rate ``p'(s) / s`` of the double-well potential p: 1 at slope 0, 0 at slope 1, negative between 1/2 and 1."""
    s = np.maximum(steepness, 1e-10)
    return np.asarray(np.where(s <= 1, np.sin(2 * np.pi * s) / (2 * np.pi * s), (s - 1) / s))


def dirac(phi: Floats, width: float, tails: bool = False) -> Floats:
    """Smooth delta function, the derivative of :func:`heaviside`."""
    if tails:
        return np.asarray(width / (np.pi * (width**2 + phi**2)))
    inner = np.abs(phi) <= width
    return np.where(inner, (1 + np.cos(np.pi * phi / width)) / (2 * width), 0.0)


def heaviside(phi: Floats, width: float, tails: bool = False) -> Floats:
    """Smooth step from 0 to 1: between -width and width, or with tails beyond them."""
    if tails:
        return np.asarray(0.5 + np.arctan(phi / width) / np.pi)
    x = np.clip(phi / width, -1, 1)
    return np.asarray((1 + x + np.sin(np.pi * x) / np.pi) / 2)


def gradient(values: Floats) -> Floats:
    """Central differences (2, H, W) along rows and columns; beyond the border values stay as on it."""
    wide = np.pad(values, 1, mode="edge")
    return np.stack([wide[2:, 1:-1] - wide[:-2, 1:-1], wide[1:-1, 2:] - wide[1:-1, :-2]]) / 2


def divergence(field: Floats) -> Floats:
    """Divergence (H, W) of a field (2, H, W) by central differences."""
    return np.asarray(gradient(field[0])[0] + gradient(field[1])[1])


def laplacian(values: Floats) -> Floats:
    """Sum over the four neighbours minus four times the pixel; beyond the border values stay as on it."""
    wide = np.pad(values, 1, mode="edge")
    return np.asarray(wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2] - 4 * values)


def edge_indicator(grey: Floats, sigma: float = 1.5) -> Floats:
    """``1 / (1 + |grad (G * image)|^2)``: about 1 in flat places, about 0 on edges.

    Parameters
    ----------
    grey : (H, W) float64
        Grey levels from 0 to 255.
    sigma : float
        Standard deviation of the smoothing in pixels.
    """
    from scipy import ndimage

    slope = gradient(ndimage.gaussian_filter(grey, sigma, mode="nearest"))
    return np.asarray(1 / (1 + np.sum(slope**2, axis=0)))


def largest_piece(mask: Mask) -> Mask:
    """The largest connected piece (8-neighbours) of a mask, the first of equals."""
    from scipy import ndimage

    labels, count = ndimage.label(mask, structure=np.ones((3, 3)))
    if count <= 1:
        return mask
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    return np.asarray(labels == sizes.argmax())


def find_window(mask: NDArray[np.bool_], room: int) -> tuple[slice, slice]:
    """Rows and columns of a mask that is not empty, with some pixels round it."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return (
        slice(max(int(rows[0]) - room, 0), min(int(rows[-1]) + room + 1, mask.shape[0])),
        slice(max(int(columns[0]) - room, 0), min(int(columns[-1]) + room + 1, mask.shape[1])),
    )
