"""Which pixels of the image each cell covers, alone or together with others.

Cells are taken in their bounding boxes, so that the work grows with the cells and not with the image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump.records.crops import Crop
from declump.records.segmentation import Segmentation
from declump.shapes import contours

TOUCHING = 0.05
"""Two cells touch if the gap between them is at most this share of the mean of their equivalent radii."""


@dataclass(frozen=True, eq=False)
class Cover:
    """The pixels of N cells.

    Attributes
    ----------
    crops : sequence of N Crop
        Each cell's pixels.
    layers : (H, W) int32
        Number of cells at each pixel.
    """

    crops: Sequence[Crop]
    layers: NDArray[np.int32]

    @property
    def pixels(self) -> NDArray[np.int64]:
        """Pixels (N,) of each cell in the image."""
        return np.array([crop.area for crop in self.crops], dtype=np.int64)

    @property
    def shared(self) -> NDArray[np.int64]:
        """Pixels (N,) of each cell that other cells cover, too."""
        return np.array([np.count_nonzero(self.layers[crop.box][crop.mask] > 1) for crop in self.crops], dtype=np.int64)

    @property
    def on_border(self) -> NDArray[np.bool_]:
        """Whether each cell (N,) has a pixel in the first or last row or column of the image."""
        bottom, right = self.layers.shape
        boxes = [(crop.area > 0, *crop.box) for crop in self.crops]
        return np.array(
            [
                seen and (rows.start == 0 or rows.stop == bottom or columns.start == 0 or columns.stop == right)
                for seen, rows, columns in boxes
            ],
            dtype=np.bool_,
        )

    def union(self, cells: NDArray[np.intp]) -> tuple[int, int, int]:
        """Pixels in any of some cells, pixels in more than one of them, and the most of them at one pixel."""
        crops = [self.crops[cell] for cell in cells if self.crops[cell].area]
        if not crops:
            return 0, 0, 0
        corners = np.array([[(side.start, side.stop) for side in crop.box] for crop in crops])
        top, left = corners[..., 0].min(axis=0)
        bottom, right = corners[..., 1].max(axis=0)
        layers = np.zeros((bottom - top, right - left), dtype=np.int32)
        for crop in crops:
            height, width = crop.mask.shape
            layers[crop.top - top :, crop.left - left :][:height, :width] += crop.mask
        return int(np.count_nonzero(layers)), int(np.count_nonzero(layers > 1)), int(layers.max())


def cover(segmentation: Segmentation) -> Cover:
    """Count the cells of a segmentation at each pixel."""
    layers = np.zeros(segmentation.shape, dtype=np.int32)
    for crop in segmentation.crops:
        layers[crop.box] += crop.mask
    return Cover(segmentation.crops, layers)


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
        if covered.crops[first].meets(covered.crops[second]):
            overlapping[pair] += 1
            touching[pair] += 1
        elif any(
            contours.inside(polygons[one], seeds[other], radii[other] + gap).any()
            for one, other in ((first, second), (second, first))
        ):
            touching[pair] += 1
    return overlapping, touching
