"""What is taken from an image as a whole, so that a part of it can be segmented as the whole would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from declump.records.boxes import Box

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Light:
    """How unevenly an image is lit, as coarse fields that any part of it is corrected by.

    Attributes
    ----------
    shape : (H, W)
        Of the image.
    share : (R, C) float32
        Light against that of the background, in the middle of blocks that divide the image evenly.
    unlit : (r, c) bool
        Which of other, smaller blocks are too dark to be looked at.
    """

    shape: tuple[int, int]
    share: Floats
    unlit: NDArray[np.bool_]

    def see(self, box: Box) -> tuple[Floats, NDArray[np.bool_]]:
        """Share of the light, and whether it is too dark, at each pixel (h, w) of a box: by the pixel alone."""
        share: Floats = self.share
        for axis, (start, stop) in enumerate(((box.top, box.bottom), (box.left, box.right))):
            share = _interpolate(share, axis, start, stop, self.shape[axis])
        rows, columns = (
            np.arange(start, stop) * count // size
            for start, stop, count, size in zip(box[:2], box[2:], self.unlit.shape, self.shape, strict=True)
        )
        return share, self.unlit[np.ix_(rows, columns)]

    def to_record(self) -> dict[str, Any]:
        """Give all values as JSON takes them; rows of what is unlit as hexadecimal bits."""
        return {
            "shape": list(self.shape),
            "share": [[round(value, DECIMALS) for value in row] for row in self.share.tolist()],
            "unlit": [np.packbits(row).tobytes().hex() for row in self.unlit],
            "columns": self.unlit.shape[1],
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Read them back."""
        rows = [np.frombuffer(bytes.fromhex(row), np.uint8) for row in record["unlit"]]
        unlit = np.array([np.unpackbits(row, count=record["columns"]) for row in rows], np.bool_)
        return cls((record["shape"][0], record["shape"][1]), np.array(record["share"], np.float32), unlit)

    def __eq__(self, other: object) -> bool:
        """Compare all values."""
        return isinstance(other, Light) and self.to_record() == other.to_record()

    def __hash__(self) -> int:
        """Hash of the values."""
        return hash((self.shape, self.share.tobytes(), self.unlit.tobytes()))


def _interpolate(values: Floats, axis: int, start: int, stop: int, size: int) -> Floats:
    """Interpolate linearly between the middles of blocks along an axis, at pixels from one to another of so many."""
    count = values.shape[axis]
    place = np.clip((np.arange(start, stop) + 0.5) * (count / size) - 0.5, 0, count - 1)
    first = np.minimum(place.astype(np.int64), max(count - 2, 0))
    share = (place - first).astype(np.float32).reshape((-1, 1) if axis == 0 else (1, -1))
    second = np.minimum(first + 1, count - 1)
    return np.asarray(np.take(values, first, axis) * (1 - share) + np.take(values, second, axis) * share)


DECIMALS = 4
"""Of the light in a record: what is found is rounded to these."""


@dataclass(frozen=True)
class Exposure:
    """Background and polarity of an image.

    Attributes
    ----------
    background : float
        Luminance of the background, in the numbers of the image, after turning: it is set to 1.
    turned : float, optional
        For a dark background: luminance becomes this less what it was.
    light : Light, optional
        How unevenly the image is lit; None where it is even.
    """

    background: float
    turned: float | None = None
    light: Light | None = None


@dataclass(frozen=True)
class ImageStatistics:
    """What a segmentation takes from an image as a whole; see :func:`declump.find_statistics`.

    Attributes
    ----------
    background : float
        See :class:`declump.records.statistics.Exposure`.
    turned : float, optional
        See :class:`declump.records.statistics.Exposure`.
    diameter : float
        Usual diameter of a nucleus in pixels: the resolution at which networks look.
    scale : float, optional
        Size of the cells relative to the examples of the shape prior. This and the areas follow from the clumps and
        nuclei of the image; None until those are found.
    nucleus_area : float, optional
        Mean area of a nucleus in square pixels.
    cell_area : float, optional
        Usual area of a cell in square pixels: larger parts of a clump that no cell explains ask for one.
    pixel_size : float, optional
        Micrometres a pixel, for measurements.
    light : Light, optional
        See :class:`declump.records.statistics.Exposure`.
    """

    background: float
    turned: float | None
    diameter: float
    scale: float | None = None
    nucleus_area: float | None = None
    cell_area: float | None = None
    pixel_size: float | None = None
    light: Light | None = None

    def __post_init__(self) -> None:
        """Validate the values."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "light" or (value is None and field.name not in ("background", "diameter")):
                continue
            number = isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))
            if not number or (value <= 0 and field.name != "turned"):
                raise ValueError(f"{field.name} of an image's statistics is a number > 0; given was {value!r}")

    @property
    def exposure(self) -> Exposure:
        """Background, polarity and light."""
        return Exposure(self.background, self.turned, self.light)

    @property
    def is_complete(self) -> bool:
        """Whether the size of cells and nuclei is known."""
        return None not in (self.scale, self.nucleus_area, self.cell_area)

    def to_record(self) -> dict[str, Any]:
        """Give all values by their names, as JSON takes them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "light": None if self.light is None else self.light.to_record()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Read them back; a name that is missing or unknown is refused."""
        names = [field.name for field in fields(cls)]
        if set(record) != set(names):
            raise ValueError(f"statistics of an image have {', '.join(names)}; given were {', '.join(sorted(record))}")
        light = record["light"]
        return cls(**{**record, "light": None if light is None else Light.from_record(light)})
