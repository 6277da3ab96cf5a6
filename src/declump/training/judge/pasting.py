"""Leukocytes pasted onto cells: what looks most like a nucleus and is none, where it is hardest to tell.

Free leukocytes of an image, dark spots on bright background that nobody marked, are cut out as transmittances and
multiplied onto its cytoplasm, as light would pass through both (Beer-Lambert).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.datasets.marked import MarkedNuclei
from declump.models import NUCLEUS_DIAMETER
from declump.regions.channels import to_channels

Floats = NDArray[np.float32]

DARK, BRIGHT = 0.65, 0.9
"""A free leukocyte is darker than the one and lies on what is brighter than the other, relative to the background."""
AREAS = (0.12, 0.8)
"""Least and largest area of a leukocyte, in areas of a nucleus."""
CYTOPLASM = (0.55, 0.88)
"""Luminance, smoothed, of what leukocytes are pasted onto."""
HALF = 20
"""Half of the side of a cut-out in pixels."""
APART = 16.0
"""Least distance in pixels between a pasted leukocyte and a marked nucleus."""
ENOUGH = 3
"""With fewer free leukocytes than this, an image gets none pasted."""


def paste_leukocytes(image: MarkedNuclei, count: int, seed: int) -> MarkedNuclei | None:
    """Paste free leukocytes of an image onto its cytoplasm, away from marked nuclei.

    Parameters
    ----------
    image : MarkedNuclei
    count : int
        How many to paste.
    seed : int

    Returns
    -------
    MarkedNuclei or None
        The same nuclei, in another image; None where the image has too few free leukocytes, or no place for them.
    """
    luminance = to_channels(image.image)[0]
    cuts = cut_leukocytes(luminance, image.points)
    places = _find_places(luminance, image.points)
    if len(cuts) < ENOUGH or not len(places):
        return None
    rng = np.random.default_rng(seed)
    factor = np.ones(luminance.shape, np.float32)
    for row, column in places[rng.integers(len(places), size=count)]:
        cut = np.rot90(cuts[int(rng.integers(len(cuts)))], int(rng.integers(4)))
        cut = cut[::-1] if rng.random() < 0.5 else cut
        factor[row - HALF : row + HALF, column - HALF : column + HALF] *= cut ** np.float32(rng.uniform(0.7, 1.1))
    pixels = image.image * (factor if image.image.ndim == 2 else factor[..., None])
    return replace(image, image=np.rint(pixels).astype(image.image.dtype))


def cut_leukocytes(luminance: Floats, points: NDArray[np.float64]) -> list[Floats]:
    """Transmittances (2 HALF, 2 HALF) of the free leukocytes of an image, none of them at a marked point."""
    labels, _ = ndimage.label(ndimage.gaussian_filter(luminance, 1) < DARK)
    areas = np.bincount(labels.ravel())
    least, largest = np.array(AREAS) * np.pi / 4 * NUCLEUS_DIAMETER**2
    cuts = []
    for number, box in enumerate(ndimage.find_objects(labels), start=1):
        middle = [(side.start + side.stop) // 2 for side in box]
        near = points.size and np.hypot(*(points - middle).T).min() < HALF
        fits = all(HALF <= place <= side - HALF for place, side in zip(middle, luminance.shape, strict=True))
        if not (least <= areas[number] <= largest) or near or not fits:
            continue
        window = tuple(slice(place - HALF, place + HALF) for place in middle)
        own = ndimage.binary_dilation(labels[window] == number, iterations=3)
        ring = ndimage.binary_dilation(own, iterations=5) & ~own
        light = float(np.median(luminance[window][ring]))
        if light < BRIGHT or float(np.percentile(luminance[window][ring], 10)) < BRIGHT - 0.1:
            continue
        soft = ndimage.gaussian_filter(own.astype(np.float32), 1.5)
        passed = np.clip(luminance[window] / light, 0.02, 1)
        cuts.append((1 - soft * (1 - passed)).astype(np.float32))
    return cuts


def _find_places(luminance: Floats, points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows and columns (P, 2) of cytoplasm away from marked nuclei and from the border."""
    smooth = ndimage.gaussian_filter(luminance, 4)
    free = (smooth > CYTOPLASM[0]) & (smooth < CYTOPLASM[1])
    free[:HALF], free[-HALF:], free[:, :HALF], free[:, -HALF:] = False, False, False, False
    if len(points):
        marks = np.ones(luminance.shape, np.bool_)
        marks[tuple(np.rint(points).astype(int).T)] = False
        free &= ndimage.distance_transform_edt(marks) > APART
    return np.argwhere(free)
