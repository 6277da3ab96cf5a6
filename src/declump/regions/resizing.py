"""Images and maps made larger or smaller."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAME_SCALE = 0.05
"""An image is not resized for a scale that differs less than this from 1."""


def resize_channels(channels: NDArray[np.float32], scale: float) -> NDArray[np.float32]:
    """Make the channels (3, H, W) of an image larger or smaller; as they are for a scale of about 1."""
    if abs(scale - 1) < SAME_SCALE:
        return channels
    height, width = (max(round(side * scale), 1) for side in channels.shape[1:])
    return resize_planes(channels, (height, width))


def resize_planes(planes: NDArray[np.float32], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Resize each of several planes (P, H, W) linearly, smoothed where they shrink."""
    from skimage.transform import resize

    shrinks = shape[0] < planes.shape[1]
    return np.stack(
        [resize(plane, shape, order=1, anti_aliasing=shrinks, preserve_range=True) for plane in planes]
    ).astype(np.float32)
