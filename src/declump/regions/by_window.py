"""Regions of a part of an image, as the whole image would show them: what networks say, and the spots that begin there.

A part is looked at with as much round it as is needed: what the region network sees, the whole of every spot that
begins in the part, and what the judge sees of it. All else comes from the statistics of the image.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.models import Model
from declump.records.boxes import Box
from declump.records.spots import Spots
from declump.records.statistics import ImageStatistics
from declump.regions.channels import to_channels
from declump.regions.find import MAX_HOLE, MIN_CLUMP
from declump.regions.inference import Maps, open_region_model
from declump.regions.judge import FAR, WINDOW, SpotPlanes, average_layers, judge_spots, open_judge
from declump.regions.lattice import Lattice, find_receptive_field
from declump.regions.levels import HALF
from declump.regions.nuclei import FAINT, SMOOTHING
from declump.regions.options import RegionOptions
from declump.regions.spots import find_spots, measure_light

Read = Callable[[Box], NDArray[Any]]
"""Gives the pixels (h, w[, channels]) of a box of an image."""

ROOM = 6.0
"""Diameters of a nucleus that are looked at round a part at first: the judge sees about four."""
REACH = 4.0
"""Spots so near to a part, in diameters, may decide whether one that stands out at some level is taken."""
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
        Those whose first pixel lies in the part.
    whole : bool
        Whether every spot was seen whole; not so where spots run together over a large part of the image.
    """

    clump: NDArray[np.bool_]
    spots: Spots
    whole: bool


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
        return Lattice.from_scale(self.model.nucleus_diameter / self.statistics.diameter)

    @cached_property
    def margin(self) -> int:
        """Pixels round a part that the network sees."""
        return self.lattice.find_margin(find_receptive_field(self.model))

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

    def find(self, read: Read, part: Box) -> PartRegions:
        """Find the regions of a part of an image."""
        return self._find(read, part, ROOM)

    def _find(self, read: Read, part: Box, room: float) -> PartRegions:
        """Look at a part with so many diameters of room, and with more where spots were not seen whole."""
        near = part.grow(math.ceil(room * self.diameter), self.shape, HALF)
        clump, spots, unsure = self._look(read, part, near)
        if not unsure or room >= MOST_ROOM:
            return PartRegions(clump, spots, not unsure)
        rest = plan_rest(unsure, part)
        again = [self._find(read, one, 2 * room) for one in rest]
        begins = [Box(row, column, row + 1, column + 1) for row, column in spots.first_pixels.tolist()]
        kept = np.array([not any(one.holds(begin) for one in rest) for begin in begins], np.bool_)
        every = Spots.join([spots.choose(kept), *(found.spots for found in again)])
        return PartRegions(clump, every, all(found.whole for found in again))

    def find_largest_window(self, part: int) -> int:
        """Side in pixels of the largest window that is looked at for a part with such a side."""
        sides, room = [], ROOM
        while room <= MOST_ROOM:
            sides.append(part + 2 * (self.margin + math.ceil(room * self.diameter)) + self.lattice.pixels + HALF)
            part, room = max(-(-part // 2), 1), 2 * room
        return max(sides)

    def _look(self, read: Read, part: Box, near: Box) -> tuple[NDArray[np.bool_], Spots, list[Box]]:
        """Look at a part, and at what is near it: clump, spots, and boxes where spots were not seen whole."""
        window = near.grow(self.margin, self.shape, self.lattice.pixels)
        channels = to_channels(read(window), self.statistics.exposure, window)
        inner = near.within(window)
        maps = self.lattice.see(channels, self.model)
        maps = Maps(maps.classes[:, *inner], maps.centre_map[inner], maps.layers[:, *inner])
        spots, unsure = self._find_spots(maps, channels[0][inner], part, near)
        return (maps.classes[0] < 0.5)[part.within(near)], spots, unsure

    def _find_spots(self, maps: Maps, luminance: NDArray[np.float32], part: Box, near: Box) -> tuple[Spots, list[Box]]:
        labels = find_spots(
            maps.classes[2],
            maps.centre_map,
            luminance,
            self.diameter,
            clump=maps.classes[0] < 0.5,
            cut=self.options.cut_nuclei,
        )
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
        planes = _stack_planes(luminance, maps)
        light = measure_light(labels, labels > 0, luminance)
        said, unsure = [], [box.grow(far, self.shape) for box in self._find_cut(maps.classes[2], beside, near)]
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
            np.array([light[number - 1] for number in numbers], np.float64),
        )
        return found.sort(), unsure

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
