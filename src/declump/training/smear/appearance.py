"""Other looks of a window: stain, light, white balance, focus, sensor, file, or grey."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from declump.regions.channels import LUMINANCE

Floats = NDArray[np.float32]


def change_look(colours: Floats, rng: np.random.Generator) -> Floats:
    """Another look of colours (H, W, 3) relative to a clear background of 1."""
    density = -np.log(np.clip(colours, 0.02, 1.25))
    density = _restain(density, rng)
    if rng.random() < 0.35:
        density = density + _shade(density.shape[:2], rng)[..., None] * abs(rng.normal(0, 0.12))
    changed = np.exp(-density).astype(np.float32)
    if rng.random() < 0.35:
        sigma = rng.uniform(0.3, 1.6)
        changed = ndimage.gaussian_filter(changed, (sigma, sigma, 0))
    elif rng.random() < 0.15:
        changed = changed + rng.uniform(0.2, 0.8) * (changed - ndimage.gaussian_filter(changed, (1.5, 1.5, 0)))
    if rng.random() < 0.5:
        changed = changed + rng.normal(0, abs(rng.normal(0, 0.02)), changed.shape).astype(np.float32)
    if rng.random() < 0.15:
        changed = _compress(changed, int(rng.integers(35, 92)))
    return np.asarray(changed, np.float32)


def _restain(density: Floats, rng: np.random.Generator) -> Floats:
    grey = float(np.ptp(density, axis=2).max()) < 1e-3
    if grey and rng.random() < 0.35:
        density = _tint(density[..., 0], rng)
        grey = False
    if not grey:
        mix = np.eye(3) + rng.normal(0, 0.05, (3, 3))
        if rng.random() < 0.25:
            mix = _turn_hue(rng.normal(0, 0.5)) @ mix
        density = density @ (mix * np.exp(rng.normal(0, 0.12, 3))).astype(np.float32)
        if rng.random() < 0.2:  # pale or strong colours
            mean = density.mean(axis=2, keepdims=True)
            density = mean + (density - mean) * rng.uniform(0.2, 1.5)
        if rng.random() < 0.15:
            light = np.exp(-np.clip(density, -0.2, 4)) @ LUMINANCE
            density = np.repeat(-np.log(np.clip(light, 0.02, 1.25))[..., None], 3, axis=2)
    return np.asarray(density * np.exp(rng.normal(0, 0.25)) + rng.normal(0, 0.03) + rng.normal(0, 0.015, 3), np.float32)


def _turn_hue(angle: float) -> NDArray[np.float64]:
    """Rotation of densities about the axis of grey."""
    axis = np.full((3, 3), 1 / 3)
    cross = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]) / np.sqrt(3)
    return np.asarray(axis + np.cos(angle) * (np.eye(3) - axis) + np.sin(angle) * cross)


def _tint(density: Floats, rng: np.random.Generator) -> Floats:
    """Colours for a grey density (H, W): one hue for what is dark, two that change slowly for what is pale."""
    dark, *pale = (np.exp(rng.normal(0, 0.35, 3)) for _ in range(3))
    between = np.clip(0.5 + 0.5 * _shade(density.shape, rng), 0, 1)[..., None]
    hue = between * pale[0] + (1 - between) * pale[1]
    depth = 1 / (1 + np.exp(-(density - rng.uniform(0.4, 0.7)) / 0.12))[..., None]
    hue = depth * dark + (1 - depth) * hue
    return np.asarray(density[..., None] * hue / hue.mean(axis=2, keepdims=True), np.float32)


def _shade(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """A smooth field (H, W)."""
    coarse = rng.normal(size=(4, 4)).astype(np.float32)
    field = ndimage.zoom(coarse, [side / 4 for side in shape], order=2, mode="nearest", grid_mode=True)
    return np.asarray(field[: shape[0], : shape[1]], np.float32)


def _compress(colours: Floats, quality: int) -> Floats:
    """Colours as they come back from a JPEG file."""
    buffer = io.BytesIO()
    Image.fromarray((np.clip(colours, 0, 1.2) * (255 / 1.2)).round().astype(np.uint8)).save(
        buffer, "JPEG", quality=quality
    )
    return np.asarray(Image.open(buffer), dtype=np.float32) * np.float32(1.2 / 255)
