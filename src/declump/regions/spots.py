"""Spots: all that may be a nucleus, from the sure to the faint, for a judge to choose from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.regions.levels import find_level_spots
from declump.regions.nuclei import CANDIDATE_RULES, RULES, NucleusRules, separate_nuclei

WEAK_RULES = NucleusRules(
    min_probability=0.15, min_peak=0.08, min_dip=0.08, min_area=0.08, min_share=0.0, min_solidity=0.6, min_contrast=-1.0
)
"""For what hardly looks like a nucleus: a judge that sees more of it may know better."""
MAX_SHARED = 0.3
"""A spot of looser rules is a new one if it shares no more than this of its pixels with spots of stricter ones."""
DENSITIES = tuple(np.linspace(0.15, 1.35, 13).tolist())
"""Optical densities at which dark spots stand out, from faint cytoplasm to the darkest nuclei."""
PROBABILITIES = (0.1, 0.25, 0.45)
"""Probabilities of nucleus at which spots stand out that the rules cut into fragments."""
RIM = 3
"""A spot that comes so near to the image border, in pixels, may be cut by it."""
WITHIN, LARGER = 0.75, 1.4
"""A spot is a fragment of a round one in which it lies by this share, and which is larger by this factor."""
WHOLE = 0.6
"""A spot of the strictest rules is no fragment if it has this many areas of a usual nucleus."""


def find_spots(
    probability: NDArray[np.float32],
    centre_map: NDArray[np.float32],
    luminance: NDArray[np.float32],
    diameter: float,
    *,
    clump: NDArray[np.bool_] | None = None,
    min_area: float | None = None,
    cut: bool = False,
) -> NDArray[np.int32]:
    """Find all that may be a nucleus, by stricter rules first.

    Parameters
    ----------
    probability, centre_map, luminance, diameter, min_area, cut
        See :func:`declump.regions.nuclei.separate_nuclei`; the probability need not be 0 outside clumps.
    clump : (H, W) bool, optional
        Where round dark spots that the network hardly sees, or sees in fragments, are offered as well.

    Returns
    -------
    (H, W) int32
        Numbers from 1, 0 where there is no spot. Spots do not overlap; those of the strictest rules come first.
    """
    spots, sure = np.zeros(probability.shape, np.int32), 0
    for rules in (RULES, CANDIDATE_RULES, WEAK_RULES):
        found = separate_nuclei(probability, centre_map, luminance, diameter, rules=rules, min_area=min_area, cut=cut)
        areas = np.bincount(found.ravel())
        shared = np.bincount(found[spots > 0], minlength=areas.size)
        new = shared <= MAX_SHARED * areas
        new[0] = False
        numbers = np.where(new, np.cumsum(new) + spots.max(), 0).astype(np.int32)
        spots = np.where(spots > 0, spots, numbers[found])
        sure = sure or int(spots.max())
    return spots if clump is None else _add_round_spots(spots, sure, probability, luminance, diameter, clump, cut)


def _add_round_spots(
    spots: NDArray[np.int32],
    sure: int,
    probability: NDArray[np.float32],
    luminance: NDArray[np.float32],
    diameter: float,
    clump: NDArray[np.bool_],
    cut: bool,
) -> NDArray[np.int32]:
    """Add spots that stand out at some level, instead of their fragments, where none of the first ``sure`` ones is."""
    density = -np.log(np.clip(luminance, 0.05, 1.5))
    whole = np.bincount(spots.ravel()) >= WHOLE * np.pi * diameter**2 / 4
    whole[0], whole[sure + 1 :] = False, False
    for plane, levels in ((probability, PROBABILITIES), (density, DENSITIES)):
        free = clump & ~ndimage.binary_dilation(whole[spots])
        found = find_level_spots(plane, levels, diameter, free)
        if not cut:
            rim = [found[:RIM], found[-RIM:], found[:, :RIM], found[:, -RIM:]]
            found[np.isin(found, np.concatenate([side.ravel() for side in rim]))] = 0
        spots, whole = _take_round(spots, whole, found)
    return spots


def _take_round(
    spots: NDArray[np.int32], whole: NDArray[np.bool_], found: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Add round spots that share little with others, or hold them as fragments; those that are whole stay."""
    areas, sizes = np.bincount(spots.ravel(), minlength=whole.size), np.bincount(found.ravel())
    width = sizes.size
    shared = np.bincount(spots.ravel().astype(np.int64) * width + found.ravel(), minlength=areas.size * width)
    shared = shared.reshape(areas.size, width)
    shared[0], shared[:, 0] = 0, 0
    for number in range(1, width):
        met = np.flatnonzero(shared[:, number])
        fragments = met[(shared[met, number] >= WITHIN * areas[met]) & (LARGER * areas[met] <= sizes[number])]
        rest = met[~np.isin(met, fragments)]
        if whole[met].any() or shared[rest, number].sum() > MAX_SHARED * sizes[number]:
            continue
        own = (found == number) & ((spots == 0) | np.isin(spots, fragments))
        spots = np.where(np.isin(spots, fragments), 0, spots)
        spots[own] = whole.size
        whole = np.append(whole, True)
    numbers = np.zeros(whole.size, np.int32)
    there = np.unique(spots[spots > 0])
    numbers[there] = np.arange(1, there.size + 1)
    return numbers[spots], np.append(False, whole[there])
