"""Regions of a part of an image, as the whole image would show them: what networks say, and the spots that begin there.

A part is looked at with as much round it as is needed: what the region network sees, the whole of every spot that
begins in the part, and what the judge sees of it. All else comes from the statistics of the image.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
from declump.regions.nuclei import FAINT, SMOOTHING
from declump.regions.options import RegionOptions
from declump.regions.spots import find_spots, measure_light

Read = Callable[[Box], NDArray[Any]]
"""Gives the pixels (h, w[, channels]) of a box of an image."""

ROOM = 6.0
"""Diameters of a nucleus that are looked at round a part at first: the judge sees about four."""
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
        With areas in square pixels; diameter and pixel size are those of the statistics.
    statistics : ImageStatistics
    shape : (H, W)
        Of the whole image.
    """

    options: RegionOptions
    statistics: ImageStatistics
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        """Refuse options that need to see the whole image at once."""
        for wrong, what in (
            (str(self.options.model) == "classical", "thresholds ('classical')"),
            (self.options.refined, "a Markov random field (refined)"),
            (str(self.options.judge) == "none", "rules instead of a judge ('none')"),
        ):
            if wrong:
                raise ValueError(f"{what} need the whole image at once; a part of it is looked at by networks alone")
        if self.model.is_published:
            raise ValueError("the published network knows no centres of nuclei; parts are looked at by declump's own")

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
        usual = MAX_HOLE * math.pi * self.diameter**2 / 4
        return usual if self.options.max_hole_area is None else self.options.max_hole_area

    @property
    def min_clump_area(self) -> float:
        """Smallest clump in square pixels."""
        usual = MIN_CLUMP * math.pi * self.diameter**2 / 4
        return usual if self.options.min_clump_area is None else self.options.min_clump_area

    def find(self, read: Read, part: Box) -> PartRegions:
        """Find the regions of a part of an image."""
        room = ROOM
        while True:
            near = part.grow(math.ceil(room * self.diameter), self.shape)
            found = self._look(read, part, near)
            if found.whole or room >= MOST_ROOM:
                return found
            room *= 2

    def _look(self, read: Read, part: Box, near: Box) -> PartRegions:
        """Look at a part, and at what is near it."""
        window = near.grow(self.margin, self.shape, self.lattice.pixels)
        channels = to_channels(read(window), self.statistics.exposure)
        inner = near.within(window)
        maps = self.lattice.see(channels, self.model)
        assert maps.centre_map is not None and maps.layers is not None
        maps = Maps(maps.classes[:, *inner], maps.centre_map[inner], maps.layers[:, *inner])
        spots, whole = self._find_spots(maps, channels[0][inner], part, near)
        return PartRegions((maps.classes[0] < 0.5)[part.within(near)], spots, whole)

    def _find_spots(self, maps: Maps, luminance: NDArray[np.float32], part: Box, near: Box) -> tuple[Spots, bool]:
        assert maps.centre_map is not None
        labels = find_spots(
            maps.classes[2],
            maps.centre_map,
            luminance,
            self.diameter,
            min_area=self.options.min_nucleus_area,
            cut=self.options.cut_nuclei,
            usual_area=self.statistics.nucleus_area,
        )
        boxes, masks, numbers = [], [], []
        for number, place in enumerate(ndimage.find_objects(labels), start=1):
            mask = labels[place] == number
            top, left = near.top + place[0].start, near.left + place[1].start
            if part.holds(Box(top, left + int(mask[0].argmax()), top + 1, left + int(mask[0].argmax()) + 1)):
                boxes.append(Box(top, left, top + mask.shape[0], left + mask.shape[1]))
                masks.append(mask)
                numbers.append(number)
        planes = _stack_planes(luminance, maps)
        light = measure_light(labels, labels > 0, luminance)
        said, whole = [], self._are_whole(maps.classes[2], boxes, near)
        for number, box in zip(numbers, boxes, strict=True):
            seen = self._seen_by_judge(box)
            whole = whole and near.holds(seen)
            seen = seen.meet(near)
            inner = seen.within(near)
            own = SpotPlanes(planes[:, *inner], (labels[inner] == number).astype(np.int32))
            said.append(float(judge_spots(own, self.judge, self.diameter)[0]))
        found = Spots(
            np.array(boxes, np.int64).reshape(-1, 4),
            masks,
            np.array(said, np.float64),
            np.array([light[number - 1] for number in numbers], np.float64),
        )
        return found.sort(), whole

    def _seen_by_judge(self, box: Box) -> Box:
        """What the judge sees of a spot, from where its squares of pixels begin in the whole image."""
        step = self.diameter / self.judge.nucleus_diameter
        squares = math.lcm(max(round(step), 1), max(round(FAR * step), 1))
        reach = math.ceil(WINDOW * FAR * step / 2) + 2 * squares
        middle = Box((box.top + box.bottom) // 2, (box.left + box.right) // 2, 0, 0)
        around = Box(middle.top, middle.left, middle.top + 1, middle.left + 1)
        return around.grow(reach + max(box.shape) // 2, self.shape, squares)

    def _are_whole(self, probability: NDArray[np.float32], boxes: list[Box], near: Box) -> bool:
        """Whether spots in boxes, and what touches the rings round them, lie wholly in what is near."""
        blots, _ = ndimage.label(probability >= FAINT, structure=np.ones((3, 3)))
        smoothed = math.ceil(4 * SMOOTHING * self.diameter) + 1
        sure = near.shrink(smoothed, self.shape).within(near)
        outside = np.ones(blots.shape, np.bool_)
        outside[sure] = False
        cut = np.zeros(blots.max(initial=0) + 1, np.bool_)
        cut[np.unique(blots[outside])] = True
        cut[0] = False
        if not cut.any():
            return True
        places = ndimage.find_objects(blots)
        ring = max(round(self.diameter / 4), 2) + 1
        for box in boxes:
            for blot in np.unique(blots[box.within(near)]).tolist():
                if blot:
                    rows, columns = places[blot - 1]
                    around = Box(rows.start, columns.start, rows.stop, columns.stop).grow(ring, blots.shape)
                    if cut[blots[around.slices]].any():
                        return False
        return True


def _stack_planes(luminance: NDArray[np.float32], maps: Maps) -> NDArray[np.float32]:
    """Stack the planes (5, H, W) of :class:`SpotPlanes`, so that they are the same in every window.

    Layers are summed plane by plane: a product of matrices rounds by the place of a pixel in the window.
    """
    assert maps.centre_map is not None and maps.layers is not None
    stack = [luminance, 1 - maps.classes[0], maps.classes[2], maps.centre_map, average_layers(maps.layers)]
    return np.stack(stack).astype(np.float32)
