"""What is taken from an image as a whole, so that a part of it can be segmented as the whole would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import numpy as np


@dataclass(frozen=True)
class Exposure:
    """Background and polarity of an image.

    Attributes
    ----------
    background : float
        Luminance of the background, in the numbers of the image, after turning: it is set to 1.
    turned : float, optional
        For a dark background: luminance becomes this less what it was.
    """

    background: float
    turned: float | None = None


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
    scale : float
        Size of the cells relative to the examples of the shape prior.
    nucleus_area : float
        Area of the typical nucleus in square pixels, above which half of all nuclear area lies: much smaller things are
        no nuclei.
    mean_nucleus_area : float
        Mean area of a nucleus in square pixels.
    cell_area : float
        Median area of a cell in square pixels: larger parts of a clump that no cell explains ask for one.
    pixel_size : float, optional
        Micrometres a pixel, for measurements.
    """

    background: float
    turned: float | None
    diameter: float
    scale: float
    nucleus_area: float
    mean_nucleus_area: float
    cell_area: float
    pixel_size: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.name in ("turned", "pixel_size"):
                continue
            number = isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))
            if not number or (value <= 0 and field.name != "turned"):
                raise ValueError(f"{field.name} of an image's statistics is a number > 0; given was {value!r}")

    @property
    def exposure(self) -> Exposure:
        """Background and polarity."""
        return Exposure(self.background, self.turned)

    def to_record(self) -> dict[str, float | None]:
        """Give all values by their names, as JSON takes them."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Read them back; a name that is missing or unknown is refused."""
        names = [field.name for field in fields(cls)]
        if set(record) != set(names):
            raise ValueError(f"statistics of an image have {', '.join(names)}; given were {', '.join(sorted(record))}")
        return cls(**record)
