"""Regions of any part of an image: the clump, and all that may be a nucleus. The seam between networks and cells.

:meth:`RegionFinder.find` is the only way from pixels to regions, for an image in memory (which is one part) and for the
tiles of a slide. Whatever networks say what a nucleus is: the stages after it know :class:`PartRegions` alone.

A part is looked at with as much round it as is needed: what the region network sees, the whole of every spot that
begins in the part, and what the classifier of nuclei sees of it. All else comes from the statistics of the image.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.models import Model
from declump.records.boxes import Box
from declump.records.spots import Spots
from declump.records.statistics import ImageStatistics
from declump.regions.inference import Maps, open_region_model
from declump.regions.judge import FAR, WINDOW, SpotPlanes, average_layers, judge_spots, open_judge
from declump.regions.lattice import Lattice, find_receptive_field
from declump.regions.levels import HALF
from declump.regions.nuclei import FAINT, SMOOTHING
from declump.regions.objects import find_objects
from declump.regions.options import RegionOptions
from declump.regions.spots import find_spots, guess_leukocytes

See = Callable[[Box], NDArray[np.float32]]
"""Gives the channels (3, h, w) of a box of an image (:func:`declump.regions.channels.to_channels`)."""

EMPTY = 0.03
"""Where no mean of a square differs from the background by more than this share of it, there is nothing."""
SQUARE, BLOCK = 8, 64
"""Sides in pixels of the squares, and of the blocks of them that are looked at or passed over, from the image's
corner."""

ROOM = 6.0
"""Diameters of a nucleus that are looked at round a part at first: the judge sees about four."""
REACH = 4.0
"""Spots so near to a part, in diameters, may decide whether one that stands out at some level is taken."""
MIN_CLUMP = 2.5
"""Smallest clump, in areas of a nucleus."""
MAX_HOLE = 0.5
"""Largest hole in a clump that is filled, in areas of a nucleus."""
MOST_ROOM = 48.0
"""If spots are so large that this is not enough, twice as much each time, up to so many diameters."""


@dataclass(frozen=True, eq=False)
class PartRegions:
    """What was found in a part of an image.

    Attributes
    ----------
    clump : (h, w) bool
        Where the network sees any cell; specks and holes are still there.
    spots : Spots
        Candidates for nuclei whose first pixel lies in the part: masks, probabilities, how much light they let through.
    whole : bool
        Whether every spot was seen whole; not so where spots run together over a large part of the image.
    layers : (h, w) float32
        Expected number of cells at each pixel, 3 standing for 3 or more.
    """

    clump: NDArray[np.bool_]
    spots: Spots
    whole: bool
    layers: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class RegionFinder:
    """Finds the regions of any part of an image.

    Attributes
    ----------
    options : RegionOptions
        Diameter and pixel size are those of the statistics.
    statistics : ImageStatistics
    shape : (H, W)
        Of the whole image.
    """

    options: RegionOptions
    statistics: ImageStatistics
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        """Refuse options that need to see the whole image at once."""
        if str(self.options.judge) == "none":
            raise ValueError("rules instead of a judge ('none') need the whole image at once; give a judge")
        if self.model.is_smear and str(self.options.judge) != "default":
            raise ValueError(
                f"judge must be 'default' with this region model, which tells nuclei itself, got {self.options.judge}"
            )

    @cached_property
    def model(self) -> Model:
        """The region network."""
        return open_region_model(self.options.model)

    @cached_property
    def judge(self) -> Model:
        """What tells nuclei from other spots."""
        return open_judge(self.options.judge)

    @cached_property
    def lattice(self) -> Lattice:
        """Where parts begin."""
        return Lattice.from_scale(self.model.nucleus_diameter / self.statistics.diameter, self.model.stride)

    @cached_property
    def margin(self) -> int:
        """Pixels round a part that the network sees."""
        return max(self.lattice.find_margin(find_receptive_field(self.model)), self.lattice.round_up(BLOCK))

    @property
    def diameter(self) -> float:
        """Usual diameter of a nucleus in pixels, as the lattice has it."""
        return self.model.nucleus_diameter / self.lattice.scale

    @property
    def max_hole_area(self) -> float:
        """Largest hole in a clump that is filled, in square pixels."""
        return MAX_HOLE * math.pi * self.diameter**2 / 4

    @property
    def min_clump_area(self) -> float:
        """Smallest clump in square pixels."""
        return MIN_CLUMP * math.pi * self.diameter**2 / 4

    def find(self, see: See, part: Box, maps: Maps | None = None) -> PartRegions:
        """Find the regions of a part of an image.

        Parameters
        ----------
        see : callable
            See ``See``.
        part : Box
        maps : Maps, optional
            Of the part, if it is all of the image and was looked at before.
        """
        return self._find(see, part, ROOM, maps)

    def _find(self, see: See, part: Box, room: float, maps: Maps | None = None) -> PartRegions:
        """Look at a part with so many diameters of room, and with more where spots were not seen whole."""
        near = part.grow(math.ceil(room * self.diameter), self.shape, HALF)
        clump, spots, layers, unsure = self._look(see, part, near, maps)
        if not unsure or room >= MOST_ROOM:
            return PartRegions(clump, spots, not unsure, layers)
        rest = plan_rest(unsure, part)
        again = [self._find(see, one, 2 * room) for one in rest]
        begins = [Box(row, column, row + 1, column + 1) for row, column in spots.first_pixels.tolist()]
        kept = np.array([not any(one.holds(begin) for one in rest) for begin in begins], np.bool_)
        every = Spots.join([spots.choose(kept), *(found.spots for found in again)])
        return PartRegions(clump, every, all(found.whole for found in again), layers)

    def find_largest_window(self, part: int) -> int:
        """Side in pixels of the largest window that is looked at for a part with such a side."""
        sides, room = [], ROOM
        while room <= MOST_ROOM:
            sides.append(part + 2 * (self.margin + math.ceil(room * self.diameter)) + self.lattice.pixels + HALF)
            part, room = max(-(-part // 2), 1), 2 * room
        return max(sides)

    def _look(
        self, see: See, part: Box, near: Box, maps: Maps | None
    ) -> tuple[NDArray[np.bool_], Spots, NDArray[np.float32], list[Box]]:
        """Look at a part, and at what is near it: clump, spots, layers, and boxes where spots were not seen whole."""
        window = near.grow(self.margin, self.shape, self.lattice.pixels)
        channels = see(window)
        shown = show_blocks(channels, window, self.shape)
        inner = near.within(window)
        if not shown[inner].any():
            nothing = np.zeros(part.shape, np.bool_)
            return nothing, Spots.join([]), nothing.astype(np.float32), []
        seen = self.lattice.see(channels, self.model) if maps is None else maps
        maps = seen.change(lambda planes: np.ascontiguousarray(planes[:, *inner]))
        empty = np.array([1, 0, 0], np.float32)[:, None, None]
        maps = replace(maps, classes=np.where(shown[inner], maps.classes, empty))
        spots, unsure = self._find_spots(maps, channels[0][inner], part, near)
        own = part.within(near)
        layers = 3 * average_layers(maps.layers[:, *own])
        return (maps.classes[0] < 0.5)[own], spots, np.where(shown[inner][own], layers, 0), unsure

    def _find_spots(self, maps: Maps, luminance: NDArray[np.float32], part: Box, near: Box) -> tuple[Spots, list[Box]]:
        labels, known = self._label_spots(maps, luminance)
        boxes, masks, numbers, beside = [], [], [], []
        far = math.ceil(REACH * self.diameter)
        reach = part.grow(far, self.shape)
        for number, place in enumerate(ndimage.find_objects(labels), start=1):
            mask = labels[place] == number
            top, left = near.top + place[0].start, near.left + place[1].start
            own = Box(top, left, top + mask.shape[0], left + mask.shape[1])
            if reach.meet(own).size:
                beside.append(own)
            if part.holds(Box(top, left + int(mask[0].argmax()), top + 1, left + int(mask[0].argmax()) + 1)):
                boxes.append(own)
                masks.append(mask)
                numbers.append(number)
        said, unsure = [], [box.grow(far, self.shape) for box in self._find_cut(maps.classes[2], beside, near)]
        if known is not None:
            said = [float(known[number - 1, 0]) for number in numbers]
            leukocytes = known[:, 1].tolist()
        else:
            leukocytes = guess_leukocytes(labels, labels > 0, luminance)
            planes = _stack_planes(luminance, maps)
            for number, box in zip(numbers, boxes, strict=True):
                seen = self._seen_by_judge(box)
                if not near.holds(seen):
                    unsure.append(box)
                seen = seen.meet(near)
                inner = seen.within(near)
                around = SpotPlanes(planes[:, *inner], (labels[inner] == number).astype(np.int32))
                said.append(float(judge_spots(around, self.judge, self.diameter)[0]))
        found = Spots(
            np.array(boxes, np.int64).reshape(-1, 4),
            masks,
            np.array(said, np.float64),
            np.array([leukocytes[number - 1] for number in numbers], np.float64),
        )
        return found.sort(), unsure

    def _label_spots(
        self, maps: Maps, luminance: NDArray[np.float32]
    ) -> tuple[NDArray[np.int32], NDArray[np.float32] | None]:
        """Number all that may be a nucleus; with the probabilities of its kinds, where the network tells them."""
        if maps.centres is not None:
            found = find_objects(maps, self.diameter, cut=self.options.cut_nuclei)
            return found.labels, found.kinds
        labels = find_spots(
            maps.classes[2],
            maps.centre_map,
            luminance,
            self.diameter,
            clump=maps.classes[0] < 0.5,
            cut=self.options.cut_nuclei,
        )
        return labels, None

    def _seen_by_judge(self, box: Box) -> Box:
        """What the judge sees of a spot, from where its squares of pixels begin in the whole image."""
        step = self.diameter / self.judge.nucleus_diameter
        squares = math.lcm(max(round(step), 1), max(round(FAR * step), 1))
        reach = math.ceil(WINDOW * FAR * step / 2) + 2 * squares
        middle = Box((box.top + box.bottom) // 2, (box.left + box.right) // 2, 0, 0)
        around = Box(middle.top, middle.left, middle.top + 1, middle.left + 1)
        return around.grow(reach + max(box.shape) // 2, self.shape, squares)

    def _find_cut(self, probability: NDArray[np.float32], boxes: list[Box], near: Box) -> list[Box]:
        """Find where spots in boxes, or what touches the rings round them, go beyond what is near: boxes of both."""
        blots, _ = ndimage.label(probability >= FAINT, structure=np.ones((3, 3)))
        smoothed = math.ceil(4 * SMOOTHING * self.diameter) + 1
        sure = near.shrink(smoothed, self.shape).within(near)
        outside = np.ones(blots.shape, np.bool_)
        outside[sure] = False
        cut = np.zeros(blots.max(initial=0) + 1, np.bool_)
        cut[np.unique(blots[outside])] = True
        cut[0] = False
        if not cut.any():
            return []
        places = [
            Box(rows.start, columns.start, rows.stop, columns.stop) for rows, columns in ndimage.find_objects(blots)
        ]
        found = []
        ring = max(round(self.diameter / 4), 2) + 1
        for box in boxes:
            for blot in np.unique(blots[box.within(near)]).tolist():
                if blot:
                    met = np.unique(blots[places[blot - 1].grow(ring, blots.shape).slices])
                    beyond = [places[other - 1] for other in met[cut[met]].tolist()]
                    if beyond:
                        both = [box, *(one.move(near.top, near.left) for one in (places[blot - 1], *beyond))]
                        found.append(hull(both))
        return found


def show_blocks(channels: NDArray[np.float32], window: Box, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Tell which pixels (h, w) of a window lie in blocks of the image (H, W) that show anything.

    A block shows something if the mean of any of its squares is darker, or more coloured, than the background. Blocks
    that the window cuts off show something.
    """
    inner = Box(
        -(-window.top // BLOCK) * BLOCK,
        -(-window.left // BLOCK) * BLOCK,
        window.bottom if window.bottom == shape[0] else window.bottom // BLOCK * BLOCK,
        window.right if window.right == shape[1] else window.right // BLOCK * BLOCK,
    )
    shown = np.ones(window.shape, np.bool_)
    if inner.bottom <= inner.top or inner.right <= inner.left:
        return shown
    planes = channels[:, *inner.within(window)]
    rows, columns = (np.arange(0, size, SQUARE) for size in inner.shape)
    sums = np.add.reduceat(np.add.reduceat(planes, rows, axis=1, dtype=np.float64), columns, axis=2)
    sizes = [np.diff([*starts, size]) for starts, size in zip((rows, columns), inner.shape, strict=True)]
    luminance, *chrominances = sums / np.outer(*sizes)
    differs = (np.abs(chrominances).max(axis=0) > EMPTY) | (luminance < 1 - EMPTY)
    each = BLOCK // SQUARE
    blocks = np.logical_or.reduceat(differs, np.arange(0, differs.shape[0], each), axis=0)
    blocks = np.logical_or.reduceat(blocks, np.arange(0, differs.shape[1], each), axis=1)
    large = blocks.repeat(BLOCK, axis=0).repeat(BLOCK, axis=1)
    shown[inner.within(window)] = large[: inner.shape[0], : inner.shape[1]]
    return shown


def hull(boxes: Sequence[Box]) -> Box:
    """Smallest box that holds all of some boxes."""
    corners = np.array(boxes)
    return Box(*corners[:, :2].min(axis=0).tolist(), *corners[:, 2:].max(axis=0).tolist())


def plan_rest(unsure: Sequence[Box], part: Box) -> list[Box]:
    """Boxes without overlap in which a part is looked at again, so that all of some boxes is: none is more than half as
    long as the part, so that the window with more room round it is no larger."""
    joined = [box for box in (one.meet(part) for one in unsure) if box.size]
    merged = True
    while merged:
        merged, separate = False, list[Box]()
        for box in joined:
            meeting = [other for other in separate if other.meet(box).size]
            merged = merged or bool(meeting)
            separate = [*(other for other in separate if other not in meeting), hull([box, *meeting])]
        joined = separate
    most = [max(-(-side // 2), 1) for side in part.shape]
    return [
        Box(top, left, min(top + most[0], box.bottom), min(left + most[1], box.right))
        for box in sorted(joined)
        for top in range(box.top, box.bottom, most[0])
        for left in range(box.left, box.right, most[1])
    ]


def _stack_planes(luminance: NDArray[np.float32], maps: Maps) -> NDArray[np.float32]:
    """Stack the planes (5, H, W) of :class:`SpotPlanes`, so that they are the same in every window.

    Layers are summed plane by plane: a product of matrices rounds by the place of a pixel in the window.
    """
    stack = [luminance, 1 - maps.classes[0], maps.classes[2], maps.centre_map, average_layers(maps.layers)]
    return np.stack(stack).astype(np.float32)
