"""Which pixels of the image each cell covers, alone or together with others.

Cells are filled in their bounding boxes, so that the work grows with the cells and not with the image.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump.records.segmentation import Segmentation
from declump.shapes import contours

Box = tuple[slice, slice]

TOUCHING = 0.05
"""Two cells touch if the gap between them is at most this share of the mean of their equivalent radii."""


@dataclass(frozen=True, eq=False)
class Cover:
    """The pixels of N cells.

    Attributes
    ----------
    boxes : list of N (rows, columns)
        Slices of the image that hold each cell.
    masks : list of N (h, w) bool
        Each cell's pixels in its box.
    layers : (H, W) int32
        Number of cells at each pixel.
    """

    boxes: list[Box]
    masks: list[NDArray[np.bool_]]
    layers: NDArray[np.int32]

    @property
    def pixels(self) -> NDArray[np.int64]:
        """Pixels (N,) of each cell in the image."""
        return np.array([np.count_nonzero(mask) for mask in self.masks], dtype=np.int64)

    @property
    def shared(self) -> NDArray[np.int64]:
        """Pixels (N,) of each cell that other cells cover, too."""
        pairs = zip(self.boxes, self.masks, strict=True)
        return np.array([np.count_nonzero(self.layers[box][mask] > 1) for box, mask in pairs], dtype=np.int64)

    @property
    def on_border(self) -> NDArray[np.bool_]:
        """Whether each cell (N,) has a pixel in the first or last row or column of the image."""
        height, width = self.layers.shape
        answers = []
        for (rows, columns), mask in zip(self.boxes, self.masks, strict=True):
            sides = (
                mask[:1] if rows.start == 0 else None,
                mask[-1:] if rows.stop == height else None,
                mask[:, :1] if columns.start == 0 else None,
                mask[:, -1:] if columns.stop == width else None,
            )
            answers.append(any(side.any() for side in sides if side is not None))
        return np.array(answers, dtype=np.bool_)

    def overlap(self, first: int, second: int) -> bool:
        """Whether two cells share a pixel."""
        window = []
        for one, other in zip(self.boxes[first], self.boxes[second], strict=True):
            start, stop = max(one.start, other.start), min(one.stop, other.stop)
            if start >= stop:
                return False
            window.append((slice(start - one.start, stop - one.start), slice(start - other.start, stop - other.start)))
        (rows, other_rows), (columns, other_columns) = window
        return bool((self.masks[first][rows, columns] & self.masks[second][other_rows, other_columns]).any())

    def union(self, cells: NDArray[np.intp]) -> tuple[int, int, int]:
        """Pixels in any of some cells, pixels in more than one of them, and the most of them at one pixel."""
        boxes = [self.boxes[cell] for cell in cells if self.masks[cell].size]
        if not boxes:
            return 0, 0, 0
        top, left = (min(box[axis].start for box in boxes) for axis in (0, 1))
        bottom, right = (max(box[axis].stop for box in boxes) for axis in (0, 1))
        layers = np.zeros((bottom - top, right - left), dtype=np.int32)
        for cell in cells:
            rows, columns = self.boxes[cell]
            if self.masks[cell].size:
                layers[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left] += self.masks[
                    cell
                ]
        return int(np.count_nonzero(layers)), int(np.count_nonzero(layers > 1)), int(layers.max())


def cover(segmentation: Segmentation) -> Cover:
    """Fill every cell of a segmentation in its box, and count the cells at each pixel."""
    boxes, masks = [], []
    layers = np.zeros(segmentation.shape, dtype=np.int32)
    for seed, radii in zip(segmentation.seeds, segmentation.radii, strict=True):
        top, left, bottom, right = contours.bounding_box(seed, radii, segmentation.shape)
        box = (slice(top, bottom), slice(left, right))
        mask = contours.to_mask(seed - (top, left), radii, (bottom - top, right - left))
        layers[box] += mask
        boxes.append(box)
        masks.append(mask)
    return Cover(boxes, masks, layers)


def neighbours(segmentation: Segmentation, covered: Cover) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the neighbours of every cell.

    Parameters
    ----------
    segmentation : Segmentation
    covered : Cover
        Of the same segmentation.

    Returns
    -------
    overlapping : (N,) int64
        Other cells that share a pixel with the cell.
    touching : (N,) int64
        Other cells that overlap it, or that its outline reaches once it is moved outwards along the rays by `TOUCHING`
        of the mean of the two equivalent radii.
    """
    from scipy.spatial import cKDTree

    seeds, radii, polygons = segmentation.seeds, segmentation.radii, segmentation.polygons
    overlapping, touching = np.zeros((2, len(seeds)), dtype=np.int64)
    size, reach = np.sqrt(segmentation.areas / np.pi), radii.max(axis=1, initial=0)
    outlined = np.flatnonzero(size > 0)
    if outlined.size < 2:
        return overlapping, touching
    farthest = 2 * reach.max() + TOUCHING * size.max()
    pairs = outlined[cKDTree(seeds[outlined]).query_pairs(farthest, output_type="ndarray")]
    gaps = TOUCHING * size[pairs].mean(axis=1)
    near = np.linalg.norm(seeds[pairs[:, 0]] - seeds[pairs[:, 1]], axis=1) <= reach[pairs].sum(axis=1) + gaps
    for (first, second), gap in zip(pairs[near], gaps[near], strict=True):
        pair = [first, second]
        if covered.overlap(first, second):
            overlapping[pair] += 1
            touching[pair] += 1
        elif any(
            contours.inside(polygons[one], seeds[other], radii[other] + gap).any()
            for one, other in ((first, second), (second, first))
        ):
            touching[pair] += 1
    return overlapping, touching
