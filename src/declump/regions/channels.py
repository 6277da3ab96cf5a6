"""What the region network sees of an image: luminance and chrominance, freed of exposure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.records.boxes import Box
from declump.records.statistics import Exposure
from declump.regions.light import find_light, share_in_shadow

LUMINANCE = np.array([0.299, 0.587, 0.114])
BACKGROUND_PERCENTILE = 95.0
"""The background is bright: this percentile of the luminance stands for it, and is set to 1."""

BACKGROUND = (1, 0, 0)
"""Channels of the background."""

FLAT = 0.02
"""An image whose luminance varies by less than this share of its background shows nothing."""
DARK = 0.25
"""A background in this lowest part of the range of luminance is dark."""


@dataclass(frozen=True, eq=False)
class ImageChannels:
    """An image, and what the networks see of it, which is made at first use and kept: every stage needs it.

    Attributes
    ----------
    pixels : (H, W), (H, W, 3) or (H, W, 4)
        The image as it was given.
    given : Exposure, optional
        Background, polarity and light; by default as they are found in the image.
    box : Box, optional
        Where the pixels lie in the image that the exposure is of; by default they are all of it.
    """

    pixels: NDArray[Any]
    given: Exposure | None = None
    box: Box | None = None

    def __post_init__(self) -> None:
        """Refuse pixels that are masked out: no stage would heed that."""
        if isinstance(self.pixels, np.ma.MaskedArray):
            raise ValueError("the image is a masked array, whose mask is not heeded; give image.filled(value)")

    @cached_property
    def exposure(self) -> Exposure:
        """Background, polarity and light."""
        return measure_exposure(self.pixels) if self.given is None else self.given

    @cached_property
    def channels(self) -> NDArray[np.float32]:
        """Luminance and two chrominances (3, H, W): see :func:`to_channels`."""
        return to_channels(self.pixels, self.exposure, self.box)

    @property
    def shadow_share(self) -> float:
        """Share of the image in a shadow that is too dark to be looked at."""
        return 0.0 if self.exposure.light is None else share_in_shadow(self.exposure.light)

    @property
    def shape(self) -> tuple[int, ...]:
        """Height and width."""
        return self.pixels.shape[:2]


def to_channels(image: ArrayLike, exposure: Exposure | None = None, box: Box | None = None) -> NDArray[np.float32]:
    """Luminance and two chrominances of an image, relative to its background.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
        uint8, uint16, bool or float; alpha is ignored. An image with a dark background is turned round.
    exposure : Exposure, optional
        Background, polarity and light; by default as they are found in the image.
    box : Box, optional
        Where the pixels lie in the image that the exposure is of; by default they are all of it.

    Returns
    -------
    (3, H, W) float32
        Y, B - Y and R - Y, each divided by the luminance of the background, and by the light that falls on it where
        that is uneven (:mod:`declump.regions.light`): what is not lit at all is background. The chrominances of a grey
        image are 0. What is said of a pixel follows from it and the exposure alone.
    """
    found = measure_exposure(image) if exposure is None else exposure
    channels = _expose(image, found)
    light = found.light
    if light is not None:
        height, width = channels.shape[1:]
        box = Box(0, 0, height, width) if box is None else box
        if box.bottom > light.shape[0] or box.right > light.shape[1]:
            raise ValueError(f"the light is that of an image of {light.shape} pixels; {box} lies outside it")
        share, unlit = light.see(box)
        channels /= share
        channels[:, unlit] = np.array(BACKGROUND, np.float32)[:, None]
    return channels


def _expose(image: ArrayLike, exposure: Exposure) -> NDArray[np.float32]:
    """Luminance and two chrominances (3, H, W) relative to the background, as they are lit."""
    luminance, blue, red = split_colour(image)
    if exposure.turned is not None:
        luminance, blue, red = np.float32(exposure.turned) - luminance, -blue, -red
    # Chrominances of a grey image are left as they were asked for: pages of zeros that nobody writes to take no memory.
    channels = np.zeros((3, *luminance.shape), np.float32)
    for plane, channel in zip((luminance, blue, red), channels, strict=True):
        if plane.any():
            np.divide(plane, np.float32(exposure.background), out=channel)
    return channels


def measure_exposure(image: ArrayLike) -> Exposure:
    """Find background, polarity and light of a whole image."""
    luminance = split_colour(image)[0]
    found = find_exposure(luminance)
    bright = luminance if found.turned is None else np.float32(found.turned) - luminance
    relative = bright / np.float32(found.background)
    light = find_light(relative)
    if light is None:
        return found
    share, unlit = light.see(Box(0, 0, *light.shape))
    lit = max(float(np.percentile((relative / share)[~unlit], BACKGROUND_PERCENTILE)), 1e-6)
    return Exposure(found.background * lit, found.turned, light)


def find_exposure(luminance: NDArray[np.float32]) -> Exposure:
    """Find the background of a luminance (any shape), and whether it is dark."""
    turned = luminance.max() + luminance.min() if has_dark_background(luminance) else None
    bright = luminance if turned is None else turned - luminance
    background = max(float(np.percentile(bright, BACKGROUND_PERCENTILE)), 1e-6)
    return Exposure(background, None if turned is None else float(turned))


def split_colour(image: ArrayLike) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Luminance Y, B - Y and R - Y (H, W) of an image, as it was exposed; or say what is wrong with it."""
    pixels = np.asarray(image)
    if pixels.ndim not in (2, 3) or pixels.size == 0 or pixels.shape[2:] not in ((), (1,), (3,), (4,)):
        raise ValueError(
            f"an image is (H, W), (H, W, 3) or (H, W, 4), and not empty; given was one of shape {pixels.shape}"
        )
    if pixels.dtype.kind not in "biuf":
        raise ValueError(f"an image holds real numbers; this one holds {pixels.dtype}")
    with np.errstate(over="ignore"):  # what is too large becomes infinity, and is refused
        values = pixels.astype(np.float32)
    if not np.isfinite(values).all():
        raise ValueError(
            "an image holds finite numbers; this one has NaN, infinity, or more than float32 holds: replace them first"
        )
    if values.ndim == 2 or values.shape[2] == 1:
        luminance = values.reshape(values.shape[:2])
        blue = red = np.zeros_like(luminance)
    else:
        luminance = np.sum(values[..., :3] * LUMINANCE.astype(np.float32), axis=2)
        blue, red = values[..., 2] - luminance, values[..., 0] - luminance
    return luminance, blue, red


def is_flat(channels: NDArray[np.float32]) -> bool:
    """Whether the channels (3, H, W) of an image show nothing: hardly any pixel differs from the others."""
    low, high = np.percentile(channels[0], (0.5, 99.5))
    return bool(high - low < FLAT)


def has_dark_background(luminance: NDArray[np.float32]) -> bool:
    """Whether the commonest luminance is among the darkest, as in a dark-field or inverted image.

    What is black round a field of view may be commonest, too, but then most of the image is bright.
    """
    low, middle, high = np.percentile(luminance, (0.5, 50, 99.5))
    if high <= low or middle > (low + high) / 2:
        return False
    counts, _ = np.histogram(luminance, bins=32, range=(float(low), float(high)))
    return bool(counts.argmax() < DARK * 32)
