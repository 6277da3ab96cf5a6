"""One lattice for all windows of an image, so that a window says of a pixel what the whole image says, to the byte.

A network with strides has a phase: it sees a window as it sees the whole only if the window begins at a multiple of its
coarsest stride. Where the image is looked at larger or smaller, the scale is a ratio of two whole numbers, so that the
windows begin on whole pixels both in the image and in what the network sees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.models import REACH_ENTRY, Model
from declump.regions.inference import MARGIN, Maps, region_maps
from declump.regions.resizing import SAME_SCALE
from declump.regions.scale import find_scale

Floats = NDArray[np.float32]

PRECISION = 0.035
"""Scales are met to this share."""
TRUNCATE = 4.0
"""A Gaussian ends after so many standard deviations."""
SHOWN = 1920
"""Sides of the noise that shows how far a network sees."""


@dataclass(frozen=True)
class Lattice:
    """How an image and what a network sees of it lie on each other.

    Attributes
    ----------
    pixels : int
        So many pixels of the image: windows begin at multiples of this.
    steps : int
        They are so many pixels of the network, a multiple of its coarsest stride.
    """

    pixels: int
    steps: int

    @classmethod
    def from_scale(cls, scale: float, stride: int) -> Lattice:
        """Find the lattice on which an image is seen about so much larger than it is, by a network with a stride."""
        if abs(scale - 1) < SAME_SCALE:
            return cls(stride, stride)
        steps = stride
        while abs(steps / max(round(steps / scale), 1) / scale - 1) > PRECISION:
            steps += stride
        return cls(round(steps / scale), steps)

    @property
    def scale(self) -> float:
        """How much larger the network sees the image."""
        return self.steps / self.pixels

    def find_margin(self, margin: int = MARGIN) -> int:
        """Pixels of the image round a window that a network needs that sees so many of its own; on the lattice."""
        smoothing = TRUNCATE * _smoothing(self.pixels, self.steps) + TRUNCATE * _smoothing(self.steps, self.pixels)
        return self.round_up(math.ceil(margin / self.scale + smoothing * max(1, 1 / self.scale)) + 2 * self._changed)

    def round_up(self, extent: int) -> int:
        """Round a number of pixels up to a multiple."""
        return -(-extent // self.pixels) * self.pixels

    @property
    def _changed(self) -> bool:
        return self.pixels != self.steps

    def see(self, channels: Floats, model: Model) -> Maps:
        """Let a network look at the channels (3, H, W) of a window that begins on the lattice."""
        if not self._changed:
            return region_maps(channels, model)
        shape = channels.shape[1], channels.shape[2]
        seen = resize_by_ratio(channels, self.steps, self.pixels)
        maps = region_maps(seen, model)

        def back(planes: Floats) -> Floats:
            return resize_by_ratio(planes, self.pixels, self.steps)[:, : shape[0], : shape[1]]

        return maps.change(back)


def maps_at_found_scale(channels: Floats, model: Model, start: float = 1.0) -> tuple[float, Maps]:
    """Find the scale of an image, met by a lattice, and what the network says at it, in the image's size."""
    scale, maps = find_scale(channels, model, start)
    lattice = Lattice.from_scale(scale, model.stride)
    if maps is None or lattice.pixels != lattice.steps:
        maps = lattice.see(channels, model)
    return lattice.scale, maps


def resize_by_ratio(planes: Floats, after: int, before: int) -> Floats:
    """Resize planes (P, H, W) linearly so that every ``before`` pixels become ``after``, smoothed where they shrink.

    All weights follow from whole numbers: they are the same wherever a window begins, if that is a multiple of
    ``before``. At the far border sides are rounded up.
    """
    width = _smoothing(before, after)
    if width:
        planes = np.stack([_blur(plane, width) for plane in planes])
    for axis in (1, 2):
        planes = _resize_axis(planes, axis, after, before)
    return planes


def find_receptive_field(model: Model) -> int:
    """Measure from how far the border of a window on the lattice changes what a network says, in its pixels.

    Noise is looked at as a whole and in part; where both answers are the same to the byte, the network does not see
    beyond the part. The card of the shipped network tells it.
    """
    told = model.card.get(REACH_ENTRY)
    if told is not None:
        return int(told)
    noise = np.random.default_rng(0).random((3, SHOWN, SHOWN), dtype=np.float32)
    inset = SHOWN // 4 // model.stride * model.stride
    part = np.s_[:, inset:-inset, inset:-inset]
    differ = (model.run(noise)[part] != model.run(np.ascontiguousarray(noise[part]))).any(axis=0)
    for margin in range(0, min(differ.shape) // 2, model.stride):
        if not differ[margin : len(differ) - margin, margin : differ.shape[1] - margin].any():
            return margin
    raise ValueError(
        f"{model.path} sees further than {min(differ.shape) // 2} pixels: it cannot look at parts of images"
    )


def _smoothing(before: int, after: int) -> float:
    """Width of the smoothing, in pixels, before a side is made smaller."""
    return max((before / after - 1) / 2, 0.0)


def _blur(plane: NDArray[Any], width: float) -> Floats:
    return np.asarray(ndimage.gaussian_filter(plane, width, mode="nearest", truncate=TRUNCATE), np.float32)


def _resize_axis(planes: Floats, axis: int, after: int, before: int) -> Floats:
    extent = planes.shape[axis]
    index = np.arange(-(-extent * after // before))
    # Centres of pixels lie on each other: (i + 1/2) * before / after - 1/2, as a fraction.
    place = (2 * index + 1) * before - after
    left, share = place // (2 * after), (place % (2 * after) / (2 * after)).astype(np.float32)
    share = share.reshape([-1 if one == axis else 1 for one in range(3)])
    first, second = (np.clip(left + step, 0, extent - 1) for step in (0, 1))
    result = np.take(planes, first, axis=axis) * (1 - share) + np.take(planes, second, axis=axis) * share
    return np.asarray(result, np.float32)
