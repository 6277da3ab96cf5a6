"""What images teach that nobody annotated: what a network says of them however they are looked at.

One round of self-training. The teacher, the network that the training begins with, sees an image as it is, mirrored,
stained more and less, larger and smaller; only what it says each time is taught. A spot counts as a nucleus, or as
none, where the judge is sure of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.models import Model
from declump.regions.channels import to_channels
from declump.regions.inference import Maps, region_maps
from declump.regions.judge import SpotPlanes, judge_spots
from declump.regions.resizing import resize_channels
from declump.regions.scale import find_scale
from declump.regions.spots import find_spots
from declump.training.regions.marked import fill_false_spots
from declump.training.regions.targets import BORDER, IGNORED, Example, centre_map

Floats = NDArray[np.float32]

SURE_CLASS, SURE_LAYER = 0.7, 0.5
"""Least probability, in every view, of a class and of a number of layers that is taught."""
NUCLEUS, OTHER = 0.75, 0.25
"""From the first probability on a spot is a nucleus, up to the second one it is none; between them it is not known."""


def make_stable_example(image: NDArray[Any], model: Model, judge: Model) -> Example:
    """Make the answers for an image that nobody annotated, at the size at which the teacher looks at it.

    Parameters
    ----------
    image : (H, W[, 3])
    model : Model
        The region network that teaches.
    judge : Model
        What tells nuclei from leukocytes and debris.
    """
    original = to_channels(image)
    channels = resize_channels(original, find_scale(original, model)[0])
    answers = [_ask(channels, model, *view) for view in _views()]
    classes = _agree([maps.classes for maps in answers], SURE_CLASS)
    layers = _agree([maps.layers for maps in answers], SURE_LAYER)
    nuclei = _tell_nuclei(classes, channels[0], answers[0], judge, model.nucleus_diameter)
    inner = np.zeros(classes.shape, np.bool_)
    inner[BORDER:-BORDER, BORDER:-BORDER] = True
    classes[~inner] = IGNORED
    numbers = np.arange(1, int(nuclei.max(initial=0)) + 1)[:, None, None]
    return Example(channels, classes, centre_map(nuclei == numbers), layers)


def _tell_nuclei(
    classes: NDArray[np.uint8], luminance: Floats, maps: Maps, judge: Model, diameter: float
) -> NDArray[np.int32]:
    """Give the sure nuclei (H, W), numbered; spots that are none become what surrounds them, doubtful ones unknown."""
    spots = find_spots(maps.classes[2], maps.centre_map, luminance, diameter, clump=maps.classes[0] < 0.5)
    said = judge_spots(SpotPlanes.from_maps(luminance, maps, spots), judge, diameter)
    sure = np.append(False, said >= NUCLEUS)
    # What was a nucleus in some view, and is no spot, or a doubtful one, is not known.
    classes[classes == 2] = IGNORED
    classes[(spots > 0) & ~sure[spots]] = IGNORED
    share = maps.classes[1] / np.maximum(maps.classes[0] + maps.classes[1], 1e-6)
    fill_false_spots(classes, spots, said > OTHER, share)
    classes[sure[spots]] = 2
    return np.asarray((np.cumsum(sure) * sure)[spots], np.int32)


def _agree(answers: list[Floats | None], least: float) -> NDArray[np.uint8]:
    """Give the answer (H, W) with the highest mean probability, where every view (A, H, W) grants it the least one."""
    stack = np.stack([answer for answer in answers if answer is not None])
    chosen = stack.mean(axis=0).argmax(axis=0)
    granted = np.take_along_axis(stack.min(axis=0), chosen[None], 0)[0]
    return np.where(granted >= least, chosen, IGNORED).astype(np.uint8)


View = tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]


def _views() -> list[View]:
    """How an image is looked at, and how an answer is brought back."""

    def same(planes: Floats) -> Floats:
        return planes

    def mirror(axis: int) -> Callable[[Floats], Floats]:
        return lambda planes: np.ascontiguousarray(np.flip(planes, axis))

    def stain(power: float) -> Callable[[Floats], Floats]:
        return lambda planes: np.concatenate([np.maximum(planes[:1], 1e-3) ** np.float32(power), planes[1:]])

    def resize(scale: float) -> Callable[[Floats], Floats]:
        return lambda planes: resize_channels(planes, scale)

    looks: list[View] = [(same, same), *((mirror(axis), mirror(axis)) for axis in (1, 2))]
    looks += [(stain(power), same) for power in (0.75, 1.3)]
    return looks + [(resize(scale), same) for scale in (0.85, 1.2)]


def _ask(channels: Floats, model: Model, look: Callable[[Floats], Floats], back: Callable[[Floats], Floats]) -> Maps:
    maps = region_maps(look(channels), model).resized(channels.shape[1:])
    return Maps(back(maps.classes), back(maps.centre_map[None])[0], back(maps.layers))
