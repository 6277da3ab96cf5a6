"""The pixels of a cell or a nucleus, without the rest of the image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump import run_lengths
from declump.shapes import contours

MAX_CROSSINGS = 20_000_000
"""Of an outline with the rows of an image: a cell has two a row, and what is drawn by hand not many more."""


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
        # A copy, so that a small crop does not keep a large image in memory.
        kept = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].copy()
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

    def to_mask(self, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Lay it into an image (H, W) that is False elsewhere."""
        whole = np.zeros(shape, np.bool_)
        whole[self.box] = self.mask
        return whole

    def encode(self, shape: tuple[int, int]) -> str:
        """Compressed run lengths (:mod:`declump.run_lengths`) of an image (H, W) that is False elsewhere."""
        return run_lengths.compress(run_lengths.measure_runs(self.mask, shape, (self.top, self.left)))

    def join(self, other: Crop) -> Crop:
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
        return self.count_shared(other) > 0

    def count_shared(self, other: Crop) -> int:
        """Count the pixels that the two share."""
        top, left = max(self.top, other.top), max(self.left, other.left)
        own, others = (crop.mask[top - crop.top :, left - crop.left :] for crop in (self, other))
        height, width = min(own.shape[0], others.shape[0]), min(own.shape[1], others.shape[1])
        return int(np.count_nonzero(own[:height, :width] & others[:height, :width]))


def crop_contour(seed: ArrayLike, radii: ArrayLike, shape: tuple[int, int]) -> Crop:
    """Pixels of an image (H, W) inside a contour: what :func:`declump.shapes.contours.to_mask` fills, without the rest.

    Parameters
    ----------
    seed : (2,) float
        Row and column.
    radii : (K,) float
    shape : (H, W)

    Returns
    -------
    Crop
    """
    top, left, bottom, right = contours.bounding_box(seed, radii, shape)
    return Crop.of(contours.to_mask(np.subtract(seed, (top, left)), radii, (bottom - top, right - left)), top, left)


def crop_polygon(outline: NDArray[np.float64], shape: tuple[int, int]) -> Crop:
    """Pixels of an image (H, W) whose centre lies inside a closed polygon of any form, by the even-odd rule.

    A centre on the outline belongs to the polygon on its right, or else below it, so that polygons that share an edge
    share no pixel.

    Parameters
    ----------
    outline : (M, 2) float
        Row and column of the vertices.
    shape : (H, W)

    Returns
    -------
    Crop

    Raises
    ------
    ValueError
        If it goes up and down so often that filling it would take all memory.
    """
    ends = np.stack([outline, np.roll(outline, -1, axis=0)])
    upper, lower = np.where(ends[:1, :, :1] <= ends[1:, :, :1], ends, ends[::-1])
    first, stop = np.clip(np.ceil([upper[:, 0], lower[:, 0]]), 0, shape[0]).astype(int)
    lengths = stop - first
    if not lengths.any():
        return Crop.nothing()
    if lengths.sum() > MAX_CROSSINGS:
        raise ValueError(f"an outline crosses rows of the image {lengths.sum()} times, at most {MAX_CROSSINGS} can be")
    # One entry for each row that an edge crosses, and there the first column at or right of the crossing.
    edge = np.repeat(np.arange(len(outline)), lengths)
    rows = np.arange(len(edge)) + (first - np.cumsum(lengths) + lengths)[edge]
    share = (rows - upper[edge, 0]) / (lower[edge, 0] - upper[edge, 0])
    crossings = upper[edge, 1] + share * (lower[edge, 1] - upper[edge, 1])
    columns = np.clip(np.ceil(crossings), 0, shape[1]).astype(int)
    top, left = int(rows.min()), int(columns.min())
    height, width = rows.max() + 1 - top, columns.max() + 1 - left
    counts = np.bincount((rows - top) * width + columns - left, minlength=height * width).reshape(height, width)
    inside = np.cumsum(counts, axis=1) % 2 == 1
    # The last column closes every row, and may be the one beyond the picture.
    return Crop.of(inside[:, :-1], top, left)


def crop_runs(counts: str | Sequence[int], shape: tuple[int, int]) -> Crop:
    """Pixels of an image (H, W) in run lengths (:mod:`declump.run_lengths`), plain or compressed.

    Raises
    ------
    ValueError
        If a text is broken, or the runs do not fill the image.
    """
    lengths = run_lengths.decompress(counts) if isinstance(counts, str) else counts
    columns, first = run_lengths.fill_runs(lengths, shape)
    return Crop.of(columns, 0, first)


def crop_labels(labels: NDArray[Any], count: int) -> list[Crop]:
    """Pixels of every label of an image (H, W), from 1 to a number; empty where it has none."""
    from scipy import ndimage

    return [
        Crop.of(labels[box] == index + 1, box[0].start, box[1].start) if box else Crop.nothing()
        for index, box in enumerate(ndimage.find_objects(labels, max_label=count))
    ]


def crop_nuclei(nuclei: NDArray[Any] | None, second: NDArray[Any] | None, count: int) -> list[Crop]:
    """Pixels of every whole nucleus.

    Parameters
    ----------
    nuclei : (H, W) int or None
        Number of the cell, from 1, at the pixels of its nucleus; None where no nucleus is known.
    second : (H, W) int or None
        Number of a second cell where the nuclei of two lie on each other; such a pixel belongs to both.
    count : int
        Number of cells; higher numbers are passed over.

    Returns
    -------
    list of Crop
        One a cell; empty where it has no nucleus.
    """
    if nuclei is None or not count:
        return [Crop.nothing()] * count
    crops = crop_labels(nuclei, count)
    if second is None:
        return crops
    return [crop.join(more) for crop, more in zip(crops, crop_labels(second, count), strict=True)]
