"""Spots: all that may be a nucleus, from the sure to the faint, for a judge to choose from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump._kernels import grow_diamond
from declump.regions.levels import find_level_spots
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
MAX_LIGHT = 0.7
"""Most light, relative to that through the ring round it, that a leukocyte lets through."""
RING = 5
"""Width in pixels of the ring round a spot that its light is compared with."""


def find_spots(
    probability: NDArray[np.float32],
    centre_map: NDArray[np.float32],
    luminance: NDArray[np.float32],
    diameter: float,
    *,
    clump: NDArray[np.bool_],
    cut: bool = False,
) -> NDArray[np.int32]:
    """Find all that may be a nucleus: by stricter rules first, then what is round and stands out at some level.

    Parameters
    ----------
    probability, centre_map, luminance, diameter, cut
        See :class:`declump.regions.nuclei.NucleusReader`; the probability need not be 0 outside clumps.
    clump : (H, W) bool
        Where round dark spots that the network hardly sees, or sees in fragments, are offered as well.

    Returns
    -------
    (H, W) int32
        Numbers from 1, 0 where there is no spot. Spots do not overlap; those of the strictest rules come first.
    """
    spots, sure = _find_by_rules(NucleusReader(probability, centre_map, luminance, diameter), cut=cut)
    whole = np.bincount(spots[spots > 0], minlength=1) >= WHOLE * np.pi * diameter**2 / 4
    whole[0], whole[sure + 1 :] = False, False
    density = np.clip(luminance, 0.05, 1.5)
    np.negative(np.log(density, out=density), out=density)
    for plane, levels in ((probability, PROBABILITIES), (density, DENSITIES)):
        free = clump & ~grow_diamond(whole[spots], 1)
        found = find_level_spots(plane, levels, diameter, free)
        if not cut:
            _drop_cut(found)
        spots, whole = _take_round(spots, whole, found)
    return spots


def _find_by_rules(reader: NucleusReader, *, cut: bool) -> tuple[NDArray[np.int32], int]:
    """Number the spots (H, W) that one set of rules after another finds, and count those of the first."""
    spots, sure = np.zeros(reader.probability.shape, np.int32), 0
    for rules in (RULES, CANDIDATE_RULES, WEAK_RULES):
        # Which nuclei are usual is told by all of the image; a part of it shows these spots as the whole does.
        found = reader.separate(replace(rules, min_share=0.0), cut=cut)
        places = np.flatnonzero(found)  # few of a large image
        own, earlier = found.ravel()[places], spots.ravel()[places]
        areas = np.bincount(own, minlength=1)
        new = np.bincount(own[earlier > 0], minlength=areas.size) <= MAX_SHARED * areas
        new[0] = False
        numbers = np.where(new, np.cumsum(new) + spots.max(), 0).astype(np.int32)
        spots.ravel()[places] = np.where(earlier > 0, earlier, numbers[own])
        sure = sure or int(spots.max(initial=0))
    return spots, sure


def _drop_cut(found: NDArray[np.int32]) -> None:
    """Drop spots that the border may cut, in place."""
    rim = np.concatenate([found[:RIM].ravel(), found[-RIM:].ravel(), found[:, :RIM].ravel(), found[:, -RIM:].ravel()])
    if rim.any():
        kept = np.arange(found.max() + 1, dtype=np.int32)
        kept[rim] = 0
        found[:] = kept[found]


def _take_round(
    spots: NDArray[np.int32], whole: NDArray[np.bool_], found: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Add round spots that share little with others, or hold them as fragments; those that are whole stay.

    Parameters
    ----------
    spots : (H, W) int32
    whole : (S + 1,) bool
        Which of them are no fragments, by number; the first entry stands for none.
    found : (H, W) int32
        Round spots.

    Returns
    -------
    spots : (H, W) int32
        Numbered anew, in the old order, the new ones last.
    whole : (S + 1,) bool
    """
    spots, boxes = spots.copy(), ndimage.find_objects(spots)
    areas = np.bincount(spots[spots > 0], minlength=whole.size)
    taken = 0
    for number, box in enumerate(ndimage.find_objects(found), start=1):
        if box is None:
            continue
        own = found[box] == number
        size, shared = np.count_nonzero(own), np.bincount(spots[box][own])
        met = np.flatnonzero(shared[1:]) + 1
        # Spots that were added just now do not meet one another.
        met = met[met < whole.size]
        fragment = (shared[met] >= WITHIN * areas[met]) & (LARGER * areas[met] <= size)
        if whole[met].any() or shared[met[~fragment]].sum() > MAX_SHARED * size:
            continue
        for piece in met[fragment]:
            place = boxes[piece - 1]
            spots[place][spots[place] == piece] = 0
        taken += 1
        spots[box][own & (spots[box] == 0)] = whole.size - 1 + taken
    there = np.bincount(spots[spots > 0], minlength=whole.size + taken) > 0
    there[0] = False
    numbers = np.where(there, np.cumsum(there), 0).astype(np.int32)
    return numbers[spots], np.append(False, np.append(whole, np.ones(taken, np.bool_))[there])


def guess_leukocytes(
    labels: NDArray[np.int32], taken: NDArray[np.bool_], luminance: NDArray[np.float32]
) -> list[float]:
    """Probability, 0 or 1, that each spot is a leukocyte, by the light it lets through.

    That is its mean luminance over the median of the ring round it.

    Parameters
    ----------
    labels : (H, W) int32
        Spots, numbered from 1.
    taken : (H, W) bool
        Where spots and nuclei are: left out of the rings.
    luminance : (H, W)
        Relative to the background.
    """
    found = []
    for number, box in enumerate(ndimage.find_objects(labels), start=1):
        window = tuple(slice(max(side.start - RING, 0), side.stop + RING) for side in box)
        own = labels[window] == number
        ring = grow_diamond(own, RING) & ~taken[window]
        grey = luminance[window]
        around = float(np.median(grey[ring])) if ring.any() else 1.0
        found.append(float(float(grey[own].mean()) <= MAX_LIGHT * max(around, 1e-6)))
    return found
