"""Random textures that repeat without a seam, from which every cell takes its own piece."""

from dataclasses import dataclass

import numpy as np

from declump.simulate.shapes import Floats

_SIDE = 384


@dataclass(frozen=True)
class Textures:
    """Square periodic tiles: ``grain``, ``mottle``, ``cloud`` of unit deviation, ``fibres`` and ``creases`` 0 to 1."""

    grain: Floats
    mottle: Floats
    cloud: Floats
    fibres: Floats
    creases: Floats


def draw_textures(scale: float, rng: np.random.Generator) -> Textures:
    """Draw the tiles for cells ``scale`` times the size of those of the ISBI 2015 frames."""
    cloud, veil = noise((_SIDE, _SIDE), 14 * scale, rng), noise((_SIDE, _SIDE), 12 * scale, rng)
    return Textures(
        grain=noise((_SIDE, _SIDE), 0.8, rng),
        mottle=noise((_SIDE, _SIDE), 2.2 * scale, rng),
        cloud=cloud,
        fibres=_ridges(noise((_SIDE, _SIDE), 5 * scale, rng), 0.8, 0) * np.clip(0.4 + 0.6 * cloud, 0, 1),
        creases=_ridges(noise((_SIDE, _SIDE), 17 * scale, rng), 1.2, 9 * scale) * np.clip(0.3 + veil, 0, 1),
    )


def noise(shape: tuple[int, int], sigma: float, rng: np.random.Generator) -> Floats:
    """Smooth periodic noise of zero mean and unit deviation, correlated over ``sigma`` pixels."""
    from scipy import fft

    # Filtering in the Fourier domain: the cost does not grow with sigma, and the noise wraps around.
    spectrum = fft.rfft2(rng.standard_normal(shape, dtype=np.float32))
    for axis, frequency in ((0, fft.fftfreq(shape[0])), (1, fft.rfftfreq(shape[1]))):
        weight = np.exp(-2 * (np.pi * sigma * frequency) ** 2).astype(np.float32)
        spectrum *= weight[:, None] if axis == 0 else weight
    spectrum[0, 0] = 0
    field = fft.irfft2(spectrum, s=shape)
    return np.asarray(field / max(float(field.std()), 1e-12), dtype=np.float32)


def piece(tile: Floats, side: int, rng: np.random.Generator) -> Floats:
    """Cut a randomly placed, randomly turned square of ``side`` pixels out of a periodic tile."""
    top, left = rng.integers(len(tile), size=2)
    rows, columns = (top + np.arange(side)) % len(tile), (left + np.arange(side)) % len(tile)
    cut = tile[np.ix_(rows, columns)]
    return np.rot90(cut, int(rng.integers(4)))


def _ridges(field: Floats, width: float, shade: float) -> Floats:
    """Curved lines ``width`` pixels wide at the zeros of a smooth field, fading over ``shade`` pixels to one side."""
    rows, columns = np.gradient(field)
    slope = np.maximum(np.hypot(rows, columns), 0.15 * np.hypot(rows, columns).mean())
    distance = field / slope
    line = np.exp(-((distance / width) ** 2))
    if shade > 0:
        line = np.maximum(line, 0.45 * np.exp(-np.maximum(distance, 0) / shade) * (distance > 0))
    return np.asarray(line, dtype=np.float32)
