"""From densities to a picture: light, focus, sensor."""

import numpy as np
from numpy.typing import NDArray

from declump.simulate.shapes import Floats
from declump.simulate.textures import noise


def photograph(
    density: Floats,
    background: Floats,
    *,
    illumination: float,
    blur: float,
    grain: float,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Take the picture of a slide.

    Parameters
    ----------
    density : (C, H, W) float32 array
        Optical density, natural logarithm.
    background : (C,) float32 array
        Grey levels of the clear field.
    illumination, blur, grain : float
        Factors on uneven light, defocus that varies over the field, and sensor noise; 0 switches each off.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    (H, W, C) uint8 array
        The picture.
    """
    shape = (density.shape[1], density.shape[2])
    light = background[:, None, None] * np.exp(-density)
    if illumination > 0:
        light *= 1 + np.float32(illumination) * _unevenness(shape, rng)
    if blur > 0:
        _defocus(light, blur, rng)
    if grain > 0:
        light += np.float32(grain) * _sensor_noise(light.shape, rng)
    return np.ascontiguousarray(np.moveaxis(np.clip(np.rint(light), 0, 255).astype(np.uint8), 0, 2))


def _unevenness(shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Relative excess of light: a ramp, a fall towards the corners, and slow drifts, a few per cent in all."""
    rows = np.linspace(-1, 1, shape[0], dtype=np.float32)[:, None]
    columns = np.linspace(-1, 1, shape[1], dtype=np.float32)[None, :]
    (ramp_rows, ramp_columns), fall, drift = rng.normal(0, 0.012, 2), rng.uniform(0, 0.03), rng.normal(0, 0.006)
    slow = noise(shape, 0.15 * max(shape), rng)
    excess = ramp_rows * rows + ramp_columns * columns - fall * (rows**2 + columns**2) + drift * slow
    return np.asarray(excess, dtype=np.float32)


def _defocus(light: Floats, blur: float, rng: np.random.Generator) -> None:
    """Blur in place: a little everywhere, more where the field is out of focus."""
    from scipy import ndimage

    sharp, soft = rng.uniform(0.4, 0.7), rng.uniform(1, 2)
    shape = (light.shape[1], light.shape[2])
    weight = np.clip(0.7 * noise(shape, 0.12 * max(shape), rng) - rng.uniform(0.4, 1.4), 0, 1)
    for channel in light:
        near = ndimage.gaussian_filter(channel, blur * sharp, mode="nearest")
        far = ndimage.gaussian_filter(near, blur * soft, mode="nearest")
        channel[...] = near + weight * (far - near)


def _sensor_noise(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Noise in grey levels, partly shared by the channels, its strength drifting over the field as in fused frames."""
    _, height, width = shape
    drift = noise((height, width), 0.05 * max(height, width), rng)
    strength = rng.uniform(1.2, 2.8) * np.clip(1 + 0.45 * drift, 0.25, 1.6)
    shared = rng.standard_normal((height, width), dtype=np.float32)
    own = rng.standard_normal(shape, dtype=np.float32)
    return np.asarray(strength * (0.7 * shared + 0.7 * own), dtype=np.float32)
