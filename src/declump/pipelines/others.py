"""What is left when the cells are found: spots that are no nuclei, told apart by their contrast."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.records.others import LEUKOCYTE, OTHER, Others
from declump.records.regions import Regions, seeds_from_labels

MAX_LIGHT = 0.7
"""Most light, relative to that through the ring round it, that a leukocyte lets through."""
RING = 5
"""Width of that ring in pixels."""


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
    areas = np.bincount(regions.candidates.ravel(), minlength=len(regions.candidate_probability) + 1)[1:]
    light = _measure_light(regions, luminance)
    said = ("",) * len(light) if regions.frozen is None else regions.frozen.kinds
    return Others(
        seeds_from_labels(regions.candidates),
        areas.astype(np.float64),
        regions.candidate_probability,
        tuple(kind or (LEUKOCYTE if value <= MAX_LIGHT else OTHER) for kind, value in zip(said, light, strict=True)),
    )


def _measure_light(regions: Regions, luminance: NDArray[np.float32]) -> list[float]:
    """Mean luminance of every candidate over the median of the ring round it, nuclei and candidates left out."""
    labels = regions.candidates
    assert labels is not None
    light = []
    for number, box in enumerate(ndimage.find_objects(labels), start=1):
        window = tuple(slice(max(side.start - RING, 0), side.stop + RING) for side in box)
        own = labels[window] == number
        ring = ndimage.binary_dilation(own, iterations=RING) & (labels[window] == 0) & (regions.nuclei[window] == 0)
        grey = luminance[window]
        around = float(np.median(grey[ring])) if ring.any() else 1.0
        light.append(float(grey[own].mean()) / max(around, 1e-6))
    return light
