"""At which scale an image is looked at: the one at which the region network is surest of what it sees.

A network learns things of one size. Seen too large or too small it hesitates: the entropy of its classes is lowest near
the scale that it was trained at, and the nuclei that it finds there have the usual diameter. Both are looked at on a
part of the image, at a few scales.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.models import Model
from declump.regions.inference import Maps, region_maps
from declump.regions.objects import find_objects
from declump.regions.resizing import SAME_SCALE, resize_channels
from declump.regions.sampling import shrink

SCALES = (1 / 6, 6.0)
"""Smallest and largest scale at which an image is looked at, against that of the training images."""
PIXELS = 1024 * 1024
"""A part of the image with at most so many pixels, as the network sees them, is looked at to find the scale."""
CLOSE = 1.2
"""Nuclei that seem smaller or larger than usual by less than this factor say nothing against the first guess."""
MET = 1.03
"""Otherwise the scale is changed until nuclei differ by less than this factor from the usual ones."""
DOUBTED, REFUTED = 1.3, 1.8
"""A scale found so is taken if it differs by more than the second factor from the first guess, and not at all if by
less than the first: nuclei of one size do not all look alike. Between the two the scale taken goes from one to
the other, so that an image that is hardly another has hardly another scale."""
LARGER = 1.08
"""How much larger an image is looked at than a scale that is taken so asks for: what is seen too large is told better
than what is seen too small."""
ENOUGH_NUCLEI = 5
"""Fewer nuclei than this say nothing about the scale."""
SOME_NUCLEI = 3
"""At a smaller scale at least so many are seen, or it is not taken."""
SMALLER = (2, 4)
"""By so much smaller an image is looked at, too."""
SURER = 0.9
"""A smaller scale is taken if it leaves less than this share of the entropy."""
GLANCE = 512 * 512
"""First it is looked at in a part of so many pixels of the image as it is seen."""
WORSE = 1.3
"""With more than this share of the part's entropy left, a smaller scale is not looked at any further."""
LOOKS = 5
"""The scale is changed at most so often."""
BRIGHT = 0.9
"""What is darker than this share of the background's luminance may be a cell."""
BESIDE = (2.0, 4.0, 0.5)
"""Where hardly any nuclei are seen, the image is looked at by so much larger and smaller as well."""
CLEARLY = 1.5
"""Another scale is taken then if so much more nuclei are seen at it, weighted by their probabilities."""
SURE = 0.5
"""Pixels with a higher probability of nucleus are counted to tell the size of nuclei."""


@dataclass(frozen=True)
class Look:
    """What the network says of a part of an image at one scale.

    Attributes
    ----------
    entropy : float
        Mean entropy of its classes over the part, in nats.
    diameters : (N,) float64
        Diameters of nuclei as it sees them, in pixels of its own.
    maps : Maps
        The whole answer.
    """

    entropy: float
    diameters: NDArray[np.float64]
    maps: Maps

    @property
    def diameter(self) -> float | None:
        """Median of the diameters; None for too few nuclei."""
        return float(np.median(self.diameters)) if len(self.diameters) >= ENOUGH_NUCLEI else None


def find_scale(channels: NDArray[np.float32], model: Model, start: float = 1.0) -> tuple[float, Maps | None]:
    """Find how much larger than it is an image has to be looked at.

    Parameters
    ----------
    channels : (3, H, W)
        The image's :func:`declump.regions.channels.to_channels`.
    model : Model
        A region network.
    start : float
        The first guess; it stands where the image tells nothing.

    Returns
    -------
    scale : float
        The guess itself, unless the image contradicts it.
    maps : Maps or None
        What the network says of the image at that scale, if it was small enough to be looked at as a whole.
    """
    first = scale = float(np.clip(start, *SCALES))
    if model.is_smear:
        return _find_by_nuclei(channels, model, first)
    for _ in range(LOOKS):
        part = choose_part(channels, scale)
        here = look(resize_channels(part, scale), model)
        maps = here.maps if part.shape == channels.shape else None
        changed = float(np.clip(scale * _change(part, model, scale, here), *SCALES))
        close = max(changed / scale, scale / changed)
        if scale == first and close < CLOSE:
            break
        scale, maps = changed, None
        if close < MET:
            break
    taken = first * _trust(scale / first)
    # An image is not resized for so little, and then its nuclei have the size that the network sees.
    taken = 1.0 if abs(taken - 1) < SAME_SCALE else taken
    return taken, maps if taken == scale else None


def _find_by_nuclei(channels: NDArray[np.float32], model: Model, first: float) -> tuple[float, Maps | None]:
    """Find the scale by the size of the nuclei that a network sees which was trained at all scales.

    One look is enough where there are nuclei; where there are hardly any, they may be too small or too large.
    """
    maps = region_maps(resize_channels(channels, first), model)
    usual = model.nucleus_diameter
    seen = {1.0: _see_nuclei(maps, usual)}
    if len(seen[1.0][0]) < ENOUGH_NUCLEI:
        for factor in BESIDE:
            scale = float(np.clip(factor * first, *SCALES))
            beside = region_maps(resize_channels(choose_part(channels, scale), scale), model)
            seen[scale / first] = _see_nuclei(beside, usual)
    surest = max(seen, key=lambda factor: seen[factor][1] * (CLEARLY if factor == 1 else 1))
    diameters = seen[surest][0]
    if not len(diameters):
        return first, maps
    change = surest * float(np.clip(usual / np.median(diameters), *SCALES))
    if len(diameters) < ENOUGH_NUCLEI and surest == 1:
        return first, maps
    change = _trust(change)
    return (first, maps) if abs(change - 1) < SAME_SCALE else (float(np.clip(first * change, *SCALES)), None)


def _see_nuclei(maps: Maps, usual: float) -> tuple[NDArray[np.float64], float]:
    """Diameters of the nuclei in maps, as they are seen, and the sum of their probabilities."""
    found = find_objects(maps, usual)
    sure = found.kinds[:, 0] > SURE
    areas = np.bincount(found.labels.ravel(), minlength=len(sure) + 1)[1:][sure]
    return np.sqrt(4 * areas / np.pi), float(found.kinds[sure, 0].sum())


def _trust(change: float) -> float:
    """Change of the first guess that is taken, of the one that was found."""
    lowest, highest = np.log(DOUBTED), np.log(REFUTED)
    found = np.log(change)
    trusted = float(np.clip((abs(found) - lowest) / (highest - lowest), 0, 1))
    return float(np.exp(trusted * (np.sign(found) * max(abs(found), highest) + np.log(LARGER))))


def _change(part: NDArray[np.float32], model: Model, scale: float, here: Look) -> float:
    """Factor by which a scale has to change, by what is seen at it and beside it."""
    seen = resize_channels(part, scale)
    smaller = {size: np.asarray(shrink(seen, size), np.float32) for size in SMALLER}
    beside = {
        1 / size: look(planes, model) for size, planes in smaller.items() if not _is_worse(planes, size, model, here)
    }
    if here.diameter is None:
        beside[2.0] = look(resize_channels(choose_part(part, 2 * scale), 2 * scale), model)
    surest = min(beside, key=lambda factor: beside[factor].entropy, default=1.0)
    if surest != 1 and beside[surest].entropy < SURER * here.entropy and len(beside[surest].diameters) >= SOME_NUCLEI:
        return surest
    if here.diameter is None:
        double = beside[2.0]
        return 2.0 if double.entropy < here.entropy and len(double.diameters) > len(here.diameters) else 1.0
    return float(np.clip(model.nucleus_diameter / here.diameter, 0.5, 2))


def _is_worse(smaller: NDArray[np.float32], size: int, model: Model, here: Look) -> bool:
    """Tell by a part of it alone whether the network is far less sure of an image made smaller by a size."""
    rows, columns = _find_part(smaller, GLANCE / size**2)
    if smaller[:, rows, columns].shape == smaller.shape:
        return False
    seen = here.maps.classes[:, *(slice(size * side.start, size * side.stop) for side in (rows, columns))]
    return _entropy(region_maps(smaller[:, rows, columns], model).classes) > WORSE * _entropy(seen)


def choose_part(channels: NDArray[np.float32], scale: float) -> NDArray[np.float32]:
    """Cut out the part of an image with most in it that is small enough to be looked at, seen at a scale."""
    return channels[:, *_find_part(channels, PIXELS / scale**2)]


def _find_part(channels: NDArray[np.float32], pixels: float) -> tuple[slice, slice]:
    """Find the part of an image (3, H, W) with most in it that has at most so many pixels; all of it if it can be."""
    height, width = channels.shape[1:]
    side = np.sqrt(pixels)
    if height * width <= side**2:
        return slice(0, height), slice(0, width)
    rows, columns = min(height, round(side * max(1, side / width))), min(width, round(side * max(1, side / height)))
    filled = np.pad(np.cumsum(np.cumsum(channels[0] < BRIGHT, axis=0), axis=1), ((1, 0), (1, 0)))
    sums = filled[rows:, columns:] - filled[:-rows, columns:] - filled[rows:, :-columns] + filled[:-rows, :-columns]
    row, column = np.unravel_index(int(sums.argmax()), sums.shape)
    return slice(int(row), int(row) + rows), slice(int(column), int(column) + columns)


def look(channels: NDArray[np.float32], model: Model) -> Look:
    """Look at the channels (3, H, W) of an image, or of a part of one."""
    maps = region_maps(channels, model)
    return Look(_entropy(maps.classes), _diameters(maps, model.nucleus_diameter), maps)


def _entropy(classes: NDArray[np.float32]) -> float:
    """Mean entropy in nats of probabilities (3, H, W)."""
    return float(-np.sum(classes * np.log(np.maximum(classes, 1e-9)), axis=0).mean(dtype=np.float64))


def _diameters(maps: Maps, usual: float) -> NDArray[np.float64]:
    """Diameters of the pieces that may be nuclei: those with a centre, of a quarter to four times the usual area."""
    labels, count = ndimage.label(maps.classes[2] > SURE)
    areas = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    centred = np.bincount(labels[maps.centre_map > SURE], minlength=count + 1)[1:] > 0
    diameters = np.sqrt(4 * areas / np.pi)
    return np.asarray(diameters[(diameters > usual / 2.5) & (diameters < usual * 2.5) & centred])
