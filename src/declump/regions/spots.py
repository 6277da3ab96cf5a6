"""Spots: all that may be a nucleus, from the sure to the faint, for a judge to choose from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump._kernels import grow_diamond
from declump.regions.nuclei import CANDIDATE_RULES, RULES, NucleusReader, NucleusRules

WEAK_RULES = NucleusRules(
    min_probability=0.15,
    min_peak=0.08,
    min_dip=0.08,
    min_area=0.08,
    min_share=0.0,
    min_solidity=0.6,
    min_contrast=-np.inf,
)
"""For what hardly looks like a nucleus: a judge that sees more of it may know better."""
MAX_SHARED = 0.3
"""A spot of looser rules is a new one if it shares no more than this of its pixels with spots of stricter ones."""
RING = 5
"""Width in pixels of the ring round a spot that its light is compared with."""


def find_spots(
    probability: NDArray[np.float32],
    centre_map: NDArray[np.float32],
    luminance: NDArray[np.float32],
    diameter: float,
    *,
    min_area: float | None = None,
    cut: bool = False,
    usual_area: float | None = None,
) -> NDArray[np.int32]:
    """Find all that may be a nucleus, by stricter rules first.

    Parameters
    ----------
    probability, centre_map, luminance, diameter, min_area, cut, usual_area
        See :func:`declump.regions.nuclei.separate_nuclei`; the probability need not be 0 outside clumps.

    Returns
    -------
    (H, W) int32
        Numbers from 1, 0 where there is no spot. Spots do not overlap; those of the strictest rules come first.
    """
    spots, reader = np.zeros(probability.shape, np.int32), NucleusReader(probability, centre_map, luminance, diameter)
    for rules in (RULES, CANDIDATE_RULES, WEAK_RULES):
        found = reader.separate(rules, min_area=min_area, cut=cut, usual_area=usual_area)
        places = np.flatnonzero(found)  # few of a large image
        own, earlier = found.ravel()[places], spots.ravel()[places]
        areas = np.bincount(own, minlength=1)
        new = np.bincount(own[earlier > 0], minlength=areas.size) <= MAX_SHARED * areas
        new[0] = False
        numbers = np.where(new, np.cumsum(new) + spots.max(), 0).astype(np.int32)
        spots.ravel()[places] = np.where(earlier > 0, earlier, numbers[own])
    return spots


def measure_light(labels: NDArray[np.int32], taken: NDArray[np.bool_], luminance: NDArray[np.float32]) -> list[float]:
    """Measure the mean luminance of every spot over the median of the ring round it.

    Parameters
    ----------
    labels : (H, W) int32
        Spots, numbered from 1.
    taken : (H, W) bool
        Where spots and nuclei are: left out of the rings.
    luminance : (H, W)
        Relative to the background.
    """
    light = []
    for number, box in enumerate(ndimage.find_objects(labels), start=1):
        window = tuple(slice(max(side.start - RING, 0), side.stop + RING) for side in box)
        own = labels[window] == number
        ring = grow_diamond(own, RING) & ~taken[window]
        grey = luminance[window]
        around = float(np.median(grey[ring])) if ring.any() else 1.0
        light.append(float(grey[own].mean()) / max(around, 1e-6))
    return light
