"""What the ray network sees of a cell: its surroundings in polar coordinates about its seed.

A row of a window is a direction, a column a distance from the seed, so that the outline of a cell is one number a row,
and turning the image only moves the rows round. All lengths are relative to the diameter of a nucleus.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from declump import _kernels
from declump.models import DIAMETER_ENTRY, NUCLEUS_DIAMETER
from declump.regions.channels import to_channels
from declump.regions.sampling import interpolate

Floats = NDArray[np.float32]

ANGLES = 64
DEPTHS = 80
STEP = 2.0
"""Pixels from one column of a window to the next, where nuclei are as large as in the training images."""
SMOOTHING = 1.0
"""Width in steps of the smoothing of the image: far from the seed neighbouring rows are several pixels apart."""
LEAD = 25.0
"""Unit, in steps, of how much nearer to its own seed than to any other a point is."""
CHANNELS = 9
"""Luminance, two chrominances, clump, other nuclei, own nucleus, image; lead over other seeds, distance."""
LEAD_CHANNEL = 7


@dataclass(frozen=True, eq=False)
class Surroundings:
    """An image and its regions, ready to be looked at from any seed.

    Attributes
    ----------
    planes : (4, H, W) float32
        Luminance and two chrominances, smoothed; clump.
    nuclei : (H, W) int32
        Number of the nucleus at each of its pixels.
    """

    planes: Floats
    nuclei: NDArray[np.int32]


@dataclass(frozen=True)
class View:
    """How a window looks at the image: turned, mirrored, nearer or further.

    Attributes
    ----------
    step : float
        Pixels from one column to the next.
    turn : float
        Direction of the first row in radians.
    mirrored : bool
        Whether directions are counted the other way round.
    angles, depths : int
        Rows and columns of the window.
    stretch : float
        How many times further a step reaches along the first row, and less far across it, so that things look squeezed.
    """

    step: float
    turn: float = 0.0
    mirrored: bool = False
    angles: int = ANGLES
    depths: int = DEPTHS
    stretch: float = 1.0

    def directions(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rows and columns (A,) of the vectors of a window's rows, of unit length where nothing is stretched."""
        angles = 2 * np.pi * np.arange(self.angles) / self.angles * (-1 if self.mirrored else 1)
        if self.stretch == 1:
            return np.sin(angles + self.turn), np.cos(angles + self.turn)
        across, along = np.sin(angles) / self.stretch, np.cos(angles) * self.stretch
        sine, cosine = np.sin(self.turn), np.cos(self.turn)
        return along * sine + across * cosine, along * cosine - across * sine

    def unstretch(self, points: NDArray[np.float64], seed: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where points (M, 2) seem to lie, seen from a seed, to one who takes nothing to be stretched."""
        sine, cosine = np.sin(self.turn), np.cos(self.turn)
        rows, columns = (points - seed).T
        along, across = (columns * cosine + rows * sine) / self.stretch, (rows * cosine - columns * sine) * self.stretch
        return np.asarray(seed + np.stack([along * sine + across * cosine, along * cosine - across * sine], axis=1))


@dataclass(frozen=True)
class WindowLayout:
    """What windows a ray network takes; it travels in the card of the model.

    Attributes
    ----------
    angles, depths : int
        Rows and columns.
    step : float
        Pixels from one column to the next, where nuclei have the diameter below.
    nucleus_diameter : float
        Usual diameter of a nucleus in pixels in the images that the network was trained on.
    """

    angles: int = ANGLES
    depths: int = DEPTHS
    step: float = STEP
    nucleus_diameter: float = NUCLEUS_DIAMETER

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> WindowLayout:
        """Read a layout from the card of a model; what that does not tell is as by default."""
        return cls(**{name: card[entry] for name, entry in _ENTRIES.items() if entry in card})

    def to_card(self) -> dict[str, float]:
        """Give the entries of a card that tell of the layout."""
        return {entry: getattr(self, name) for name, entry in _ENTRIES.items()}

    def view(self, diameter: float) -> View:
        """Look at an image whose nuclei have a diameter in pixels."""
        return View(self.step * diameter / self.nucleus_diameter, angles=self.angles, depths=self.depths)


_ENTRIES = {
    "angles": "window angles",
    "depths": "window depths",
    "step": "window step",
    "nucleus_diameter": DIAMETER_ENTRY,
}


def prepare_surroundings(
    image: ArrayLike, clump: NDArray[np.bool_], nuclei: NDArray[np.int32], step: float
) -> Surroundings:
    """Prepare an image (H, W[, channels]) with its clump and nuclei (H, W) for windows of a given step in pixels."""
    return Surroundings(join_planes(smooth_channels(to_channels(image), step), clump), nuclei)


def smooth_channels(channels: Floats, step: float) -> Floats:
    """Smooth the channels (3, H, W) of an image for windows of a given step in pixels."""
    smooth = np.zeros(channels.shape, np.float32)  # pages of zeros that nobody writes to take no memory
    for plane, channel in zip(channels, smooth, strict=True):
        if plane.any():
            ndimage.gaussian_filter(plane, SMOOTHING * step / 2, output=channel)
    return smooth


def join_planes(smooth: Floats, clump: NDArray[np.bool_]) -> Floats:
    """Planes (4, H, W) of :class:`Surroundings`, from smoothed channels (3, H, W) and a clump (H, W)."""
    planes = np.zeros((4, *clump.shape), np.float32)
    for plane, joined in zip((*smooth, clump), planes, strict=True):
        if plane.any():
            joined[...] = plane
    return planes


def sample_window(
    around: Surroundings,
    seed: NDArray[np.float64],
    number: int,
    others: NDArray[np.float64],
    view: View,
    ignored: ArrayLike = (),
) -> Floats:
    """Look at the image from one seed.

    Parameters
    ----------
    around : Surroundings
    seed : (2,)
        Row and column.
    number : int
        Number of the cell's own nucleus in ``around.nuclei``.
    others : (M, 2)
        The other seeds.
    view : View
    ignored : (I,) int
        Numbers of nuclei that are not shown.

    Returns
    -------
    (9, A, D) float32
        See ``CHANNELS``. Beyond the image there is background.
    """
    window = np.empty((CHANNELS, view.angles, view.depths), np.float32)
    _kernels.sample_polar(
        around.planes,
        around.nuclei,
        number,
        np.asarray(ignored, np.int64).ravel(),
        np.asarray(seed, np.float64),
        np.ascontiguousarray(others, np.float64),
        *view.directions(),
        view.step,
        LEAD,
        _BEYOND,
        window,
    )
    return window


def sample_window_by_points(
    around: Surroundings,
    seed: NDArray[np.float64],
    number: int,
    others: NDArray[np.float64],
    view: View,
    ignored: ArrayLike = (),
) -> Floats:
    """Look at the image from one seed: the text to read of the compiled kernel behind :func:`sample_window`."""
    height, width = around.nuclei.shape
    rows, columns = sample_points(seed, view)
    inside = (rows > -0.5) & (rows < height - 0.5) & (columns > -0.5) & (columns < width - 0.5)
    result = np.empty((CHANNELS, view.angles, view.depths), np.float32)
    result[:4] = np.where(inside, interpolate(around.planes, rows, columns), _BEYOND[:, None, None])
    nearest = np.clip(np.rint(rows), 0, height - 1).astype(int), np.clip(np.rint(columns), 0, width - 1).astype(int)
    numbers = np.where(inside, around.nuclei[nearest], 0)
    result[4] = (numbers > 0) & (numbers != number) & ~np.isin(numbers, ignored)
    result[5], result[6] = numbers == number, inside
    result[LEAD_CHANNEL] = _lead(rows, columns, others, view)
    result[8] = np.arange(view.depths, dtype=np.float32) / view.depths
    return result


def is_left_handed(window: Floats) -> bool:
    """Tell a window (C, A, D) from its mirror image, by how the luminance goes up and down round the seed.

    Of the two exactly one is, so that the network sees the same whichever way round the image lies; turning the image
    changes nothing. A window that is its own mirror image is not.
    """
    round_seed = window[0].mean(axis=1, dtype=np.float64)
    return bool(np.sum((np.roll(round_seed, -1) - round_seed) ** 3) > 0)


def mirror_rows(window: Floats) -> Floats:
    """Count the directions of a window (C, A, D), or of an answer (C, A), the other way round."""
    return np.ascontiguousarray(np.roll(window[:, ::-1], 1, axis=1))


_BEYOND = np.array([1, 0, 0, 0], np.float32)


@lru_cache(maxsize=2)
def _depths(count: int) -> NDArray[np.float64]:
    """Distances (D,) of the columns of a window from its seed, in steps."""
    return np.arange(count, dtype=np.float64) + 0.5


def sample_points(seed: NDArray[np.float64], view: View) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows and columns (A, D) of the points of a window."""
    towards = view.directions()
    distances = view.step * _depths(view.depths)
    return seed[0] + np.outer(towards[0], distances), seed[1] + np.outer(towards[1], distances)


def _lead(
    rows: NDArray[np.float64], columns: NDArray[np.float64], others: NDArray[np.float64], view: View
) -> NDArray[np.float64]:
    """How much nearer each point (A, D) is to its own seed than to any other, from -1 to 1."""
    nearest = np.full(rows.shape, np.inf)
    for row, column in others:
        np.minimum(nearest, (rows - row) ** 2 + (columns - column) ** 2, out=nearest)
    return np.asarray(np.clip((np.sqrt(nearest) / view.step - _depths(view.depths)) / LEAD, -1, 1))
