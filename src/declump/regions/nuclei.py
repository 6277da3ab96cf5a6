"""From the network's maps to single nuclei, and what is no nucleus of a cell left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST_PEAK = 0.35
"""Smallest nearness at a centre."""
LEAST_DIP = 0.2
"""Two centres are told apart when the nearness falls this much between them."""
SMOOTHING = 0.08
"""Width of the smoothing of the nearness, in diameters, so that grain in a nucleus makes no second peak."""
LEAST_SOLIDITY = 0.85
LEAST_CONTRAST = 0.04
"""A nucleus is darker than the ring round it by at least this share of the background's luminance."""
LEAST_AREA = 0.35
"""Smallest area of a nucleus, in areas of a disc with the expected diameter."""


def single_nuclei(
    mask: NDArray[np.bool_], nearness: NDArray[np.float32], luminance: NDArray[np.float32], diameter: float
) -> NDArray[np.int32]:
    """Tell the nuclei in a mask of nuclei apart, and number them.

    Centres are the peaks of the nearness; each takes the nucleus pixels that run up to it, so that touching and
    overlapping nuclei are one each. Pieces that are too small, ragged, or hardly darker than what surrounds them
    (debris, folds) are dropped. Leukocytes and bare nuclei, which have no cytoplasm, lie in no clump.

    Parameters
    ----------
    mask : (H, W) bool
        Pixels of nuclei within clumps.
    nearness : (H, W)
        Nearness to the centre of a nucleus, from 0 to 1.
    luminance : (H, W)
        Relative to the background.
    diameter : float
        Expected diameter of a nucleus in pixels.

    Returns
    -------
    (H, W) int32
        Numbers from 1, 0 where there is no nucleus.
    """
    from scipy import ndimage
    from skimage.measure import label, regionprops

    nearness = ndimage.gaussian_filter(nearness, SMOOTHING * diameter)
    pieces = np.zeros(mask.shape, np.int32)
    for blot in regionprops(label(mask, connectivity=2)):
        inner = _split(np.where(blot.image, nearness[blot.slice], 0).astype(np.float32), blot.image)
        pieces[blot.slice][inner > 0] = inner[inner > 0] + pieces.max()
    kept = np.zeros(mask.shape, np.int32)
    count = 0
    for piece in regionprops(pieces):
        if piece.area < LEAST_AREA * np.pi * diameter**2 / 4 or piece.solidity < LEAST_SOLIDITY:
            continue
        if _contrast(pieces, piece, luminance, diameter) < LEAST_CONTRAST:
            continue
        count += 1
        kept[piece.slice][piece.image] = count
    return kept


def _split(nearness: NDArray[np.float32], blot: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Number the nuclei of one connected blot: one a peak that stands out."""
    from skimage.measure import label
    from skimage.morphology import h_maxima
    from skimage.segmentation import watershed

    steps = np.pad(np.round(nearness * 255).astype(np.uint8), 1)
    peaks = h_maxima(steps, round(LEAST_DIP * 255))[1:-1, 1:-1].astype(bool) & (nearness >= LEAST_PEAK)
    return np.asarray(watershed(-nearness, label(peaks), mask=blot), dtype=np.int32)


def _contrast(pieces: NDArray[np.int32], piece: Any, luminance: NDArray[np.float32], diameter: float) -> float:
    """How much darker a piece is than the ring round it, other pieces left out."""
    from scipy import ndimage

    width = max(round(diameter / 4), 2)
    top, left, bottom, right = piece.bbox
    window = (slice(max(top - width, 0), bottom + width), slice(max(left - width, 0), right + width))
    own = pieces[window] == piece.label
    ring = ndimage.binary_dilation(own, iterations=width) & (pieces[window] == 0)
    seen = luminance[window]
    return float(np.median(seen[ring]) - seen[own].mean()) if ring.any() else 0.0
