"""The pixels of a cell or a nucleus, without the rest of the image."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from declump.records.segmentation import Segmentation
from declump.shapes import contours


@dataclass(frozen=True, eq=False)
class Crop:
    """A mask cut out of an image, as small as it can be.

    Attributes
    ----------
    top, left : int
        Row and column of the first pixel; 0 if there is none.
    mask : (h, w) bool
        With a True in each of its outer rows and columns; (0, 0) if it is empty.
    """

    top: int
    left: int
    mask: NDArray[np.bool_]

    @classmethod
    def of(cls, mask: NDArray[np.bool_], top: int = 0, left: int = 0) -> Self:
        """Cut out the True pixels of a mask (H, W) whose first pixel lies at a given row and column."""
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        if not rows.size:
            return cls.nothing()
        kept = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        return cls(top + int(rows[0]), left + int(columns[0]), kept)

    @classmethod
    def nothing(cls) -> Self:
        """Give an empty one."""
        return cls(0, 0, np.zeros((0, 0), np.bool_))

    @property
    def box(self) -> tuple[slice, slice]:
        """Where it lies in the image."""
        height, width = self.mask.shape
        return slice(self.top, self.top + height), slice(self.left, self.left + width)

    @property
    def area(self) -> int:
        """Number of pixels."""
        return int(np.count_nonzero(self.mask))

    def joined(self, other: Crop) -> Crop:
        """Give the pixels of both."""
        if not (self.area and other.area):
            return self if self.area else other
        top, left = min(self.top, other.top), min(self.left, other.left)
        ends = [np.add((crop.top, crop.left), crop.mask.shape) for crop in (self, other)]
        mask = np.zeros(np.max(ends, axis=0) - (top, left), np.bool_)
        for crop in (self, other):
            height, width = crop.mask.shape
            mask[crop.top - top :, crop.left - left :][:height, :width] |= crop.mask
        return Crop(top, left, mask)

    def meets(self, other: Crop) -> bool:
        """Whether the two share a pixel."""
        top, left = max(self.top, other.top), max(self.left, other.left)
        own, others = (crop.mask[top - crop.top :, left - crop.left :] for crop in (self, other))
        height, width = min(own.shape[0], others.shape[0]), min(own.shape[1], others.shape[1])
        return bool((own[:height, :width] & others[:height, :width]).any())


def cell_crops(segmentation: Segmentation) -> list[Crop]:
    """Pixels of every cell within the image."""
    return list(_cell_crops(segmentation))


@lru_cache(maxsize=1)  # several formats of one segmentation ask for them
def _cell_crops(segmentation: Segmentation) -> tuple[Crop, ...]:
    crops = []
    for seed, radii in zip(segmentation.seeds, segmentation.radii, strict=True):
        top, left, bottom, right = contours.bounding_box(seed, radii, segmentation.shape)
        crops.append(Crop.of(contours.to_mask(seed - (top, left), radii, (bottom - top, right - left)), top, left))
    return tuple(crops)


def nucleus_crops(segmentation: Segmentation) -> list[Crop]:
    """Pixels of every cell's whole nucleus; empty where a cell has none, or the nuclei are not known."""
    count = len(segmentation)
    if segmentation.nuclei is None or not count:
        return [Crop.nothing()] * count
    crops = label_crops(segmentation.nuclei, count)
    if segmentation.second_nuclei is None:
        return crops
    return [crop.joined(more) for crop, more in zip(crops, label_crops(segmentation.second_nuclei, count), strict=True)]


def label_crops(labels: NDArray[Any], count: int) -> list[Crop]:
    """Pixels of every label of an image (H, W), from 1 to a number; empty where it has none."""
    from scipy import ndimage

    return [
        Crop.of(labels[box] == index + 1, box[0].start, box[1].start) if box else Crop.nothing()
        for index, box in enumerate(ndimage.find_objects(labels, max_label=count))
    ]
