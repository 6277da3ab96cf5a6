"""What shows in a good picture of a smear from near: pleats, granules, chromatin, polymorphs, a sharpened picture."""

import numpy as np
from numpy.typing import NDArray

from declump.simulate.debris import Points, draw_blots
from declump.simulate.shapes import CellShape, Floats
from declump.simulate.textures import noise


def draw_pleats(cell: CellShape, scale: float, rng: np.random.Generator) -> Floats:
    """Extra density of a cell's pleats: long dark lines that fade at both ends, shaded on one side.

    Most pleats of a cell run in about the same direction; one in five cells has a bundle of them.
    """
    rows, columns = cell.distance * np.sin(cell.angle), cell.distance * np.cos(cell.angle)
    pleats = np.zeros_like(cell.distance)
    reach, course = float(cell.radius.mean()), rng.uniform(0, np.pi)
    count = int(rng.integers(4, 8)) if rng.random() < 0.2 else int(rng.poisson(2))
    for _ in range(count):
        angle = course + rng.normal(0, 0.3)
        along, across = rows * np.sin(angle) + columns * np.cos(angle), rows * np.cos(angle) - columns * np.sin(angle)
        middle, half = rng.uniform(-0.5, 0.5) * reach, rng.uniform(0.35, 0.95) * reach
        bend, wave = rng.normal(0, 0.22) / reach, rng.uniform(0, 2 * np.pi)
        course_of = bend * (along - middle) ** 2 + 1.5 * scale * np.sin(along / (11 * scale) + wave)
        offset = across - rng.uniform(-0.6, 0.6) * reach - course_of
        fading = np.clip(1 - ((along - middle) / half) ** 2, 0, 1)
        line = np.exp(-((offset / (rng.uniform(0.7, 1.5) * scale)) ** 2))
        shade = np.exp(-np.maximum(offset, 0) / (rng.uniform(3, 12) * scale)) * (offset > 0)
        pleats += rng.gamma(3, 0.3) * fading * (line + 0.5 * shade)
    return np.asarray(pleats, dtype=np.float32)


def draw_granules(cell: CellShape, scale: float, rng: np.random.Generator) -> Floats:
    """Extra density of a cell's granules, finer than a nucleus by far: a fine stipple, and dots about the nucleus."""
    side = len(cell.distance)
    stipple = rng.uniform(0.08, 0.2) * noise((side, side), 0.55 * scale, rng)
    stipple += rng.uniform(0.08, 0.2) * np.abs(noise((side, side), 1.3 * scale, rng))
    count = rng.poisson(rng.gamma(0.7, 70))
    spread = rng.uniform(0.25, 0.7) * float(cell.radius.mean())
    dots = cell.half + rng.normal(0, spread, (count, 2))
    field = draw_blots((side, side), dots, rng.uniform(0.45, 1.1, count) * scale, rng.gamma(4, 0.16, count))
    return np.asarray(stipple + field, dtype=np.float32)


def draw_chromatin(cell: CellShape, scale: float, rng: np.random.Generator) -> Floats:
    """Relative excess of a nucleus' density: clumps of chromatin, a few clear spots, a nucleolus in some."""
    side = len(cell.distance)
    coarse, fine = noise((side, side), 1.5 * scale, rng), noise((side, side), 0.7 * scale, rng)
    excess = rng.uniform(0.12, 0.3) * np.maximum(coarse, -1.2) + rng.uniform(0.05, 0.14) * fine
    if rng.random() < 0.25:
        place = cell.half + rng.normal(0, 0.35 * cell.nucleus_reach, (1, 2))
        excess += draw_blots((side, side), place, np.array([1.4 * scale]), np.array([0.7]))
    return np.asarray(excess, dtype=np.float32)


def draw_polymorphs(
    shape: tuple[int, int], seeds: Points, scale: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Densities of the bodies and of the nuclei of leukocytes with two to five lobes, alone and in groups.

    Groups lie beside cells and on them. A body is pale and granular, its lobes are as dark as chromatin can be.
    """
    from scipy import ndimage

    area = shape[0] * shape[1] / (scale * 1000) ** 2
    bodies: list[tuple[float, ...]] = []
    lobes: list[tuple[float, ...]] = []
    for _ in range(rng.poisson(14 * area + 1)):
        near = len(seeds) > 0 and rng.random() < 0.6
        middle = rng.normal(rng.choice(seeds), 60 * scale) if near else rng.uniform(0, shape)
        count = 1 if rng.random() < 0.55 else int(min(rng.geometric(0.16), 26))
        for centre in rng.normal(middle, (5 * np.sqrt(count) - 4) * scale * np.array((1, 1)), (count, 2)):
            size = rng.uniform(5.6, 7.6) * scale
            bodies.append((*centre, size, rng.uniform(0.25, 0.5)))
            number, turn = int(rng.integers(2, 6)), rng.uniform(0, 2 * np.pi)
            angles = turn + np.linspace(0, rng.uniform(2.6, 4.6), number)
            ring = centre + rng.uniform(0.28, 0.45) * size * np.stack([np.sin(angles), np.cos(angles)], axis=1)
            radii = size * rng.uniform(0.3, 0.5, number)
            lobes += [(*place, radius, rng.uniform(0.9, 1.4)) for place, radius in zip(ring, radii, strict=True)]
    grain = 1 + 0.25 * noise(shape, 0.8 * scale, rng)

    def draw(things: list[tuple[float, ...]]) -> Floats:
        table = np.array(things).reshape(-1, 4)
        field = draw_blots(shape, table[:, :2], table[:, 2], table[:, 3])
        return np.asarray(ndimage.gaussian_filter(field * grain, 0.55 * scale), dtype=np.float32)

    return draw(bodies), draw(lobes)


def sharpen(picture: NDArray[np.uint8], amount: float) -> NDArray[np.uint8]:
    """Sharpen a picture (H, W, C) as cameras of microscopes do: edges get a light seam."""
    from scipy import ndimage

    light = picture.astype(np.float32)
    soft = ndimage.gaussian_filter(light, (1.3, 1.3, 0), mode="nearest")
    return np.asarray(np.clip(np.rint(light + np.float32(amount) * (light - soft)), 0, 255), dtype=np.uint8)
