"""What lies on a slide beside cells: bacteria, specks, strands of mucus, leukocytes. None of it is in the truth."""

import numpy as np
from numpy.typing import NDArray

from declump.simulate.shapes import Floats

Points = NDArray[np.float64]


def draw_debris(
    shape: tuple[int, int],
    clump: NDArray[np.bool_],
    seeds: Points,
    scale: float,
    amount: float,
    rng: np.random.Generator,
) -> Floats:
    """Density of the debris.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the image in pixels.
    clump : (H, W) bool array
        Where cells are; bacteria stick to some of them.
    seeds : (N, 2) float array
        Nucleus positions, (row, column) in pixels.
    scale : float
        Size of the cells relative to the ISBI 2015 frames.
    amount : float
        Factor on the number of everything; 0 gives a clean slide.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    (H, W) float32 array
        Optical density in units of the stain's debris density.
    """
    from scipy import ndimage

    area = shape[0] * shape[1] / (scale * 1000) ** 2
    load = rng.gamma(1.2, 35)
    rods = [
        _rods(rng.uniform(0, shape, (rng.poisson(amount * area * rng.uniform(100, 700)), 2)), scale, rng, strength=0.5)
    ]
    for seed in seeds:
        count = rng.poisson(amount * load * rng.gamma(1.2, 0.8))
        centres = seed + scale * 48 * np.sqrt(rng.random((count, 1))) * _directions(rng.uniform(0, 2 * np.pi, count))
        inside = np.clip(np.rint(centres), 0, np.array(shape) - 1).astype(np.intp)
        rods.append(_rods(centres[clump[inside[:, 0], inside[:, 1]]], scale, rng, strength=1.2))
    for _ in range(rng.poisson(amount * 9 * area)):
        centre, spread = rng.uniform(0, shape), scale * rng.uniform(5, 16)
        rods.append(_rods(rng.normal(centre, spread, (rng.poisson(18), 2)), scale, rng, strength=0.6))
    fine = ndimage.gaussian_filter(_stamp(np.concatenate(rods), shape), 0.65 * max(scale, 0.7))

    strands = [_bundle(shape, scale, 1, rng) for _ in range(rng.poisson(amount * 3 * area))]
    strands += [_bundle(shape, scale, int(rng.integers(10, 40)), rng) for _ in range(rng.poisson(amount * 1.5 * area))]
    coarse = ndimage.gaussian_filter(_stamp(np.concatenate([np.zeros((0, 3)), *strands]), shape), 1.2 * max(scale, 0.7))
    return np.asarray(fine + coarse + _leukocytes(shape, seeds, scale, amount, area, rng), dtype=np.float32)


def _directions(angles: Points) -> Points:
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1)


def _rods(centres: Points, scale: float, rng: np.random.Generator, strength: float = 1.0) -> Points:
    """Bacteria: short strokes as points (row, column, weight); the shortest pass for specks."""
    count, steps = len(centres), 7
    length, peak = scale * rng.gamma(5, 1.1, count), strength * rng.gamma(2.5, 0.05, count)
    offsets = (
        np.linspace(-0.5, 0.5, steps)[None, :, None]
        * (length[:, None] * _directions(rng.uniform(0, np.pi, count)))[:, None]
    )
    weight = np.broadcast_to((peak * (length + 1.5) * 1.7 / steps)[:, None, None], (count, steps, 1))
    return np.concatenate([centres[:, None] + offsets, weight], axis=2).reshape(-1, 3)


def _bundle(shape: tuple[int, int], scale: float, threads: int, rng: np.random.Generator) -> Points:
    """Mucus and shreds as points (row, column, weight): one wandering thread, or many short ones side by side."""
    steps = int(rng.integers(60, 260)) if threads == 1 else int(rng.integers(12, 40))
    course = rng.uniform(0, 2 * np.pi)
    heading = course + np.cumsum(rng.normal(0, 0.09, (threads, steps)), axis=1)
    paths = rng.uniform(0, shape) + np.cumsum(scale * _directions(heading), axis=1)
    if threads > 1:
        along, across = rng.normal(0, 14, (threads, 1, 1)), rng.uniform(-7, 7, (threads, 1, 1))
        paths += scale * (along * _directions(np.array(course)) + across * _directions(np.array(course + np.pi / 2)))
    fading = np.sin(np.linspace(0, np.pi, steps)) ** 0.5 * rng.uniform(0.05, 0.4, (threads, 1)) * scale
    return np.concatenate([paths, fading[:, :, None]], axis=2).reshape(-1, 3)


def _stamp(points: Points, shape: tuple[int, int]) -> Floats:
    """Drop weights on the pixel grid, shared bilinearly among the four pixels around each point."""
    canvas = np.zeros(shape[0] * shape[1])
    base = np.floor(points[:, :2]).astype(np.intp)
    fraction = points[:, :2] - base
    for row in (0, 1):
        for column in (0, 1):
            share = np.abs(1 - row - fraction[:, 0]) * np.abs(1 - column - fraction[:, 1])
            corner = base + np.array((row, column))
            kept = np.all((corner >= 0) & (corner < shape), axis=1)
            flat = corner[kept, 0] * shape[1] + corner[kept, 1]
            canvas += np.bincount(flat, (points[:, 2] * share)[kept], minlength=canvas.size)
    return canvas.reshape(shape).astype(np.float32)


def _leukocytes(
    shape: tuple[int, int], seeds: Points, scale: float, amount: float, area: float, rng: np.random.Generator
) -> Floats:
    """Small dark round or lobed bodies, alone or in groups, many of them on cells."""
    canvas = np.zeros(shape, dtype=np.float32)
    for _ in range(rng.poisson(amount * (4 * area + 0.12 * len(seeds)))):
        near_cell = len(seeds) > 0 and rng.random() < 0.7
        middle = rng.normal(rng.choice(seeds), 35 * scale) if near_cell else rng.uniform(0, shape)
        for centre in rng.normal(middle, 9 * scale, (1 + int(rng.geometric(0.5)) if rng.random() < 0.4 else 1, 2)):
            lobes = int(rng.integers(1, 5))
            radii, densities = rng.uniform(1.5, 3.6, lobes) * scale, rng.uniform(0.5, 1, lobes)
            for lobe, radius, density in zip(rng.normal(centre, 2 * scale, (lobes, 2)), radii, densities, strict=True):
                _blot(canvas, lobe, radius, density)
    return canvas


def draw_blots(shape: tuple[int, int], centres: Points, radii: Points, densities: Points) -> Floats:
    """Draw soft discs on an empty canvas; where several meet, the densest counts."""
    canvas = np.zeros(shape, dtype=np.float32)
    for centre, radius, density in zip(centres, radii, densities, strict=True):
        _blot(canvas, centre, float(radius), float(density))
    return canvas


def _blot(canvas: Floats, centre: Points, radius: float, density: float) -> None:
    """Darken a soft disc to at least ``density``, in place."""
    low = np.maximum(np.floor(centre - radius - 2), 0).astype(np.intp)
    high = np.maximum(np.minimum(np.ceil(centre + radius + 3), canvas.shape), 0).astype(np.intp)
    window = canvas[low[0] : high[0], low[1] : high[1]]
    rows, columns = np.ogrid[low[0] : high[0], low[1] : high[1]]
    disc = np.clip((radius - np.hypot(rows - centre[0], columns - centre[1])) / 1.6 + 0.5, 0, 1)
    np.maximum(window, (density * disc).astype(np.float32), out=window)
