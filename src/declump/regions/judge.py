"""The judge: a network that looks at a spot and its surroundings and says whether it is the nucleus of a cell.

It sees the spot twice: near, about three nuclei wide, and far, as wide as a cell, with what the region network says of
both. All lengths are relative to the diameter of a nucleus. A window is turned and mirrored first until what is dark
far round the spot lies to the lower right, so that the verdict does not depend on which way round the image lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump import _kernels
from declump.models import NUCLEUS_DIAMETER, Model, model_path, open_model
from declump.records.regions import seeds_from_labels
from declump.regions.inference import Maps
from declump.regions.orientation import Orientation
from declump.regions.sampling import shrink

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

WINDOW = 64
"""Sides of a window in steps; a step is a pixel where nuclei are as large as in the training images."""
FAR = 3
"""The far view has steps this many times as long."""
CHANNELS = 9
"""Near: luminance, clump, nucleus, centre, the spot itself; far: luminance, clump, nucleus, layers."""
_FAR = [0, 1, 2, 4]
_FAR_LUMINANCE = 5
_BEYOND = np.array([1.0, 0, 0, 0])
"""Beyond the image there is background."""
WAYS = tuple(Orientation(*way) for way in product((False, True), repeat=3))
"""All ways to turn and mirror a window, as it is first."""
DOUBTFUL = 0.1
"""A spot is looked at in all ways unless at first sight it is a nucleus, or none, with less than this doubt."""


@dataclass(frozen=True, eq=False)
class SpotPlanes:
    """An image and what the region network says of it, ready to be looked at from any spot.

    Attributes
    ----------
    planes : five of (H, W)
        Luminance; probability of clump and of nucleus; nearness to a centre; layers, as a share of 3.
    spots : (H, W) int32
        Number of the spot, from 1, at each of its pixels.
    unit : float
        What 1 of the planes stands for.
    """

    planes: Sequence[NDArray[Any]] | NDArray[Any]
    spots: NDArray[np.int32]
    unit: float = 1.0

    @classmethod
    def from_maps(cls, luminance: Floats, maps: Maps, spots: NDArray[np.int32]) -> SpotPlanes:
        """Put together the luminance (H, W) of an image, the maps of the region network, and spots (H, W)."""
        planes = (luminance, 1 - maps.classes[0], maps.classes[2], maps.centre_map, average_layers(maps.layers))
        return cls(planes, spots)


def average_layers(layers: Floats) -> Floats:
    """Mean number (H, W) of layers as a share of 3, by the probabilities (4, H, W) of 0 to 3."""
    shares = np.arange(4, dtype=np.float32) / 3
    mean: Floats = shares[0] * layers[0]
    for share, probability in zip(shares[1:], layers[1:], strict=True):
        mean += share * probability
    return mean


@dataclass(frozen=True)
class SpotView:
    """How a window looks at a spot.

    Attributes
    ----------
    step : float
        Pixels a step.
    turn : float
        Angle in radians.
    mirrored : bool
    """

    step: float = 1.0
    turn: float = 0.0
    mirrored: bool = False

    def grid(self, place: NDArray[np.float64], stretch: float, size: int) -> tuple[Doubles, Doubles]:
        """Corner (2,) and steps (2, 2) of a window round a place, stretched, in squares of so many pixels."""
        cosine, sine = np.cos(self.turn), np.sin(self.turn)
        across = -1 if self.mirrored else 1
        steps = np.array([[cosine, -sine], [across * sine, across * cosine]]) * (self.step * stretch / size)
        corner = (place + 0.5) / size - 0.5 - (WINDOW - 1) / 2 * steps.sum(axis=0)
        return corner, steps


class SpotWindows:
    """Windows of the spots of one image; what they share is made once."""

    def __init__(self, around: SpotPlanes, step: float = 1.0) -> None:
        self.around = around
        self.sizes = (max(round(step), 1), max(round(FAR * step), 1))
        # One plane after the other, as they are where they can be: those of a large image take much.
        self.near = [_shrink_plane(plane, self.sizes[0]) for plane in around.planes[:4]]
        self.far = [_shrink_plane(around.planes[plane], self.sizes[1]) for plane in _FAR]

    def sample(self, place: NDArray[np.float64], number: int, view: SpotView) -> Floats:
        """Look at spot ``number`` from a place (row, column): (9, W, W), see ``CHANNELS``."""
        window = np.empty((CHANNELS, WINDOW, WINDOW), np.float32)
        near, far = view.grid(place, 1.0, self.sizes[0]), view.grid(place, FAR, self.sizes[1])
        for index in range(len(_FAR)):
            beyond = _BEYOND[index : index + 1]
            _kernels.sample_affine(self.near[index], self.around.unit, beyond, *near, window[index : index + 1])
            _kernels.sample_affine(self.far[index], self.around.unit, beyond, *far, window[5 + index : 6 + index])
        _kernels.sample_number(self.around.spots, number, *view.grid(place, 1.0, 1), window[4])
        return window


def _shrink_plane(plane: NDArray[Any], size: int) -> NDArray[Any]:
    """Make a plane (H, W) smaller: (1, h, w)."""
    return np.ascontiguousarray(shrink(plane[None], size))


def open_judge(model: str | Path) -> Model:
    """Open ``"default"``, the judge that ships with declump, or an ONNX file of ``declump train judge``."""
    opened = open_model(model_path(model, "judge.onnx"), "judge of nuclei")
    opened.check_input(CHANNELS, WINDOW, WINDOW)
    return opened


def judge_spots(around: SpotPlanes, model: Model, diameter: float = NUCLEUS_DIAMETER) -> Floats:
    """Ask of every spot how probable it is that it is the nucleus of a cell.

    Parameters
    ----------
    around : SpotPlanes
    model : Model
        Of ``declump train judge``; see :func:`open_judge`.
    diameter : float
        Usual diameter of a nucleus in pixels.

    Returns
    -------
    (S,) float32
        Probabilities, in the order of the spots' numbers. A window goes through the network alone, so that what is said
        of a spot does not depend on the others.
    """
    step = diameter / model.nucleus_diameter
    windows, view = SpotWindows(around, step), SpotView(step)
    places = seeds_from_labels(around.spots)
    said = [_ask(model, turn_window(windows.sample(place, index + 1, view))) for index, place in enumerate(places)]
    return np.array(said, np.float32)


def _ask(model: Model, window: Floats) -> float:
    """Probability by a window (9, W, W); where it is doubtful, by the mean log odds of all ways to look at it."""
    first = np.float64(model.run(window)[0])
    if not is_doubtful(first):
        return float(first)
    said = np.array([first, *(model.run(way.see(window))[0] for way in WAYS[1:])]).clip(1e-6, 1 - 1e-6)
    return float(1 / (1 + np.exp(-np.mean(np.log(said / (1 - said))))))


def is_doubtful(probability: Doubles | np.float64) -> NDArray[np.bool_]:
    """Tell for which probabilities at first sight a spot is looked at in all ways."""
    return np.asarray((probability > DOUBTFUL) & (probability < 1 - DOUBTFUL))


def turn_window(window: Floats) -> Floats:
    """Turn and mirror a window (9, W, W) as the judge is to see it, whichever way round the image lies."""
    return Orientation.as_it_leans(window[_FAR_LUMINANCE]).see(window)
