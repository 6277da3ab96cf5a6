"""From a mask that may hold many clumps, and the seeds of all cells, to single clumps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump import _kernels
from declump.shapes import contours

MARGIN = 2
"""Pixels round a clump in its crop, so that every ray leaves the clump before the crop, or through the image border."""


class SeedOutsideWarning(UserWarning):
    """A seed lies outside the mask, so that its cell has no outline."""


@dataclass(frozen=True)
class Clump:
    """One connected piece of the mask with the seeds in it.

    Attributes
    ----------
    label : int
        Its number, from 0, in the order in which the clumps are met along the rows.
    mask : (h, w) bool
        Its pixels, in a crop of the image; other clumps are not in it.
    origin : (row, column)
        Where the crop begins in the image.
    image_shape : (H, W)
        Size of the image.
    cells : (n,) int64
        Which of the given seeds lie in it.
    seeds : (n, 2) int64
        Their pixels, counted in the crop.
    """

    label: int
    mask: NDArray[np.bool_]
    origin: tuple[int, int]
    image_shape: tuple[int, int]
    cells: NDArray[np.int64]
    seeds: NDArray[np.int64]
    _exits: dict[int, NDArray[np.float64]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def size(self) -> int:
        """Number of pixels of the clump."""
        return int(np.count_nonzero(self.mask))

    def discrepancy(self, radii: NDArray[np.float64]) -> int:
        """Equation 2: in how many pixels the clump and the union of cells with radii (n, K) differ."""
        union = np.zeros(self.mask.shape, dtype=np.bool_)
        for seed, outline in zip(self.seeds, radii, strict=True):
            contours.fill(union, seed, outline)
        return int(np.count_nonzero(union != self.mask))

    def first_exits(self, rays: int) -> NDArray[np.float64]:
        """Find where (n, K) rays of the cells first leave the clump: :func:`declump.shapes.contours.first_exits`."""
        if rays not in self._exits:
            self._exits[rays] = contours.find_exits(self.mask, self.seeds, rays)
        return self._exits[rays]

    def reach_beyond(self, radii: NDArray[np.float64]) -> int:
        """How many pixels outlines (n, K) reach beyond the crop, as far as there is an image."""
        rows, columns = contours.directions(radii.shape[1])
        farthest = 0
        for axis, direction in enumerate((rows, columns)):
            places = self.seeds[:, axis, None] + radii * direction
            before, behind = -places.min(initial=0), places.max(initial=0) - (self.mask.shape[axis] - 1)
            left = self.image_shape[axis] - self.origin[axis] - self.mask.shape[axis]
            farthest = max(farthest, min(int(np.ceil(before)), self.origin[axis]), min(int(np.ceil(behind)), left))
        return farthest

    def with_room(self, margin: int) -> Clump:
        """Give the clump in a crop that is wider by a margin, as far as the image goes, for outlines that reach out."""
        room = [
            (min(margin, start), min(margin, whole - start - extent))
            for start, extent, whole in zip(self.origin, self.mask.shape, self.image_shape, strict=True)
        ]
        before = (room[0][0], room[1][0])
        origin = (self.origin[0] - before[0], self.origin[1] - before[1])
        wider = replace(self, mask=np.pad(self.mask, room), origin=origin, seeds=self.seeds + before)
        # A ray leaves a clump within its crop, or through the border of the image: wherever that crop begins.
        object.__setattr__(wider, "_exits", self._exits)
        return wider


def split_clumps(mask: ArrayLike, seeds: ArrayLike) -> list[Clump]:
    """Split a mask into its connected pieces (8-neighbours), each with its seeds.

    Parameters
    ----------
    mask : (H, W) bool
        Where there is any cell.
    seeds : (N, 2) float
        Row and column of each cell's seed; a seed is taken at the centre of the pixel that holds it.

    Returns
    -------
    list of Clump
        Also the pieces without a seed. A seed outside the mask is in none of them.

    Raises
    ------
    ValueError
        For arrays of the wrong shape, seeds outside the image, and two seeds on one pixel.
    """
    return split_checked(check_mask(mask), seed_pixels(seeds, np.shape(mask)))


def split_checked(mask: NDArray[np.bool_], pixels: NDArray[np.int64]) -> list[Clump]:
    """Do what :func:`split_clumps` does with what :func:`check_mask` and :func:`seed_pixels` gave."""
    height, width = mask.shape
    runs, pieces, count = _kernels.find_runs(mask, True)
    _, _, boxes, _ = _kernels.measure_runs(runs, pieces, count, height, width)
    labels = np.zeros((height, width), np.int32)
    _kernels.paint_runs(labels, runs, pieces, np.arange(1, count + 1))
    owner = labels[pixels[:, 0], pixels[:, 1]]
    clumps = []
    for label, (top, left, bottom, right) in enumerate(boxes.tolist()):
        cells, origin = np.flatnonzero(owner == label + 1), (top, left)
        own = labels[top:bottom, left:right] == label + 1
        clumps.append(Clump(label, own, origin, (height, width), cells, pixels[cells] - origin).with_room(MARGIN))
    return clumps


def check_mask(mask: ArrayLike) -> NDArray[np.bool_]:
    """Give a mask as (H, W) bool, or say what is wrong with it."""
    if isinstance(mask, np.ma.MaskedArray):
        raise ValueError("the clump mask is a masked array, whose mask is not heeded; give mask.filled(False)")
    mask = np.asarray(mask)
    if mask.ndim != 2 or mask.size == 0:
        raise ValueError(f"the clump mask is a non-empty (H, W) array; given was one of shape {mask.shape}")
    if mask.dtype != np.bool_ and not np.isin(mask, (0, 1, 255)).all():
        raise ValueError(
            f"the clump mask holds True and False, or 0 and 1, or 0 and 255; given was {mask.dtype} with other values: "
            "threshold it first"
        )
    return np.ascontiguousarray(mask != 0)


def seed_pixels(seeds: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Give the pixels (N, 2) that hold the seeds, or say what is wrong with them."""
    if isinstance(seeds, np.ma.MaskedArray):
        raise ValueError("the seeds are a masked array, whose mask is not heeded; give those that are meant")
    seeds = np.asarray(seeds, dtype=np.float64)
    if seeds.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if seeds.ndim != 2 or seeds.shape[1] != 2:
        raise ValueError(f"seeds are (N, 2): row and column of each; given was an array of shape {seeds.shape}")
    if not np.isfinite(seeds).all():
        raise ValueError("seeds are finite numbers; given were some NaN or infinite ones")
    nearest = np.floor(seeds + 0.5)
    outside = np.flatnonzero(((nearest < 0) | (nearest >= np.array(shape))).any(axis=1))
    if outside.size:
        first = tuple(seeds[outside[0]].tolist())
        raise ValueError(
            f"seed {outside[0]} at {first} lies outside the image of shape {tuple(shape)}: rows come first"
        )
    pixels = nearest.astype(np.int64)
    _, first_of, count = np.unique(pixels, axis=0, return_index=True, return_counts=True)
    if (count > 1).any():
        index = first_of[count > 1].min()
        twins = np.flatnonzero((pixels == pixels[index]).all(axis=1))
        raise ValueError(
            f"seeds {', '.join(map(str, twins))} share the pixel {tuple(pixels[index].tolist())}: give one seed a cell"
        )
    return pixels
