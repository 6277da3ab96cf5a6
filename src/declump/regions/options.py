"""How regions are to be found: which model, at which resolution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from declump.records.regions import Regions

NUCLEUS_MICROMETRES = 7.0
"""Usual diameter of the nucleus of a squamous cell."""
MIN_NUCLEUS = 0.3
"""Least probability, by the judge, with which a spot is the nucleus of a cell without further evidence."""
DIAMETERS = (2.0, 1000.0)
"""Smallest and largest diameter of a nucleus in pixels that make sense."""


@dataclass(frozen=True)
class RegionOptions:
    """How regions are found; the arguments of :func:`declump.find_regions` in one record.

    Attributes
    ----------
    model, diameter, pixel_size, cut_nuclei, judge, min_nucleus
        See :func:`declump.find_regions`.
    expected_diameter : float, optional
        Diameter of a nucleus in pixels by the image's metadata: a first guess of the scale, which the image may
        contradict. Goes before what ``pixel_size`` tells of it.
    """

    model: str | Path = "default"
    diameter: float | None = None
    pixel_size: float | None = None
    cut_nuclei: bool = False
    judge: str | Path = "default"
    min_nucleus: float = MIN_NUCLEUS
    expected_diameter: float | None = None

    def __post_init__(self) -> None:
        """Refuse sizes that cannot be."""
        if self.pixel_size is not None and not 1e-6 < self.pixel_size < 1e6:
            raise ValueError(
                "the pixel size is a number of micrometres > 0, between a millionth and a million; given was "
                f"{self.pixel_size}"
            )
        least, largest = DIAMETERS
        for size in (self.diameter, self.in_pixels().expected_diameter):
            if size is not None and not least <= size <= largest:
                raise ValueError(
                    f"the diameter of a nucleus is a number of pixels from {least:g} to {largest:g}; given was {size}"
                )
        if not 0 <= self.min_nucleus <= 1:
            raise ValueError(f"the least probability of a nucleus is from 0 to 1; given was {self.min_nucleus}")

    def in_pixels(self) -> RegionOptions:
        """Give the same options with the size of a pixel gone into the expected diameter."""
        if self.pixel_size is None:
            return self
        expected = usual_diameter(self.pixel_size) if self.expected_diameter is None else self.expected_diameter
        return replace(self, expected_diameter=expected, pixel_size=None)


def usual_diameter(pixel_size: float) -> float:
    """Diameter in pixels of the nucleus of a squamous cell, where a pixel is so many micrometres wide."""
    return NUCLEUS_MICROMETRES / pixel_size


def to_region_options(
    regions: Regions | RegionOptions | str | Path,
    *,
    diameter: float | None = None,
    pixel_size: float | None = None,
    judge: str | Path | None = None,
    min_nucleus: float | None = None,
) -> RegionOptions:
    """Give the options that arguments of :func:`declump.segment` stand for.

    Parameters
    ----------
    regions : Regions, RegionOptions, str or Path
        Options themselves, or the model. Known regions need none, but the resolution matters beyond them.
    diameter, pixel_size, judge, min_nucleus : optional
        See :class:`RegionOptions`.

    Raises
    ------
    ValueError
        If one of these is given beside options, which have their own.
    """
    if not isinstance(regions, RegionOptions):
        model = "default" if isinstance(regions, Regions) else regions
        return RegionOptions(
            model,
            diameter,
            pixel_size,
            judge="default" if judge is None else judge,
            min_nucleus=MIN_NUCLEUS if min_nucleus is None else min_nucleus,
        )
    if any(value is not None for value in (diameter, pixel_size, judge, min_nucleus)):
        raise ValueError("diameter, pixel size, judge and min_nucleus are part of the RegionOptions; give them there")
    return regions
