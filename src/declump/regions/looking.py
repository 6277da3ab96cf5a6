"""What is taken from an image before its regions are found: background, polarity, light and the size of its nuclei."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.records.boxes import Box
from declump.records.statistics import Exposure, ImageStatistics
from declump.regions.channels import find_exposure, measure_exposure, split_colour, to_channels
from declump.regions.inference import Maps, open_region_model
from declump.regions.lattice import Lattice
from declump.regions.options import RegionOptions
from declump.regions.scale import BRIGHT, DOUBTED, find_scale

Read = Callable[[Box], NDArray[Any]]
"""Gives the pixels (h, w[, channels]) of a box of an image."""

WHOLE = 4096 * 4096
"""An image of up to so many pixels tells its background, light and scale as a whole; of a larger one parts do."""
SIDE = 1024
"""Sides in pixels of those parts."""
GRID, FULLEST = 8, 6
"""So many parts a row and a column, at most, are looked at; the scale is that of the fullest ones."""
STEP = 8
"""Every so many rows and columns of a part tell the background."""


@dataclass(frozen=True, eq=False)
class FirstLook:
    """What is taken from an image before its regions.

    Attributes
    ----------
    statistics : ImageStatistics
        Not complete: without the sizes of cells and nuclei.
    channels : (3, H, W) float32, optional
        Of an image that was looked at as a whole.
    maps : Maps, optional
        What the region network says of the whole image, if it was looked at as the regions need it.
    """

    statistics: ImageStatistics
    channels: NDArray[np.float32] | None
    maps: Maps | None


def look_at_image(read: Read, shape: tuple[int, int], options: RegionOptions) -> FirstLook:
    """Find what is taken from an image before its regions, by its pixels and its size alone."""
    channels, maps = None, None
    if shape[0] * shape[1] <= WHOLE:
        parts = [Box(0, 0, *shape)]
        pixels = read(parts[0])
        exposure = measure_exposure(pixels)
        channels = to_channels(pixels, exposure)
    else:
        exposure, parts = _choose_parts(read, shape)
    model, given = open_region_model(options.model), options.in_pixels()
    if given.diameter is not None:
        scale = model.nucleus_diameter / given.diameter
    else:
        seen = [to_channels(read(part), exposure, part) for part in parts] if channels is None else [channels]
        fullest = max(seen, key=lambda part: float(np.mean(part[0] < BRIGHT)))
        scale, maps = find_scale(fullest, model, first_guess(model.nucleus_diameter, given.expected_diameter))
    lattice = Lattice.from_scale(scale, model.stride)
    if len(parts) > 1 or lattice.pixels != lattice.steps:
        maps = None
    diameter = model.nucleus_diameter / lattice.scale
    statistics = ImageStatistics(
        exposure.background, exposure.turned, diameter, pixel_size=options.pixel_size, light=exposure.light
    )
    return FirstLook(statistics, channels, maps)


def first_guess(usual: float, expected: float | None) -> float:
    """Scale to begin with: that of the training images, unless nuclei are expected to be far larger or smaller."""
    return 1.0 if expected is None or 1 / DOUBTED < expected / usual < DOUBTED else usual / expected


def _choose_parts(read: Read, shape: tuple[int, int]) -> tuple[Exposure, list[Box]]:
    """Background and polarity of a large image, and the parts of it with most in them."""
    starts = [
        np.unique(np.linspace(0, max(size - SIDE, 0), min(-(-size // SIDE), GRID)).astype(int)).tolist()
        for size in shape
    ]
    parts = [Box(top, left, top + SIDE, left + SIDE).meet(Box(0, 0, *shape)) for top in starts[0] for left in starts[1]]
    seen = [split_colour(read(part)[::STEP, ::STEP])[0] for part in parts]
    exposure = find_exposure(np.concatenate([luminance.ravel() for luminance in seen]))
    filled = []
    for luminance in seen:
        bright = luminance if exposure.turned is None else exposure.turned - luminance
        filled.append(float(np.mean(bright < BRIGHT * exposure.background)))
    order = np.argsort(-np.array(filled), kind="stable")[:FULLEST]
    return exposure, [parts[index] for index in sorted(order.tolist())]
