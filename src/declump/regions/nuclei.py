"""From the network's maps to single nuclei, and what is no nucleus of a cell left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from declump._kernels import convex_area, fill_holes, grow_diamond, outstanding_peaks
from declump.seeds.distance import basins, deepest_places, depths

SMOOTHING = 0.08
"""Width of the smoothing of the nearness, in diameters, so that grain in a nucleus makes no second peak."""
FAINT = 0.15
"""Pixels with a smaller probability of nucleus belong to none."""
OUTLINE = 0.5
"""The outline of a nucleus lies at this share of its own highest probability: a doubtful one is not drawn too small."""

ROUND = 0.9
"""A piece that fills this share of its convex hull is one nucleus: 99 in 100 true nuclei fill more than 0.91."""
LARGE = 1.5
"""A piece with less than this many areas of a usual nucleus is one nucleus, if it is round."""
SMALLEST_PART = 0.25
"""Smallest share of a piece that is cut off: less is a bulge."""

NECK, GRAIN = 0.97, 3.0
"""Necks that part two nuclei: see :mod:`declump.seeds.distance`. Shallower than for other things, because a piece is
looked at only if it is too large or too hollow for one nucleus."""

LONGEST_TOUCH = 0.4
"""A nucleus with more of the image border along it than this, in diameters, is cut by it."""


@dataclass(frozen=True)
class NucleusRules:
    """What a dark spot must be to count as the nucleus of a cell.

    The defaults were chosen by ``benchmarks/nuclei.py`` on images that the networks it reads did not see.

    Attributes
    ----------
    min_probability : float
        Smallest probability of nucleus that its surest tenth has.
    min_peak : float
        Smallest nearness at its centre, from 0 to 1.
    min_dip : float
        Two centres are told apart when the nearness falls this much between them.
    min_area : float
        Smallest area, in areas of a disc with the expected diameter.
    min_share : float
        Smallest area, in areas of the image's typical nucleus: leukocytes and debris are smaller than the nuclei of
        cells, whatever the magnification.
    min_solidity : float
        Smallest share of its convex hull that it fills.
    min_contrast : float
        How much darker than the ring round it, as a share of the background's luminance.
    """

    min_probability: float = 0.35
    min_peak: float = 0.3
    min_dip: float = 0.2
    min_area: float = 0.3
    min_share: float = 0.25
    min_solidity: float = 0.85
    min_contrast: float = 0.04


RULES = NucleusRules()
CANDIDATE_RULES = NucleusRules(
    min_probability=0.2, min_peak=0.2, min_area=0.15, min_share=0.15, min_solidity=0.75, min_contrast=0.0
)
"""For what may be a nucleus if something else speaks for it, too."""


class NucleusReader:
    """Maps of one image, to be read by one set of rules after another; what these share is worked out once.

    Parameters
    ----------
    probability : (H, W)
        Probability of nucleus.
    centre_map : (H, W)
        Nearness to the centre of a nucleus, from 0 to 1.
    luminance : (H, W)
        Relative to the background.
    diameter : float
        Expected diameter of a nucleus in pixels.
    """

    def __init__(
        self,
        probability: NDArray[np.float32],
        centre_map: NDArray[np.float32],
        luminance: NDArray[np.float32],
        diameter: float,
    ) -> None:
        from scipy import ndimage
        from skimage.measure import label, regionprops

        self.probability, self.luminance, self.diameter = probability, luminance, diameter
        self.centre_map = ndimage.gaussian_filter(centre_map, SMOOTHING * diameter)
        self._blots = regionprops(label(probability >= FAINT, connectivity=2))
        self._parts: dict[tuple[int, bytes], list[_Part]] = {}
        self._cuts: dict[tuple[int, bytes], _Cut] = {}
        self._solidities: dict[tuple[int, bytes], float] = {}
        self._contrasts: dict[tuple[Any, bytes, bytes], float] = {}

    def separate(
        self,
        rules: NucleusRules,
        *,
        cut: bool = False,
    ) -> NDArray[np.int32]:
        """Number nuclei (H, W), from 1.

        Centres are the peaks of the nearness; each takes the nucleus pixels that run up to it, so that touching and
        overlapping nuclei are one each. Pieces that are doubtful, too small, ragged, or hardly darker than what
        surrounds them (debris, folds) are dropped; those that the image border cuts, too, unless ``cut``.
        """
        from skimage.measure import regionprops

        smallest = rules.min_area * np.pi * self.diameter**2 / 4
        pieces = self._number_pieces(rules)
        nuclei = [
            piece
            for piece in regionprops(pieces)
            if piece.area >= max(smallest, 1)
            and self._solidity(piece.image) >= rules.min_solidity
            and (np.isneginf(rules.min_contrast) or self._contrast(pieces, piece) >= rules.min_contrast)
        ]
        usual = typical_area(np.array([piece.area for piece in nuclei], np.int64))
        kept = np.zeros(pieces.shape, np.int32)
        count = 0
        for piece in nuclei:
            if piece.area >= rules.min_share * usual and (cut or not is_cut(piece, pieces.shape)):
                count += 1
                kept[piece.slice][piece.image] = count
        return kept

    def _number_pieces(self, rules: NucleusRules) -> NDArray[np.int32]:
        """Number the parts of all blots of nucleus: one a peak of the nearness that stands out, with its outline."""
        pieces = np.zeros(self.probability.shape, np.int32)
        count = 0
        for index, blot in enumerate(self._blots):
            for part in self._divide(index, rules):
                if part.surest < rules.min_probability:
                    continue
                for single in self._single(part.piece, rules):
                    count += 1
                    pieces[blot.slice][part.place][part.box][single] = count
        return pieces

    def _divide(self, index: int, rules: NucleusRules) -> list[_Part]:
        """Parts of one connected blot: what runs up to each peak."""
        blot = self._blots[index]
        nearness = np.where(blot.image, self.centre_map[blot.slice], 0).astype(np.float32)
        if nearness.max() < rules.min_peak:
            return []
        peaks = find_peaks(nearness, rules)
        key = index, peaks.tobytes()
        if key not in self._parts:
            parts = _flood(nearness, peaks, blot.image)
            self._parts[key] = _outline_parts(parts, np.where(blot.image, self.probability[blot.slice], 0))
        return self._parts[key]

    def _single(self, piece: NDArray[np.bool_], rules: NucleusRules) -> list[NDArray[np.bool_]]:
        """Give a piece as it is; or, if it is too ragged for one nucleus or large enough for two, as its shape tells.

        Parts that are too small for nuclei are bulges, and stay with the part they are on, unless that then is too
        ragged to be a nucleus: then what is round of it is cut free.
        """
        if self._solidity(piece) >= ROUND and piece.sum() < LARGE * np.pi * self.diameter**2 / 4:
            return [piece]
        key = piece.shape[1], piece.tobytes()
        if key not in self._cuts:
            self._cuts[key] = _cut_at_necks(piece)
        whole, every = self._cuts[key]
        if min(map(self._solidity, whole)) >= rules.min_solidity:
            return whole
        least = SMALLEST_PART * piece.sum()
        return [part for part in every if part.sum() >= least and self._solidity(part) >= ROUND]

    def _solidity(self, piece: NDArray[np.bool_]) -> float:
        """Share of its convex hull that a piece fills."""
        key = piece.shape[1], piece.tobytes()
        if key not in self._solidities:
            self._solidities[key] = int(np.count_nonzero(piece)) / convex_area(np.ascontiguousarray(piece))
        return self._solidities[key]

    def _contrast(self, pieces: NDArray[np.int32], piece: Any) -> float:
        """How much darker a piece is than the ring round it, other pieces left out."""
        width = max(round(self.diameter / 4), 2)
        top, left, bottom, right = piece.bbox
        window = (slice(max(top - width, 0), bottom + width), slice(max(left - width, 0), right + width))
        own, free = pieces[window] == piece.label, pieces[window] == 0
        key = piece.bbox, own.tobytes(), free.tobytes()
        if key not in self._contrasts:
            ring = grow_diamond(own, width) & free
            grey = self.luminance[window]
            self._contrasts[key] = float(np.median(grey[ring]) - grey[own].mean()) if ring.any() else 0.0
        return self._contrasts[key]


class _Part(NamedTuple):
    """What runs up to one peak of a blot: where it lies in the blot, and its outline, in a box within that."""

    place: tuple[slice, ...]
    surest: float
    box: tuple[slice, ...]
    piece: NDArray[np.bool_]


class _Cut(NamedTuple):
    """What the shape of a piece tells: its parts between necks without bulges, and all of them."""

    whole: list[NDArray[np.bool_]]
    every: list[NDArray[np.bool_]]


def _cut_at_necks(piece: NDArray[np.bool_]) -> _Cut:
    """Cut a piece (h, w) at its necks alone: notches need outlines clean to a pixel, which a network's are not."""
    depth = depths(np.pad(piece, 1))
    seeds = deepest_places(depth, neck=NECK, grain=GRAIN)
    parts = every = basins(seeds, depth)[1:-1, 1:-1]
    least = SMALLEST_PART * piece.sum()
    while (areas := np.bincount(parts.ravel())[1:]).min() < least:
        seeds = np.delete(seeds, areas.argmin(), axis=0)
        parts = basins(seeds, depth)[1:-1, 1:-1]
    return _Cut(_parts_of(parts), _parts_of(every))


def _flood(nearness: NDArray[np.float32], peaks: NDArray[np.bool_], blot: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Number the pixels (h, w) of a blot that run up to each of its peaks, sides being neighbours."""
    from scipy import ndimage
    from skimage.segmentation import watershed

    markers, count = ndimage.label(peaks, np.ones((3, 3)))
    if count > 1:
        return np.asarray(watershed(-nearness, markers, mask=blot), dtype=np.int32)
    pieces, count = ndimage.label(blot)
    if count == 1:
        return np.asarray(pieces, dtype=np.int32)
    return np.isin(pieces, pieces[peaks]).astype(np.int32)


def _outline_parts(parts: NDArray[np.int32], likely: NDArray[np.float32]) -> list[_Part]:
    """Draw the outline of each part (h, w) of a blot at a share of its own highest probability."""
    from scipy import ndimage

    found = []
    for part, place in enumerate(ndimage.find_objects(parts), start=1):
        own, likely_here = parts[place] == part, likely[place]
        surest = float(np.percentile(likely_here[own], 90))
        core, _ = ndimage.label(own & (likely_here >= OUTLINE * surest))
        largest = core == np.bincount(core.ravel())[1:].argmax() + 1
        # A blot may be a pile across the image: only the box of the piece is looked at.
        (box,) = ndimage.find_objects(largest.astype(np.uint8))
        found.append(_Part(place, surest, box, fill_holes(largest[box])))
    return found


def typical_area(areas: NDArray[np.int64]) -> float:
    """The area above which half of all nuclear area lies: many small spots do not move it as they do the median."""
    ranked = np.sort(areas)
    total = np.cumsum(ranked)
    return float(ranked[np.searchsorted(total, total[-1] / 2)]) if areas.size else 0.0


def _parts_of(labels: NDArray[np.int32]) -> list[NDArray[np.bool_]]:
    """Masks of parts that are numbered from 1."""
    return [labels == name for name in range(1, int(labels.max()) + 1)]


def find_peaks(centre_map: NDArray[np.float32], rules: NucleusRules) -> NDArray[np.bool_]:
    """Where (H, W) the nearness has peaks that are high enough and stand out from what lies between them."""
    steps = np.zeros((centre_map.shape[0] + 2, centre_map.shape[1] + 2), np.uint8)
    np.rint(centre_map * 255, out=steps[1:-1, 1:-1], casting="unsafe")
    peaks = outstanding_peaks(steps, round(rules.min_dip * 255))[1:-1, 1:-1]
    return np.asarray(peaks & (centre_map >= rules.min_peak))


def is_cut(piece: Any, shape: tuple[int, ...]) -> bool:
    """Whether the image border cuts a piece, not only touches it."""
    top, left, bottom, right = piece.bbox
    mask = piece.image
    sides = (
        (top == 0, mask[0]),
        (left == 0, mask[:, 0]),
        (bottom == shape[0], mask[-1]),
        (right == shape[1], mask[:, -1]),
    )
    touching = sum(int(side.sum()) for there, side in sides if there)
    return bool(touching > LONGEST_TOUCH * piece.equivalent_diameter_area)
