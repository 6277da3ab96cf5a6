"""Every clump of an image segmented by itself, in a box of its own, by the statistics of the image.

What becomes of a clump follows from the pixels of its box, the clumps in it and the spots in it, and from nothing else:
it is the same, to the byte, whether the box is cut out of an image in memory or read from a slide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.evidence.candidates import DOUBTFUL
from declump.evidence.proposals import find_reach
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

OWN, OTHER = 1, 2
"""Of a view: what belongs to its clump, and what to another."""


@dataclass(frozen=True, eq=False)
class ClumpView:
    """A clump and what is round it.

    Attributes
    ----------
    box : Box
        The pixels that are looked at.
    clumps : (h, w) uint8
        ``OWN`` where the clump is, ``OTHER`` where others are, else 0.
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
        own, other = self.clumps == OWN, self.clumps == OTHER
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


def is_nucleus(probability: float, within: NDArray[np.bool_], pixels: NDArray[np.bool_], min_nucleus: float) -> bool:
    """Whether a spot is a nucleus by itself: probable enough, and at least half of its pixels within its clump."""
    return probability >= min_nucleus and 2 * np.count_nonzero(within) >= np.count_nonzero(pixels)


def find_owner(labels: NDArray[np.integer[Any]], pixels: NDArray[np.bool_]) -> int:
    """Number of the clump that most pixels of a spot lie in, the first of equals; 0 if none does."""
    counts = np.bincount(labels[pixels].ravel(), minlength=1)
    counts[0] = 0
    return int(counts.argmax())


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
        return extent.grow(find_reach(self.method.rays, self.statistics.diameter), shape)

    def may_have_cells(self, view: ClumpView) -> bool:
        """Whether any spot of a clump may be a nucleus."""
        own = view.owner == OWN
        return bool((view.spots.probability[own] >= DOUBTFUL * self.options.min_nucleus).any())

    def segment(self, pixels: NDArray[Any], view: ClumpView) -> Segmentation:
        """Find the cells of a clump, from the pixels (h, w[, channels]) of its box; coordinates are those of the box."""
        diameter = self.statistics.diameter
        found, beside = view.to_regions(self.options.min_nucleus, diameter)
        picture = ImageChannels(pixels, self.statistics.exposure)
        options = replace(self.options, diameter=diameter, pixel_size=None)
        return Stages(picture, found, options, self.method, self.statistics, beside).run(None)


def segment_by_clump(
    image: NDArray[Any],
    options: RegionOptions,
    method: CellOptions,
    statistics: ImageStatistics,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Segmentation:
    """Find every cell of an image, whole, clump by clump; see :func:`declump.segment`.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
    options : RegionOptions
    method : CellOptions
    statistics : ImageStatistics
    progress : callable, optional
        Called with the number of clumps done and in all.

    Returns
    -------
    Segmentation
        Cells in the order of their clumps, which are met along the rows.
    """
    shape = ImageChannels(image).shape
    shape = (shape[0], shape[1])
    finder = RegionFinder(options.in_pixels(), statistics, shape)
    segmenter = ClumpSegmenter(options.in_pixels(), method, statistics)
    found = finder.find(lambda box: image[box.slices], Box(0, 0, *shape))
    mask = clean_clump(found.clump, finder.max_hole_area, finder.min_clump_area)
    labels, _ = ndimage.label(mask, structure=np.ones((3, 3)))
    spots = found.spots
    owners = np.array([find_owner(labels[spots.box(i).slices], spots.masks[i]) for i in range(len(spots))], np.int64)
    nuclei = np.array([_is_nucleus(spots, i, labels, owners, options.min_nucleus) for i in range(len(spots))], np.bool_)
    parts, left, extents = [], set(np.flatnonzero(owners == 0).tolist()), ndimage.find_objects(labels)
    for number, (rows, columns) in enumerate(extents, start=1):
        box = segmenter.find_box(Box(rows.start, columns.start, rows.stop, columns.stop), shape)
        view = view_clump(number, box, labels[box.slices], spots, owners, nuclei)
        if segmenter.may_have_cells(view):
            parts.append((number - 1, box, segmenter.segment(image[box.slices], view)))
        else:
            left.update(np.flatnonzero(owners == number).tolist())
        if progress:
            progress(number, len(extents))
    sizes = np.bincount(labels.ravel(), minlength=1)[1:]
    return _assemble(shape, parts, sizes, spots.choose(np.array(sorted(left), np.int64)), method.prior.rays)


def view_clump(
    number: int,
    box: Box,
    labels: NDArray[np.integer[Any]],
    spots: Spots,
    owners: NDArray[np.int64],
    nuclei: NDArray[np.bool_],
) -> ClumpView:
    """Show a clump in its box.

    Parameters
    ----------
    number : int
        Of the clump.
    box : Box
    labels : (h, w) int
        Numbers of clumps in the box.
    spots : Spots
        All that meet the box, at least.
    owners : (S,) int64
        Number of the clump that each spot lies in.
    nuclei : (S,) bool
        Whether each is a nucleus by itself.
    """
    near = spots.meet(box)
    own = owners[near] == number
    kept = own | nuclei[near]
    near, own = near[kept], own[kept]
    clumps = np.where(labels == number, OWN, np.where(labels > 0, OTHER, 0)).astype(np.uint8)
    return ClumpView(box, clumps, spots.choose(near), np.where(own, OWN, OTHER).astype(np.uint8))


def _is_nucleus(
    spots: Spots, index: int, labels: NDArray[np.integer[Any]], owners: NDArray[np.int64], min_nucleus: float
) -> bool:
    pixels = spots.masks[index]
    within = pixels & (labels[spots.box(index).slices] == owners[index]) & bool(owners[index])
    return is_nucleus(float(spots.probability[index]), within, pixels, min_nucleus)


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
    count = 0
    for number, box, result in parts:
        if len(result):
            records[number] = next(record for record in result.clumps if record.stopped != "no seed")
        for target, labels in ((nuclei, result.nuclei), (second, result.second_nuclei)):
            if labels is not None:
                target[box.slices][labels > 0] = labels[labels > 0] + count
        if result.others is not None:
            others.append(replace(result.others, places=result.others.places + (box.top, box.left)))
        count += len(result)
    results = [result for _, _, result in parts]
    return Segmentation(
        shape,
        np.vstack([np.empty((0, 2)), *(result.seeds + (box.top, box.left) for _, box, result in parts)]),
        np.vstack([np.empty((0, rays)), *(result.radii for result in results)]),
        np.concatenate([np.empty(0, np.int64), *(np.full(len(result), number) for number, _, result in parts)]),
        tuple(records),
        nuclei,
        second if second.any() else None,
        np.concatenate([np.empty(0), *(result.nucleus_probability for result in results)]),  # type: ignore[list-item]
        _join_others(others),
    )


def _describe_left(spots: Spots) -> Others:
    """Spots that no clump has a use for."""
    places = [
        np.argwhere(mask).mean(axis=0) + (box[0], box[1]) for mask, box in zip(spots.masks, spots.boxes, strict=True)
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
