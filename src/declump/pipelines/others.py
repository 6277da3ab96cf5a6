"""What is left when the cells are found: spots that are no nuclei, told apart by size and darkness."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.records.others import LEUKOCYTE, OTHER, Others
from declump.records.regions import Regions, seeds_from_labels

DARK = 0.55
"""Mean luminance, relative to the background, up to which a spot is as dark as a leukocyte."""


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
    numbers = np.arange(1, len(regions.candidate_probability) + 1)
    areas = np.bincount(regions.candidates.ravel(), minlength=numbers.size + 1)[1:].astype(np.float64)
    light = np.asarray(ndimage.mean(luminance, regions.candidates, numbers)) if numbers.size else np.empty(0)
    said = ("",) * numbers.size if regions.settled is None else regions.settled.kinds
    return Others(
        seeds_from_labels(regions.candidates),
        areas,
        regions.candidate_probability,
        tuple(kind or (LEUKOCYTE if value <= DARK else OTHER) for kind, value in zip(said, light, strict=True)),
    )
