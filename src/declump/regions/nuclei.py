"""From the network's maps to single nuclei, and what is no nucleus of a cell left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.regions.inference import Maps

LEAST_PEAK = 0.35
"""Smallest nearness at a centre."""
LEAST_DIP = 0.1
"""Two centres are told apart when the nearness falls this much between them."""
LEAST_SOLIDITY = 0.8
LEAST_CONTRAST = 0.04
"""A nucleus is darker than the ring round it by at least this share of the background's luminance."""
LEAST_AREA = 0.2
"""Smallest area of a nucleus, in areas of a disc with the expected diameter."""


def nuclei_from_maps(
    maps: Maps, luminance: NDArray[np.float32], clump: NDArray[np.bool_], diameter: float
) -> NDArray[np.int32]:
    """Number the nuclei of the cells in a clump mask.

    Centres are the peaks of the nearness; each takes the nucleus pixels that run up to it, so that touching and
    overlapping nuclei are one each. Pieces that are too small, ragged, or hardly darker than what surrounds them
    (debris, folds) are dropped. Leukocytes and bare nuclei, which have no cytoplasm, lie in no clump.

    Parameters
    ----------
    maps : Maps
    luminance : (H, W)
        Relative to the background.
    clump : (H, W) bool
    diameter : float
        Expected diameter of a nucleus in pixels.

    Returns
    -------
    (H, W) int32
        Numbers from 1, 0 where there is no nucleus.
    """
    from skimage.measure import label, regionprops

    mask = (maps.classes[2] > maps.classes[:2].sum(axis=0)) & clump
    pieces = np.zeros(mask.shape, np.int32)
    for blot in regionprops(label(mask, connectivity=2)):
        inner = _split(np.where(blot.image, maps.nearness[blot.slice], 0).astype(np.float32), blot.image)
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


def _contrast(pieces: NDArray[np.int32], piece: object, luminance: NDArray[np.float32], diameter: float) -> float:
    """How much darker a piece is than the ring round it, other pieces left out."""
    from scipy import ndimage

    width = max(round(diameter / 4), 2)
    top, left, bottom, right = piece.bbox  # type: ignore[attr-defined]
    window = (slice(max(top - width, 0), bottom + width), slice(max(left - width, 0), right + width))
    own = pieces[window] == piece.label  # type: ignore[attr-defined]
    ring = ndimage.binary_dilation(own, iterations=width) & (pieces[window] == 0)
    seen = luminance[window]
    return float(np.median(seen[ring]) - seen[own].mean()) if ring.any() else 0.0
