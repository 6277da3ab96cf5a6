"""Shapes of simulated cells: radii about the nucleus centre, and their masks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]

ANGLES = 720
"""Angles at which the radii of a shape are known, the k-th at 2 pi k / ANGLES."""

REFERENCE_RADIUS = 53.0
"""Mean cell radius of the ISBI 2015 frames in pixels; the sizes of nuclei and textures are stated at this scale."""

_MARGIN = 8
"""Pixels kept around a shape in its patch, room for its soft and blurred edge."""

_THETA: NDArray[np.float64] = np.linspace(0, 2 * np.pi, ANGLES, endpoint=False)


@dataclass(frozen=True)
class CellFold:
    """A side of the cell that is turned over along an arc, and the strip of ``width`` pixels inside that is double.

    The arc has the signed radius ``bend`` and crosses the ray at ``angle`` at a distance ``offset`` from the nucleus
    centre; it bulges towards the nucleus if ``bend`` is positive, away from it if negative.
    """

    angle: float
    offset: float
    bend: float
    width: float

    def radii(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Distance at which a ray from the nucleus centre meets the arc; infinite where it does not."""
        centre, sign = self.offset + self.bend, np.sign(self.bend)
        discriminant = self.bend**2 - (centre * np.sin(theta - self.angle)) ** 2
        meeting = centre * np.cos(theta - self.angle) - sign * np.sqrt(np.maximum(discriminant, 0))
        return np.where((discriminant >= 0) & (meeting > 0), meeting, np.inf)

    def inward(self, distance: Floats, angle: Floats) -> Floats:
        """Distance in pixels from the arc into the cell."""
        centre = self.offset + self.bend
        rows, columns = distance * np.sin(angle - self.angle), distance * np.cos(angle - self.angle) - centre
        return np.asarray(np.sign(self.bend) * (np.hypot(rows, columns) - abs(self.bend)), dtype=np.float32)


@dataclass(frozen=True)
class CellShape:
    """One cell in a square patch of side 2 ``half`` + 1 around its nucleus.

    ``distance`` and ``angle`` are the polar coordinates of the patch's pixels about the nucleus centre, ``radius`` the
    cell's radius at each pixel's angle, ``depth`` and ``nucleus_depth`` the distance in pixels to the outline, positive
    inside (to first order); ``seed`` is the centroid of the nucleus, relative to the middle pixel.
    """

    half: int
    distance: Floats
    angle: Floats
    radius: Floats
    depth: Floats
    nucleus_depth: Floats
    cell: Mask
    nucleus: Mask
    seed: NDArray[np.float64]
    nucleus_reach: float
    folds: tuple[CellFold, ...]
    parabasal: bool


def draw_shape(radius: float, rng: np.random.Generator) -> CellShape:
    """Draw one cell whose area is, on average over cells, that of a disc of ``radius`` pixels."""
    scale = radius / REFERENCE_RADIUS
    parabasal = bool(rng.random() < 0.13)
    radii = _parabasal_radii(rng) if parabasal else _squamous_radii(rng)
    # Relative areas are those of the ISBI 2015 cells: quartiles 0.68, 0.95, 1.27, mean 1.
    area = 0.42 * np.exp(rng.normal(0, 0.22)) if parabasal else min(1.1 * np.exp(rng.normal(0, 0.36)), 2.4)
    radii *= radius * np.sqrt(area) / np.sqrt(np.mean(radii**2))
    folds = () if parabasal else tuple(_draw_fold(radii, scale, rng) for _ in range(rng.choice(3, p=(0.6, 0.3, 0.1))))
    for fold in folds:
        radii = np.minimum(radii, fold.radii(_THETA))
    ragged = np.clip(_ripples(rng, range(1, 6), 0.6) + 0.3, 0, 1) * rng.uniform(0.2, 1.3)
    radii = radii + ragged * _ripples(rng, range(12, 120), min(scale, 0.012 * radii.mean()))
    nucleus_radii = _nucleus_radii(scale, rng)
    radii = np.maximum(radii, 1.2 * nucleus_radii + 1.5)
    return _patch(radii, nucleus_radii, rng.uniform(-0.5, 0.5, 2), folds, parabasal)


def paste(canvas: NDArray[Any], patch: NDArray[Any], position: NDArray[np.intp]) -> None:
    """Add a patch to a canvas in place, its middle pixel at ``position``; what falls beyond the canvas is lost."""
    corner = position - len(patch) // 2
    low, high = np.maximum(corner, 0), np.minimum(corner + patch.shape, canvas.shape)
    inner_low, inner_high = low - corner, high - corner
    canvas[low[0] : high[0], low[1] : high[1]] += patch[inner_low[0] : inner_high[0], inner_low[1] : inner_high[1]]


def _squamous_radii(rng: np.random.Generator) -> NDArray[np.float64]:
    """A rounded polygon with its centre moved: a p-norm of the distances to its sides, then slow undulation."""
    sides = int(rng.integers(4, 8))
    normals = (np.arange(sides) + rng.uniform(-0.3, 0.3, sides)) * (2 * np.pi / sides) + rng.uniform(0, 2 * np.pi)
    elongation, axis = np.exp(rng.normal(0, 0.2)), rng.uniform(0, np.pi)
    support = np.hypot(elongation * np.cos(normals - axis), np.sin(normals - axis) / elongation)
    support *= rng.uniform(0.8, 1.2, sides)
    support += rng.uniform(0, 0.32) * np.cos(normals - rng.uniform(0, 2 * np.pi))
    power = rng.uniform(8, 40)
    cosines = np.maximum(np.cos(_THETA[:, None] - normals), 0)
    # The last term is a disc that keeps far corners from growing into spikes.
    inverse = np.sum((cosines / support) ** power, axis=1) + (1 / rng.uniform(1.35, 1.8)) ** power
    undulation = 1 + _ripples(rng, range(2, 8), rng.uniform(0.02, 0.07)) + _ripples(rng, range(8, 20), 0.012)
    return np.asarray(inverse ** (-1 / power) * undulation)


def _draw_fold(radii: NDArray[np.float64], scale: float, rng: np.random.Generator) -> CellFold:
    angle = rng.uniform(0, 2 * np.pi)
    offset = rng.uniform(0.45, 0.85) * float(np.interp(angle, _THETA, radii, period=2 * np.pi))
    bend = rng.choice((-1, 1)) * rng.uniform(1.2, 5) * float(radii.mean())
    return CellFold(angle, offset, bend, rng.uniform(4, 16) * scale)


def _parabasal_radii(rng: np.random.Generator) -> NDArray[np.float64]:
    centre = rng.uniform(0, 0.25) * np.cos(_THETA - rng.uniform(0, 2 * np.pi))
    oval = rng.uniform(0, 0.15) * np.cos(2 * (_THETA - rng.uniform(0, np.pi)))
    return np.asarray(1 + centre + oval + _ripples(rng, range(3, 9), 0.025))


def _nucleus_radii(scale: float, rng: np.random.Generator) -> NDArray[np.float64]:
    area = 390 * np.exp(rng.normal(0, 0.33)) * (rng.uniform(1.5, 2.2) if rng.random() < 0.05 else 1)
    mean_radius = max(scale * np.sqrt(area / np.pi), 1.5)
    ratio, axis = rng.uniform(0.55, 1.0), rng.uniform(0, np.pi)
    ellipse = 1 / np.hypot(np.cos(_THETA - axis) * np.sqrt(ratio), np.sin(_THETA - axis) / np.sqrt(ratio))
    return np.asarray(mean_radius * ellipse * (1 + _ripples(rng, range(3, 8), rng.uniform(0.005, 0.05))))


def _ripples(rng: np.random.Generator, orders: range, deviation: float) -> NDArray[np.float64]:
    """A random periodic curve of the given harmonics, amplitudes falling as 1 / order, with that standard deviation."""
    order = np.array(orders)
    amplitude = rng.standard_normal(len(order)) / order
    curve = np.sum(amplitude * np.cos(_THETA[:, None] * order + rng.uniform(0, 2 * np.pi, len(order))), axis=1)
    return np.asarray(curve * (deviation / np.sqrt(np.sum(0.5 / order**2.0))))


def _patch(
    radii: NDArray[np.float64],
    nucleus_radii: NDArray[np.float64],
    centre: NDArray[np.float64],
    folds: tuple[CellFold, ...],
    parabasal: bool,
) -> CellShape:
    half = int(np.ceil(radii.max())) + _MARGIN
    steps = np.arange(-half, half + 1, dtype=np.float32)
    rows, columns = steps[:, None] - np.float32(centre[0]), steps[None, :] - np.float32(centre[1])
    distance = np.hypot(rows, columns)
    angle = np.arctan2(rows, columns)
    radius, depth = _depth(radii, distance, angle)
    _, nucleus_depth = _depth(nucleus_radii, distance, angle)
    cell = depth >= 0
    nucleus = (nucleus_depth >= 0) & cell
    seed = np.argwhere(nucleus).mean(axis=0) - half
    reach = float(nucleus_radii.max())
    return CellShape(half, distance, angle, radius, depth, nucleus_depth, cell, nucleus, seed, reach, folds, parabasal)


def _depth(radii: NDArray[np.float64], distance: Floats, angle: Floats) -> tuple[Floats, Floats]:
    """Radius at each pixel's angle, and the distance to the outline, shortened where the outline runs obliquely."""
    slope = (np.roll(radii, -1) - np.roll(radii, 1)) * (ANGLES / (4 * np.pi))
    obliqueness = (1 / np.hypot(1, slope / radii)).astype(np.float32)
    position = np.mod(angle * np.float32(ANGLES / (2 * np.pi)), ANGLES)
    lower = np.minimum(position.astype(np.intp), ANGLES - 1)
    fraction = position - lower
    table = np.append(radii, radii[0]).astype(np.float32)
    radius = table[lower] * (1 - fraction) + table[lower + 1] * fraction
    return radius, (radius - distance) * obliqueness[lower]
