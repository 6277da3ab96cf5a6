"""Images made fit to look at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.images.accepting import ImageLike, to_pixels


def to_display(image: ImageLike) -> NDArray[np.uint8]:
    """Make an image fit to look at.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4), or the path of a file
        See :func:`declump.pictures.overlay`; a fourth channel is dropped.

    Returns
    -------
    (H, W, 3) uint8
    """
    pixels = np.asarray(to_pixels(image))
    if pixels.ndim not in (2, 3) or pixels.shape[2:] not in ((), (3,), (4,)) or pixels.size == 0:
        raise ValueError(f"an image is (H, W) or (H, W, 3); given was an array of shape {pixels.shape}")
    if pixels.dtype == np.bool_:
        grey = np.where(pixels, np.uint8(214), np.uint8(255))
    elif pixels.dtype == np.uint8:
        grey = pixels
    else:
        values = pixels.astype(np.float64)
        if not np.isfinite(values).all():
            raise ValueError("an image to look at holds finite numbers; this one has NaN or infinity")
        low, high = np.percentile(values, (0.5, 99.5))
        if high <= low:
            low, high = values.min(), values.max()
        share = (values - low) / (high - low) if high > low else np.zeros_like(values)
        grey = np.rint(255 * np.clip(share, 0, 1)).astype(np.uint8)
    return grey[..., :3].copy() if grey.ndim == 3 else np.repeat(grey[..., None], 3, axis=2)
