"""Light that falls unevenly on an image: a slanted or dim field, a shadow, the black round a field of view.

Every stage takes the background for 1. Where a part of the image is lit less, its background looks like cytoplasm, and
cells would be found all over it. So the light is told from the image, by the brightest of every small block of it:
first a smooth slope over all of the image, then what is so dark, in from the border, that no cell could be seen there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.records.statistics import DECIMALS, Light

BLOCKS = 48
"""Blocks along the shorter side of an image."""
SMALLEST = 4 * BLOCKS
"""An image whose shorter side has fewer pixels tells nothing about its light."""
SAMPLES = 8
"""Of a block pixels of about so many rows and columns are looked at."""
BRIGHT = 90.0
"""A block is as bright as this percentile of its luminance."""
EVEN = 0.85
"""A slope that nowhere falls below this share of its highest is even enough."""
FITTING = 0.02
"""A block shows the background if it differs by no more than this share from the slope."""
ENOUGH = 0.2
"""At least this share of the blocks shows the background, or the slope is not known."""
IN_EVERY_QUARTER = 0.05
"""And at least this share of the blocks of every quarter of the image."""
ROUNDS = 20
"""The slope is fitted at most so often."""
RIDGE = 1e-6
"""Price of the terms of a slope, so that there is one for any blocks."""
UNLIT = 0.4
"""What is lit by less than this share of the light is too dark to be looked at."""
WIDTH = 0.2
"""A place without light holds a disc of at least this diameter, as a share of the shorter side."""
LARGE = 0.01
"""And covers at least this share of the image."""
MOST = 0.75
"""Where more than this share of an image would be unlit, it is something else."""
BLACK = 0.1
"""What is darker is not lit at all, or a heap in which no cell can be seen."""
DIM, GRADUAL = 0.25, 0.2
"""A shadow is at least so dark, and round it the logarithm of the light changes from one block to the next by no more
than this, but for a quarter of the blocks: piles of cells are brighter, and end more abruptly."""
PENUMBRA = 0.97
"""Round a shadow light is uneven up to this share of the light."""
FINER = 5
"""What is unlit is kept in blocks with sides so many times shorter."""
MARGIN = 0.2
"""Round what is unlit nothing is looked at for so much more, in sides of a block."""


def find_light(luminance: NDArray[np.float32]) -> Light | None:
    """Find how an image is lit, by its luminance (H, W) relative to its background; None where it is lit evenly."""
    if min(luminance.shape) < SMALLEST:
        return None
    side = min(luminance.shape) // BLOCKS
    bright = np.percentile(_divide(luminance, side), BRIGHT, axis=2).astype(np.float64)
    slope = _fit_slope(bright)
    bright /= slope
    shadow, places = _find_shadow(bright)
    if slope.min() == 1 and not places.any():
        return None
    smooth = ndimage.gaussian_filter(slope * shadow, 1.0, mode="nearest")
    unlit = _find_unlit(luminance, places, side)
    if unlit.mean() > MOST:
        return None
    share = np.maximum(smooth, 10.0**-DECIMALS).round(DECIMALS).astype(np.float32)
    return Light((luminance.shape[0], luminance.shape[1]), share, unlit)


def share_in_shadow(light: Light) -> float:
    """Share of an image in a shadow that is too dark to be looked at; what lies outside the field is none."""
    return float(np.mean(light.share < UNLIT))


def _divide(pixels: NDArray[np.float32], side: int) -> NDArray[np.float32]:
    """Some pixels (R, C, P) of square blocks; what is left over at the end of rows and columns does not count."""
    rows, columns = (size // side for size in pixels.shape)
    blocks = pixels[: rows * side, : columns * side].reshape(rows, side, columns, side)
    step = max(side // SAMPLES, 1)
    return blocks[:, ::step, :, ::step].swapaxes(1, 2).reshape(rows, columns, -1)


def _fit_slope(bright: NDArray[np.float64]) -> NDArray[np.float64]:
    """Light (R, C) as a smooth surface over all blocks; 1 where that is even, or too few blocks tell it."""
    rows, columns = np.meshgrid(*(np.linspace(-1, 1, size) for size in bright.shape), indexing="ij")
    terms = np.stack([np.ones_like(rows), rows, columns, rows**2, rows * columns, columns**2], axis=-1)
    logs, lit = np.log(np.maximum(bright, UNLIT)), bright > UNLIT
    shown, even = lit, np.ones_like(bright)
    for _ in range(ROUNDS):
        if not _is_enough(shown):
            return even
        surface = _fit_surface(terms, logs, shown)
        before, shown = shown, lit & (logs > surface - FITTING)
        if np.array_equal(before, shown):
            break
    slope: NDArray[np.float64] = np.exp(surface - surface.max())
    return slope if slope.min() < EVEN and _is_enough(shown & (logs < surface + FITTING)) else even


def _fit_surface(
    terms: NDArray[np.float64], values: NDArray[np.float64], shown: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Surface (R, C) of terms (R, C, T) nearest to the values of some blocks; the same whatever the threads."""
    seen = terms[shown]
    products = np.einsum("nt,nu->tu", seen, seen) + RIDGE * np.eye(terms.shape[2])
    weights = np.linalg.solve(products, np.einsum("nt,n->t", seen, values[shown]))
    return np.asarray(np.einsum("rct,t->rc", terms, weights))


def _is_enough(shown: NDArray[np.bool_]) -> bool:
    """Whether blocks that show the background are many, and lie in all quarters of the image."""
    halves = [np.array_split(half, 2, axis=1) for half in np.array_split(shown, 2, axis=0)]
    return bool(shown.mean() >= ENOUGH and min(part.mean() for half in halves for part in half) >= IN_EVERY_QUARTER)


def _find_shadow(bright: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Light (R, C) in and round shadows, 1 elsewhere; and which blocks are unlit, in a shadow or outside the field."""
    background = _close(bright, WIDTH * min(bright.shape) / 2)
    places, count = ndimage.label(background < UNLIT)
    shaded, _ = ndimage.label(background < PENUMBRA)
    steepness = _find_steepness(np.log(np.maximum(bright, BLACK)))
    shadow, unlit = np.ones_like(bright), np.zeros(bright.shape, np.bool_)
    for place in (places == number for number in range(1, count + 1)):
        level, around = float(np.median(bright[place])), np.isin(shaded, shaded[place]) & ~place
        gradual = around.any() and np.percentile(steepness[around], 75) < GRADUAL
        if place.mean() < LARGE or not _reaches_border(place) or not (level < BLACK or (level < DIM and gradual)):
            continue
        unlit |= place
        if gradual:
            shadow[place | around] = np.minimum(background, 1)[place | around]
    return shadow, unlit


def _close(bright: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """Light of blocks without what is darker and too small for a disc of a radius; discs may lie across the border."""
    reach = int(radius)
    disc = np.hypot(*np.mgrid[-reach : reach + 1, -reach : reach + 1]) <= radius
    highest = ndimage.grey_dilation(bright, footprint=disc, mode="constant", cval=-np.inf)
    return np.asarray(ndimage.grey_erosion(highest, footprint=disc, mode="constant", cval=np.inf))


def _find_steepness(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest difference (R, C) of each block from its four neighbours."""
    padded = np.pad(values, 1, mode="edge")
    beside = (padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:])
    return np.asarray(np.max([np.abs(values - other) for other in beside], axis=0))


def _reaches_border(place: NDArray[np.bool_]) -> bool:
    return bool(place[0].any() or place[-1].any() or place[:, 0].any() or place[:, -1].any())


def _find_unlit(luminance: NDArray[np.float32], places: NDArray[np.bool_], side: int) -> NDArray[np.bool_]:
    """Small blocks (r, c) with any unlit pixel: one of an unlit block, or hardly lighter next to it, or near."""
    rows, columns = (
        np.minimum(np.arange(size) // side, count - 1)
        for size, count in zip(luminance.shape, places.shape, strict=True)
    )
    within = places[np.ix_(rows, columns)]
    dark, _ = ndimage.label(within | (ndimage.uniform_filter(luminance, 3) < DIM))
    unlit = ndimage.binary_dilation(np.isin(dark, dark[within]), iterations=max(1, round(MARGIN * side)))
    counts = [max(size // max(side // FINER, 1), 1) for size in luminance.shape]
    # The first pixel of each small block, as Light.see tells which one a pixel lies in.
    first = [-(-np.arange(count) * size // count) for count, size in zip(counts, luminance.shape, strict=True)]
    return np.asarray(np.logical_or.reduceat(np.logical_or.reduceat(unlit, first[0], axis=0), first[1], axis=1))
