"""What is left when the cells are found: spots that are no nuclei, told apart by their contrast."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.records.others import LEUKOCYTE, OTHER, Others
from declump.records.regions import Regions, seeds_from_labels
from declump.regions.spots import measure_light

MAX_LIGHT = 0.7
"""Most light, relative to that through the ring round it, that a leukocyte lets through."""


def collect_others(regions: Regions, luminance: NDArray[np.float32]) -> Others | None:
    """Collect the candidates that became no nuclei.

    Parameters
    ----------
    regions : Regions
        With the candidates that are left; None is given where no judge looked at them.
    luminance : (H, W)
        Relative to the background.
    """
    if regions.candidate_probability is None or regions.candidates is None:
        return None
    areas = np.bincount(regions.candidates[regions.candidates > 0], minlength=len(regions.candidate_probability) + 1)[
        1:
    ]
    light = measure_light(regions.candidates, (regions.candidates > 0) | (regions.nuclei > 0), luminance)
    said = ("",) * len(light) if regions.frozen is None else regions.frozen.kinds
    return Others(
        seeds_from_labels(regions.candidates),
        areas.astype(np.float64),
        regions.candidate_probability,
        tuple(kind or tell_kind(value) for kind, value in zip(said, light, strict=True)),
    )


def tell_kind(light: float) -> str:
    """Tell what a spot that is no nucleus is by the light it lets through, relative to the ring round it."""
    return LEUKOCYTE if light <= MAX_LIGHT else OTHER
