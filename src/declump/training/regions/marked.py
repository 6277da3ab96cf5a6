"""What images teach in which only the nuclei are marked: the rest of the answer is a teacher's, where it is sure.

The teacher is the network that the training begins with. It tells cytoplasm from background, and layers; nuclei are
what was marked, and a spot that it takes for a nucleus and that bears no mark is none.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.datasets import AnnotatedImage
from declump.datasets.marked import MarkedNuclei
from declump.models import Model
from declump.regions.channels import to_channels
from declump.regions.inference import open_region_model
from declump.regions.lattice import maps_at_found_scale
from declump.regions.spots import find_spots
from declump.training.judge.examples import tell_nuclei
from declump.training.regions.targets import BORDER, IGNORED, Example, centre_map, make_example

SURE_CLASS, SURE_LAYER = 0.85, 0.7
"""Least probability with which the teacher tells cytoplasm from background, and the number of layers."""
CORE, UNKNOWN = 0.2, 0.7
"""Of a marked point where the teacher sees no spot, so much is nucleus, and so much more is not known, in diameters."""
RING = 3
"""Width in pixels of the ring round a spot that tells what lies under it."""


class Teacher:
    """Makes examples of images of either kind.

    Parameters
    ----------
    start : Path, optional
        The network that tells what was not marked: an ``.onnx`` file; anything else stands for the shipped one.
    """

    def __init__(self, start: Path | None = None) -> None:
        self.start = start if start is not None and start.suffix == ".onnx" else "default"

    @cached_property
    def model(self) -> Model:
        """The network that tells."""
        return open_region_model(self.start)

    def make_example(self, image: AnnotatedImage | MarkedNuclei) -> Example:
        """Make the answers for one image."""
        if isinstance(image, AnnotatedImage):
            return make_example(image)
        return make_marked_example(image, self.model)


def make_marked_example(image: MarkedNuclei, model: Model) -> Example:
    """Make the answers for an image with marked nuclei, with a region model as the teacher."""
    channels = to_channels(image.image)
    scale, maps = maps_at_found_scale(channels, model)
    diameter = model.nucleus_diameter / scale
    spots = find_spots(maps.classes[2], maps.centre_map, channels[0], diameter, clump=maps.classes[0] < 0.5)
    told = tell_nuclei(spots, image)
    share = maps.classes[1] / np.maximum(maps.classes[0] + maps.classes[1], 1e-6)
    classes = np.where(share > 0.5, 1, 0).astype(np.uint8)
    classes[np.maximum(share, 1 - share) < SURE_CLASS] = IGNORED
    fill_false_spots(classes, spots, told, share)
    nuclei = image.labels if image.labels is not None else _draw_nuclei(classes, spots, told, image, diameter)
    inner = np.zeros(classes.shape, np.bool_)
    inner[BORDER:-BORDER, BORDER:-BORDER] = True
    classes[~inner] = IGNORED
    classes[nuclei > 0] = 2
    layers = maps.layers.argmax(axis=0).astype(np.uint8)
    layers[maps.layers.max(axis=0) < SURE_LAYER] = IGNORED
    numbers = np.arange(1, int(nuclei.max(initial=0)) + 1)[:, None, None]
    return Example(channels, classes, centre_map(nuclei == numbers), layers)


def fill_false_spots(
    classes: NDArray[np.uint8], spots: NDArray[np.int32], told: NDArray[np.bool_], share: NDArray[np.float32]
) -> None:
    """Give spots that are no nuclei the class of what surrounds them, in place."""
    for number, box in enumerate(ndimage.find_objects(spots), start=1):
        if told[number - 1]:
            continue
        window = tuple(slice(max(side.start - RING, 0), side.stop + RING) for side in box)
        own = spots[window] == number
        ring = ndimage.binary_dilation(own, iterations=RING) & (spots[window] == 0)
        classes[window][own] = int(share[window][ring].mean() > 0.5) if ring.any() else IGNORED


def _draw_nuclei(
    classes: NDArray[np.uint8],
    spots: NDArray[np.int32],
    told: NDArray[np.bool_],
    image: MarkedNuclei,
    diameter: float,
) -> NDArray[np.int32]:
    """Nuclei (H, W) of points: spots that bear one, and a core round each other point, in a part that is not known."""
    numbers = np.append(0, np.cumsum(told) * told).astype(np.int32)
    nuclei = numbers[spots]
    rows, columns = np.ogrid[: classes.shape[0], : classes.shape[1]]
    for row, column in image.points:
        reach = round(UNKNOWN * diameter)
        top, left = max(round(row) - reach, 0), max(round(column) - reach, 0)
        window = (slice(top, round(row) + reach + 1), slice(left, round(column) + reach + 1))
        distance = np.hypot(rows[window[0]] - row, columns[:, window[1]] - column)
        if (nuclei[window][distance <= CORE * 2 * diameter] > 0).any():
            continue
        around = (distance <= reach) & (nuclei[window] == 0)
        classes[window][around] = IGNORED
        nuclei[window][around & (distance <= CORE * diameter)] = nuclei.max() + 1
    return nuclei
