"""Things cut out of real frames as transmittances: cells that lie free, and leukocytes and debris that nobody marked.

A transmittance is the share of the light that a thing lets through. Where two things lie on one another the light
passes through both, so that transmittances are multiplied (Beer-Lambert).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.datasets import AnnotatedImage
from declump.datasets.marked import MarkedNuclei
from declump.models import NUCLEUS_DIAMETER
from declump.records.regions import Regions
from declump.regions.channels import BACKGROUND_PERCENTILE, to_channels

Floats = NDArray[np.float32]
Masks = NDArray[np.bool_]

MARGIN = 8
"""Pixels round a cut-out, over which it fades."""
MAX_COVERED = 0.06
"""A cell lies free if other cells cover at most this share of it."""
MIN_CONTRAST = 0.1
"""A cell that lets through more than all but this share of the light of what surrounds it has no visible outline."""

MIN_CELL = 4.0
"""Least area of a cell that was found and not drawn, in areas of a nucleus."""
SOLID = 0.88
"""Least share of its convex hull that such a cell fills: two that overlap fill less."""
MAX_LAYERS = 1.25
"""Largest number of cells, in the mean over its pixels, that a network may see in it."""

AROUND = 2.5
"""A dark spot is dark against what surrounds it this many diameters of a nucleus wide."""
DARK = 0.78
"""Most of that light which a spot lets through."""
AREAS = (0.08, 2.5)
"""Least and largest area of a spot, in areas of a nucleus."""
ROUND = 0.88
"""What fills so much of its convex hull, and is as large as a nucleus, may be one that was not marked."""
NUCLEUS_SIZES = (0.45, 2.0)
"""Sizes of nuclei, in areas of the usual one."""
EVEN = 0.15
"""The ring round a spot differs by at most this share of its light, so that the spot alone is cut out."""
APART = 0.9
"""Least distance of a spot from a marked point, in diameters of a nucleus."""


@dataclass(frozen=True, eq=False)
class CutOut:
    """A thing that lay free.

    Attributes
    ----------
    light : (h, w, C) float32
        Share of the light that it lets through; 1 beyond it.
    cell : (h, w) bool
        Where the cell is; empty for what is no cell.
    nucleus : (h, w) bool
        Where its nucleus is.
    """

    light: Floats
    cell: Masks
    nucleus: Masks


def cut_cells(image: AnnotatedImage) -> list[CutOut]:
    """Cut out the cells of an annotated image that lie free, whole and with their nucleus in it."""
    pixels = _as_colour(image.image)
    layers = image.cells.sum(axis=0)
    cuts = []
    for number, (cell, box) in enumerate(zip(image.cells, _boxes(image.cells), strict=True), start=1):
        window = _widen(box, MARGIN, layers.shape)
        if window is None:
            continue
        own, nucleus = cell[window], image.nucleus_labels[window] == number
        if nucleus.any() and (layers[window][own] > 1).mean() <= MAX_COVERED:
            cuts.append(_cut_cell(pixels, window, own, nucleus, layers[window] == 0))
    return [cut for cut in cuts if cut is not None]


def cut_lone_cells(image: MarkedNuclei, regions: Regions) -> list[CutOut]:
    """Cut out the cells of an image with marked nuclei that are alone in their clump: such a clump is a whole cell.

    Parameters
    ----------
    image : MarkedNuclei
    regions : Regions
        What was found in it: the outlines of clumps and nuclei, which nobody drew.
    """
    from skimage.measure import regionprops

    pixels = _as_colour(image.image)
    clumps, _ = ndimage.label(ndimage.binary_fill_holes(regions.clump), np.ones((3, 3)))
    places = tuple(np.rint(image.points).astype(int).T)
    marks = np.bincount(clumps[places], minlength=int(clumps.max()) + 1)
    nucleus_of = dict(zip(clumps[places].tolist(), regions.nuclei[places].tolist(), strict=True))
    usual = np.pi * NUCLEUS_DIAMETER**2 / 4
    cuts = []
    for piece in regionprops(clumps):
        box = (slice(piece.bbox[0], piece.bbox[2]), slice(piece.bbox[1], piece.bbox[3]))
        window = _widen(box, MARGIN, clumps.shape)
        number = nucleus_of.get(piece.label, 0)
        if window is None or marks[piece.label] != 1 or number == 0:
            continue
        own = clumps[window] == piece.label
        crowded = regions.layers is not None and regions.layers[window][own].mean() > MAX_LAYERS
        if piece.area >= MIN_CELL * usual and piece.solidity >= SOLID and not crowded:
            nucleus = (regions.nuclei[window] == number) & own
            cuts.append(_cut_cell(pixels, window, own, nucleus, ~regions.clump[window]))
    return [cut for cut in cuts if cut is not None]


def _cut_cell(pixels: Floats, window: tuple[slice, slice], own: Masks, nucleus: Masks, empty: Masks) -> CutOut | None:
    """Cut out a cell (h, w) of a window, or None where it does not stand out against what is empty round it."""
    near = ndimage.binary_dilation(own, iterations=3)
    beside = ndimage.binary_dilation(own, iterations=MARGIN) & ~near & empty
    if not beside.any():
        return None
    around = np.median(pixels[window][beside], axis=0)
    inner = np.median(pixels[window][own & ~nucleus], axis=0)
    if inner.mean() > (1 - MIN_CONTRAST) * around.mean() or around.mean() < 0.8 * background_of(pixels).mean():
        return None
    return CutOut(_fade(pixels[window] / around, own, 1.0), own, nucleus)


def cut_others(image: MarkedNuclei) -> list[CutOut]:
    """Cut out leukocytes and debris: dark spots on even ground that no mark tells to be nuclei.

    What has the size and the roundness of a nucleus is left, for some nuclei were not marked.
    """
    from skimage.measure import regionprops

    pixels = _as_colour(image.image)
    luminance = to_channels(image.image)[0]
    usual = np.pi * NUCLEUS_DIAMETER**2 / 4
    smooth = ndimage.gaussian_filter(luminance, 1)
    ground = ndimage.gaussian_filter(luminance, AROUND * NUCLEUS_DIAMETER / 2)
    labels, _ = ndimage.label(smooth < DARK * ground)
    marked = _mark(image, labels.shape)
    cuts = []
    for piece in regionprops(labels):
        box = (slice(piece.bbox[0], piece.bbox[2]), slice(piece.bbox[1], piece.bbox[3]))
        window = _widen(box, MARGIN, labels.shape)
        if window is None or not AREAS[0] * usual <= piece.area <= AREAS[1] * usual:
            continue
        if piece.solidity >= ROUND and NUCLEUS_SIZES[0] * usual <= piece.area <= NUCLEUS_SIZES[1] * usual:
            continue
        own = ndimage.binary_dilation(labels[window] == piece.label, iterations=3)
        ring = ndimage.binary_dilation(own, iterations=4) & ~own
        if marked[window][own].any() or not ring.any():
            continue
        low, light, high = np.percentile(luminance[window][ring], (10, 50, 90))
        if high - low > EVEN * light:
            continue
        around = np.median(pixels[window][ring], axis=0)
        nothing = np.zeros(own.shape, np.bool_)
        cuts.append(CutOut(_fade(pixels[window] / around, own, 1.2), nothing, nothing))
    return cuts


def background_of(pixels: Floats) -> Floats:
    """Light (C,) of the background of an image (H, W, C)."""
    return np.maximum(np.percentile(pixels, BACKGROUND_PERCENTILE, axis=(0, 1)), 1).astype(np.float32)


def _mark(image: MarkedNuclei, shape: tuple[int, ...]) -> Masks:
    """Where (H, W) marked nuclei are, or may be."""
    unknown = np.zeros(shape, np.bool_) if image.unknown is None else image.unknown
    if image.labels is not None:
        return np.asarray((image.labels > 0) | unknown)
    marks = np.ones(shape, np.bool_)
    marks[tuple(np.rint(image.points).astype(int).T)] = False
    if marks.all():
        return unknown
    return np.asarray((ndimage.distance_transform_edt(marks) <= APART * NUCLEUS_DIAMETER) | unknown)


def _fade(light: Floats, own: Masks, softness: float) -> Floats:
    """Light through a thing, that beyond it becomes 1 without a seam."""
    kept = ndimage.gaussian_filter(own.astype(np.float32), softness)[..., None]
    return np.asarray(1 - kept * (1 - np.clip(light, 0.02, 1.05)), np.float32)


def _as_colour(image: NDArray[np.uint8]) -> Floats:
    pixels = np.asarray(image, np.float32)
    return pixels[..., None] if pixels.ndim == 2 else pixels[..., :3]


def _boxes(masks: Masks) -> list[tuple[slice, slice]]:
    return [ndimage.find_objects(mask.view(np.uint8))[0] if mask.any() else (slice(0), slice(0)) for mask in masks]


def _widen(box: tuple[slice, slice], margin: int, shape: tuple[int, ...]) -> tuple[slice, slice] | None:
    """Give a box with a margin, or None where it does not lie in the image."""
    sides = [(side.start - margin, side.stop + margin) for side in box]
    if any(low < 0 or high > end or high - low <= 2 * margin for (low, high), end in zip(sides, shape, strict=True)):
        return None
    return slice(*sides[0]), slice(*sides[1])
