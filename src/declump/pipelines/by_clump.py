"""Every clump of an image segmented by itself, in a box of its own, by the statistics of the image.

What becomes of a clump follows from the pixels of its box, the clumps in it and the spots in it, and from nothing else:
it is the same, to the byte, whether the box is cut out of an image in memory or read from a slide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.evidence.candidates import DOUBTFUL
from declump.evidence.proposals import find_reach
from declump.pipelines.cutting import CutClump, Limits, coarsen, make_cut
from declump.pipelines.frozen import FrozenEvolution
from declump.pipelines.others import tell_kind
from declump.pipelines.stages import CellOptions, Stages
from declump.records.boxes import Box
from declump.records.others import Others
from declump.records.regions import Regions
from declump.records.segmentation import ClumpRecord, Segmentation
from declump.records.spots import Spots
from declump.records.statistics import ImageStatistics
from declump.regions.by_window import RegionFinder
from declump.regions.channels import ImageChannels
from declump.regions.cleaning import clean_clump
from declump.regions.options import RegionOptions

OWN, OTHER, SEVERED = 1, 2, 3
"""Of a view: what belongs to its clump, what to another, and what was cut off it (:mod:`declump.pipelines.cutting`)."""
NEAR_CUT = 2
"""Cells whose pixels come so near to what was cut off are told."""


@dataclass(frozen=True, eq=False)
class ClumpView:
    """A clump and what is round it.

    Attributes
    ----------
    box : Box
        The pixels that are looked at.
    clumps : (h, w) uint8
        ``OWN`` where the clump is, ``OTHER`` where others are, ``SEVERED`` where it was cut, else 0.
    spots : Spots
        Those that meet the box.
    owner : (S,) uint8
        ``OWN`` for spots of the clump, ``OTHER`` for nuclei of others, 0 for spots that are of no concern.
    """

    box: Box
    clumps: NDArray[np.uint8]
    spots: Spots
    owner: NDArray[np.uint8]

    def to_regions(self, min_nucleus: float, diameter: float) -> tuple[Regions, Regions]:
        """Give the regions of the clump, and those beside it, in the box."""
        own, other = self.clumps == OWN, self.clumps >= OTHER
        nuclei, candidates, beside = np.zeros((3, *self.box.shape), np.int32)
        probable, doubtful = [], []
        for index in np.flatnonzero(self.owner).tolist():
            seen = self.spots.box(index).meet(self.box)
            inner, pixels = seen.within(self.box), self.spots.masks[index][seen.within(self.spots.box(index))]
            probability = float(self.spots.probability[index])
            if self.owner[index] == OTHER:
                beside[inner][pixels & other[inner]] = index + 1
            elif is_nucleus(probability, pixels & own[inner], pixels, min_nucleus):
                nuclei[inner][pixels & own[inner]] = index + 1
                probable.append(probability)
            else:
                candidates[inner][pixels] = index + 1
                doubtful.append(probability)
        found = Regions(
            own,
            nuclei,
            candidates=candidates,
            nucleus_probability=np.array(probable, np.float64),
            candidate_probability=np.array(doubtful, np.float64),
            diameter=diameter,
        )
        return found, Regions(other, beside, diameter=diameter)

    def find_severed(self, result: Segmentation) -> NDArray[np.bool_]:
        """Tell which cells (N,) of the clump lie at a cut: they may be wrong there."""
        cut = self.clumps == SEVERED
        if not cut.any():
            return np.zeros(len(result), np.bool_)
        near = ndimage.binary_dilation(cut, structure=np.ones((3, 3)), iterations=NEAR_CUT)
        return np.array([bool(near[crop.box][crop.mask].any()) for crop in result.crops], np.bool_)


def is_nucleus(probability: float, within: NDArray[np.bool_], pixels: NDArray[np.bool_], min_nucleus: float) -> bool:
    """Whether a spot is a nucleus by itself: probable enough, and at least half of its pixels within its clump."""
    return probability >= min_nucleus and bool(2 * np.count_nonzero(within) >= np.count_nonzero(pixels))


def find_owner(labels: NDArray[np.integer[Any]], pixels: NDArray[np.bool_]) -> int:
    """Number of the clump that most pixels of a spot lie in, the first of equals; 0 if none does."""
    own = labels[pixels]
    own = own[own > 0]
    if not own.size:
        return 0
    numbers, counts = np.unique(own, return_counts=True)  # to count all numbers up to a million takes longer
    return int(numbers[counts.argmax()])


@dataclass(frozen=True, eq=False)
class ClumpSegmenter:
    """Segments single clumps of one image.

    Attributes
    ----------
    options : RegionOptions
    method : CellOptions
        With evidence that is ``"rays"`` or ``"clump"``.
    statistics : ImageStatistics
    """

    options: RegionOptions
    method: CellOptions
    statistics: ImageStatistics

    def __post_init__(self) -> None:
        """Refuse evidence that is not found clump by clump."""
        if self.method.evidence not in ("rays", "clump"):
            raise ValueError("with statistics of an image the evidence is 'rays' or 'clump': others need all of it")

    def find_box(self, extent: Box, shape: tuple[int, int]) -> Box:
        """Box that is looked at for a clump of an extent in an image (H, W)."""
        return extent.grow(self._reach, shape)

    @cached_property
    def _reach(self) -> int:
        return find_reach(self.method.rays, self.statistics.diameter)

    def may_have_cells(self, view: ClumpView) -> bool:
        """Whether any spot of a clump may be a nucleus."""
        own = view.owner == OWN
        return bool((view.spots.probability[own] >= DOUBTFUL * self.options.min_nucleus).any())

    def segment(self, pixels: NDArray[Any], view: ClumpView) -> Segmentation:
        """Find the cells of a clump from the pixels (h, w[, channels]) of its box, in the coordinates of the box."""
        return self._prepare(pixels, view).run(None)

    def freeze(self, pixels: NDArray[Any], view: ClumpView) -> tuple[Regions, FrozenEvolution]:
        """Find the regions of a clump in its box for a person to correct them, and give what evolves them."""
        stages = self._prepare(pixels, view)
        found = stages.find_frozen()
        assert found.frozen is not None
        held = replace(found.frozen, scale=self.statistics.scale, nucleus_area=self.statistics.nucleus_area)
        return replace(found, frozen=held), stages.frozen_evolution()

    def _prepare(self, pixels: NDArray[Any], view: ClumpView) -> Stages:
        diameter = self.statistics.diameter
        found, beside = view.to_regions(self.options.min_nucleus, diameter)
        picture = ImageChannels(pixels, self.statistics.exposure, view.box)
        options = replace(self.options, diameter=diameter, pixel_size=None)
        return Stages(picture, found, options, self.method, self.statistics, beside)


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of an image that are solved each by itself: its clumps, and the parts of those that were cut.

    Attributes
    ----------
    count : int
        Number of clumps; they are numbered from 1 as they are met along the rows.
    cuts : mapping of int to CutClump
        By the numbers of their clumps. Parts are numbered after all clumps.
    """

    count: int
    cuts: Mapping[int, CutClump]

    def number(self, labels: NDArray[np.integer[Any]], box: Box) -> NDArray[np.int64]:
        """Give the numbers of pieces in a box of the image, from those of clumps (h, w)."""
        pieces = labels.astype(np.int64)
        for clump, cut in self.cuts.items():
            if not cut.extent.meet(box).size:
                continue
            mask = labels == clump
            if mask.any():
                cut.number(mask, box, pieces)
        return pieces

    def find_clump(self, piece: int) -> int:
        """Number of the clump that a piece belongs to."""
        if piece <= self.count:
            return piece
        return next(clump for clump, cut in self.cuts.items() if cut.first <= piece < cut.first + len(cut))


def segment_by_clump(
    image: NDArray[Any],
    options: RegionOptions,
    method: CellOptions,
    statistics: ImageStatistics,
    *,
    limits: Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Segmentation:
    """Find every cell of an image, whole, clump by clump; see :func:`declump.segment`.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
    options : RegionOptions
    method : CellOptions
    statistics : ImageStatistics
    limits : Limits, optional
        Above which clumps are cut.
    progress : callable, optional
        Called with the number of clumps, or parts of them, done and in all.

    Returns
    -------
    Segmentation
        Cells in the order of their clumps, which are met along the rows; those of clumps that were cut come last.
    """
    height, width = ImageChannels(image).shape
    whole, limits = Box(0, 0, height, width), limits or Limits()
    finder = RegionFinder(options.in_pixels(), statistics, whole.shape)
    segmenter = ClumpSegmenter(options.in_pixels(), method, statistics)
    found = finder.find(lambda box: image[box.slices], whole)
    mask = clean_clump(found.clump, finder.max_hole_area, finder.min_clump_area)
    clumps, count = ndimage.label(mask, structure=np.ones((3, 3)))
    extents = {
        number: Box(rows.start, columns.start, rows.stop, columns.stop)
        for number, (rows, columns) in enumerate(ndimage.find_objects(clumps), start=1)
    }
    spots = found.spots
    centres = find_centres(spots)
    places = centres[spots.probability >= options.min_nucleus]
    at = clumps[tuple(places.T)]
    cuts, first = {}, count + 1
    for number in list(extents):
        nuclei = places[at == number]
        if not limits.hold(extents[number], len(nuclei)):
            extent = extents.pop(number)
            cuts[number] = make_cut(coarsen(clumps[extent.slices] == number, extent), extent, nuclei, limits, first)
            extents.update(enumerate(cuts[number].extents(), start=first))
            first += len(cuts[number])
    pieces = Pieces(count, cuts)
    labels = pieces.number(clumps, whole)
    owned = own_spots(spots, labels, whole, options.min_nucleus)
    parts, left = [], set(np.flatnonzero(owned[0] == 0).tolist())
    for done, (number, extent) in enumerate(extents.items(), start=1):
        box = segmenter.find_box(extent, whole.shape)
        view = view_piece((number,), box, clumps[box.slices], pieces, spots, *owned)
        if segmenter.may_have_cells(view):
            clump = pieces.find_clump(number)
            parts.append((clump - 1, box, segmenter.segment(image[box.slices], view)))
        else:
            left.update(np.flatnonzero(owned[0] == number).tolist())
        if progress:
            progress(done, len(extents))
    sizes = np.bincount(clumps.ravel(), minlength=1)[1:]
    return _assemble(whole.shape, parts, sizes, spots.choose(np.array(sorted(left), np.int64)), method.prior.rays)


def find_centres(spots: Spots) -> NDArray[np.int64]:
    """Pixels (S, 2) in the middle of the boxes of spots."""
    return (spots.boxes[:, :2] + spots.boxes[:, 2:]) // 2


def own_spots(
    spots: Spots, labels: NDArray[np.int64], box: Box, min_nucleus: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Tell which piece each spot belongs to, 0 for none, and whether it is a nucleus by itself.

    Parameters
    ----------
    spots : Spots
    labels : (h, w) int64
        Numbers of pieces in a box that holds the spots.
    box : Box
    min_nucleus : float
    """
    owners, nuclei = np.zeros(len(spots), np.int64), np.zeros(len(spots), np.bool_)
    for index, pixels in enumerate(spots.masks):
        inner = labels[spots.box(index).within(box)]
        owners[index] = find_owner(inner, pixels)
        if owners[index]:
            within = pixels & (inner == owners[index])
            nuclei[index] = is_nucleus(float(spots.probability[index]), within, pixels, min_nucleus)
    return owners, nuclei


def view_piece(
    numbers: Sequence[int],
    box: Box,
    clumps: NDArray[np.integer[Any]],
    pieces: Pieces,
    spots: Spots,
    owners: NDArray[np.int64],
    nuclei: NDArray[np.bool_],
) -> ClumpView:
    """Show a piece in its box, or several as one.

    Parameters
    ----------
    numbers : sequence of int
        Of the pieces; numbers that no piece has stand for nothing.
    box : Box
    clumps : (h, w) int
        Numbers of clumps in the box.
    pieces : Pieces
    spots : Spots
        All that meet the box, at least.
    owners, nuclei : (S,)
        See :func:`own_spots`.
    """
    near = spots.meet(box)
    own = np.isin(owners[near], numbers)
    kept = own | nuclei[near]
    near, own = near[kept], own[kept]
    whole = np.isin(clumps, [pieces.find_clump(number) for number in numbers])
    shown = np.where(whole, SEVERED, np.where(clumps > 0, OTHER, 0)).astype(np.uint8)
    shown[np.isin(pieces.number(clumps, box), numbers)] = OWN
    return ClumpView(box, shown, spots.choose(near), np.where(own, OWN, OTHER).astype(np.uint8))


def _assemble(
    shape: tuple[int, int],
    parts: Sequence[tuple[int, Box, Segmentation]],
    sizes: NDArray[np.int64],
    left: Spots,
    rays: int,
) -> Segmentation:
    """Put the cells of single clumps together."""
    records = [ClumpRecord(int(size), (int(size),), "no seed") for size in sizes]
    nuclei, second = np.zeros((2, *shape), np.int32)
    others = [_describe_left(left)]
    told: dict[int, list[ClumpRecord]] = {}
    count = 0
    for number, box, result in parts:
        if len(result):
            told.setdefault(number, []).extend(result.clumps)
        for target, labels in ((nuclei, result.nuclei), (second, result.second_nuclei)):
            if labels is not None:
                target[box.slices][labels > 0] = labels[labels > 0] + count
        if result.others is not None:
            others.append(replace(result.others, places=result.others.places + np.array([box.top, box.left])))
        count += len(result)
    for number, of_parts in told.items():
        left_over = sum(record.energy for record in of_parts)
        # Of a clump that was cut, all parts together.
        records[number] = (
            of_parts[0] if len(of_parts) == 1 else ClumpRecord(records[number].size, (left_over,), "bound")
        )
    results = [result for _, _, result in parts]
    return Segmentation(
        shape,
        np.vstack([np.empty((0, 2)), *(result.seeds + np.array([box.top, box.left]) for _, box, result in parts)]),
        np.vstack([np.empty((0, rays)), *(result.radii for result in results)]),
        np.concatenate([np.empty(0, np.int64), *(np.full(len(result), number) for number, _, result in parts)]),
        tuple(records),
        nuclei,
        second if second.any() else None,
        np.concatenate([np.empty(0), *(result.nucleus_probability for result in results)]),
        _join_others(others),
    )


def _describe_left(spots: Spots) -> Others:
    """Spots that no clump has a use for."""
    places = [
        np.argwhere(mask).mean(axis=0) + corner for mask, corner in zip(spots.masks, spots.boxes[:, :2], strict=True)
    ]
    return Others(
        np.array(places, np.float64).reshape(-1, 2),
        np.array([np.count_nonzero(mask) for mask in spots.masks], np.float64),
        spots.probability,
        tuple(map(tell_kind, spots.light.tolist())),
    )


def _join_others(parts: Sequence[Others]) -> Others:
    """Put others of several clumps together, in the order of their rows."""
    places = np.concatenate([part.places for part in parts])
    order = np.lexsort((places[:, 1], places[:, 0]))
    kinds = [kind for part in parts for kind in part.kinds]
    return Others(
        places[order],
        np.concatenate([part.areas for part in parts])[order],
        np.concatenate([part.probability for part in parts])[order],
        tuple(kinds[index] for index in order.tolist()),
    )
