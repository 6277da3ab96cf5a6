"""Colours that people with any colour vision tell apart: of single cells, and of measured values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump import _kernels
from declump.shapes import contours

Colour = tuple[int, int, int]

COLOURS: tuple[Colour, ...] = (
    (230, 159, 0),  # orange
    (86, 180, 233),  # sky blue
    (0, 158, 115),  # bluish green
    (213, 94, 0),  # vermilion
    (204, 121, 167),  # reddish purple
    (0, 114, 178),  # blue
    (240, 228, 66),  # yellow
)
"""Colours of categories (Okabe and Ito, 2008), without black."""
RAMP: tuple[Colour, ...] = (
    (68, 1, 84),
    (71, 45, 123),
    (59, 82, 139),
    (44, 114, 142),
    (33, 145, 140),
    (40, 174, 128),
    (94, 201, 98),
    (173, 220, 48),
    (253, 231, 37),
)
"""Colours of values from low to high, at equal steps: the map viridis, which grows lighter all the way."""
UNKNOWN: Colour = (150, 150, 150)
"""Colour of a value that is not known."""
TOUCHING = 10.0
"""Cells nearer to each other than this, in pixels, get different colours as far as there are enough."""


@dataclass(frozen=True)
class Scale:
    """The range of values that the colours of ``RAMP`` stand for.

    Attributes
    ----------
    low, high : float
        The values of the first and the last colour; NaN if no value is known.
    """

    low: float
    high: float

    @classmethod
    def of(cls, values: ArrayLike) -> Scale:
        """Range of the known (finite) ones of given values."""
        numbers = np.asarray(values, dtype=np.float64)
        known = numbers[np.isfinite(numbers)]
        return cls(float(known.min()), float(known.max())) if known.size else cls(np.nan, np.nan)

    def colours(self, values: ArrayLike) -> NDArray[np.uint8]:
        """Colours (N, 3) of values (N,); values out of range have the colour of the nearer end, NaN is grey."""
        numbers = np.asarray(values, dtype=np.float64)
        known = np.isfinite(numbers)
        spread = self.high - self.low
        share = (np.where(known, numbers, self.low) - self.low) / spread if spread > 0 else np.full(numbers.shape, 0.5)
        stops = np.linspace(0, 1, len(RAMP))
        mixed = np.column_stack([np.interp(share, stops, channel) for channel in np.array(RAMP, float).T])
        return np.where(known[:, None], np.rint(mixed), UNKNOWN).astype(np.uint8)


def separate_colours(seeds: NDArray[np.float64], radii: NDArray[np.float64]) -> NDArray[np.int64]:
    """Give cells that touch different colours.

    Parameters
    ----------
    seeds : (N, 2) float64
    radii : (N, K) float64

    Returns
    -------
    (N,) int64
        Indices into ``COLOURS``.
    """
    touching = _find_touching(seeds, radii)
    colours = np.full(len(touching), -1, dtype=np.int64)
    # Cells with most neighbours choose first; a colour that no neighbour has, and among those the rarest.
    for index in np.argsort(-touching.sum(axis=1), kind="stable"):
        around = np.bincount(colours[touching[index] & (colours >= 0)], minlength=len(COLOURS))
        anywhere = np.bincount(colours[colours >= 0], minlength=len(COLOURS))
        colours[index] = np.lexsort((anywhere, around))[0]
    return colours


def _find_touching(seeds: NDArray[np.float64], radii: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which cells (N, N) touch or nearly touch."""
    touching, rays = np.zeros((len(seeds), len(seeds)), np.bool_), contours.directions(radii.shape[1])
    vertices = seeds[:, None, :] + radii[:, :, None] * np.column_stack(rays)
    reach = radii.max(axis=1, initial=0)
    for index in np.flatnonzero(reach):
        distance = np.hypot(*(seeds - seeds[index]).T)
        for other in np.flatnonzero((distance < reach + reach[index] + TOUCHING) & (reach > 0)):
            if other != index and not touching[index, other]:
                row, column = seeds[other]
                near = _kernels.points_inside(vertices[index], row, column, radii[other] + TOUCHING, *rays).any()
                touching[index, other] |= near
                touching[other, index] |= near
    return touching
