"""What the region network sees of an image: luminance and chrominance, freed of exposure."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

LUMINANCE = np.array([0.299, 0.587, 0.114])
BACKGROUND_PERCENTILE = 95.0
"""The background is bright: this percentile of the luminance stands for it, and is set to 1."""


def channels(image: ArrayLike) -> NDArray[np.float32]:
    """Luminance and two chrominances of an image, relative to its background.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
        uint8, uint16, bool or float; alpha is ignored. Bright background.

    Returns
    -------
    (3, H, W) float32
        Y, B - Y and R - Y, each divided by the luminance of the background; the chrominances of a grey image are 0.
    """
    pixels = np.asarray(image)
    if pixels.ndim not in (2, 3) or pixels.size == 0 or pixels.shape[2:] not in ((), (1,), (3,), (4,)):
        raise ValueError(
            f"an image is (H, W), (H, W, 3) or (H, W, 4), and not empty; given was one of shape {pixels.shape}"
        )
    values = pixels.astype(np.float32)
    if not np.isfinite(values).all():
        raise ValueError("an image holds finite numbers; this one has NaN or infinity: replace them first")
    if values.ndim == 2 or values.shape[2] == 1:
        luminance = values.reshape(values.shape[:2])
        blue = red = np.zeros_like(luminance)
    else:
        luminance = np.sum(values[..., :3] * LUMINANCE.astype(np.float32), axis=2)
        blue, red = values[..., 2] - luminance, values[..., 0] - luminance
    background = max(float(np.percentile(luminance, BACKGROUND_PERCENTILE)), 1e-6)
    return np.stack([luminance, blue, red]).astype(np.float32) / np.float32(background)
