"""How regions are to be found: which model, at which resolution, within which limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

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
    model, diameter, pixel_size, min_nucleus_area, min_clump_area, max_hole_area, cut_nuclei, refined
        See :func:`declump.find_regions`.
    judge, min_nucleus
        See :func:`declump.find_regions`.
    expected_diameter : float, optional
        Diameter of a nucleus in pixels by the image's metadata: a first guess of the scale, which the image may
        contradict. Goes before what ``pixel_size`` tells of it.
    """

    model: str | Path = "default"
    diameter: float | None = None
    pixel_size: float | None = None
    min_nucleus_area: float | None = None
    min_clump_area: float | None = None
    max_hole_area: float | None = None
    cut_nuclei: bool = False
    refined: bool = False
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
        if self.refined and str(self.model) == "classical":
            raise ValueError(
                "refinement cleans what a network says, and 'classical' has none; give a model, or leave it"
            )
        for area in (self.min_nucleus_area, self.min_clump_area, self.max_hole_area):
            if area is not None and not (np.isfinite(area) and area >= 0):
                raise ValueError(f"least and largest areas are numbers >= 0; given was {area}")

    def in_pixels(self) -> RegionOptions:
        """Give the same options with the size of a pixel gone into the expected diameter, and into all areas."""
        if self.pixel_size is None:
            return self
        expected = usual_diameter(self.pixel_size) if self.expected_diameter is None else self.expected_diameter
        pixel_area = self.pixel_size**2
        return replace(
            self,
            expected_diameter=expected,
            pixel_size=None,
            min_nucleus_area=_divide(self.min_nucleus_area, pixel_area),
            min_clump_area=_divide(self.min_clump_area, pixel_area),
            max_hole_area=_divide(self.max_hole_area, pixel_area),
        )


def _divide(area: float | None, unit: float) -> float | None:
    return None if area is None else area / unit


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
