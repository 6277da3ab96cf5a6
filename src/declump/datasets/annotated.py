"""The record every reader gives: an image and the whole masks of its cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump.datasets.nuclei import assign_nuclei


@dataclass(frozen=True, eq=False)
class AnnotatedImage:
    """An image with the true, whole mask of every cell; masks of neighbours may overlap.

    Parameters
    ----------
    name : str
        Name of the image, unique within its data set.
    image : (H, W) or (H, W, 3) uint8 array
        The picture.
    cells : (N, H, W) bool array
        The whole mask of each cell.
    nucleus_labels : (H, W) int32 array
        ``i + 1`` on the nucleus of cell ``i``, 0 elsewhere: the N masks of `nuclei` in the memory of one.
    seeds : (N, 2) float64 array
        A point (row, column) in the nucleus of each cell, always inside the cell's mask.
    unknown : (H, W) bool array, optional
        Where the annotation says nothing: neither that there is a cell or a nucleus, nor that there is none.

    Raises
    ------
    ValueError
        If the arrays do not belong together, or a seed lies outside its cell.
    """

    name: str
    image: NDArray[np.uint8]
    cells: NDArray[np.bool_]
    nucleus_labels: NDArray[np.int32]
    seeds: NDArray[np.float64]
    unknown: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        """Check once that the arrays belong together."""
        if self.image.dtype != np.uint8 or self.image.ndim not in (2, 3) or self.image.shape[2:] not in ((), (3,)):
            raise ValueError(
                f"{self.name}: the image must be an (H, W) or (H, W, 3) uint8 array, got {self.image.shape} "
                f"{self.image.dtype}; convert it first."
            )
        shape = self.image.shape[:2]
        if self.cells.dtype != np.bool_ or self.cells.ndim != 3 or self.cells.shape[1:] != shape:
            raise ValueError(
                f"{self.name}: the cells must be an (N, {shape[0]}, {shape[1]}) bool array like the image, "
                f"got {self.cells.shape} {self.cells.dtype}."
            )
        if self.nucleus_labels.shape != shape:
            raise ValueError(
                f"{self.name}: the nucleus labels must have the image's shape {shape}, got {self.nucleus_labels.shape}."
            )
        if self.unknown is not None and self.unknown.shape != shape:
            raise ValueError(f"{self.name}: what is unknown must have the image's shape {shape}, {self.unknown.shape}.")
        if self.seeds.shape != (len(self.cells), 2):
            raise ValueError(
                f"{self.name}: {len(self.cells)} cells need seeds of shape ({len(self.cells)}, 2), "
                f"got {self.seeds.shape}."
            )
        rows, columns = np.floor(self.seeds + 0.5).astype(int).T
        within = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
        if not (within.all() and self.cells[np.arange(len(self.cells)), rows, columns].all()):
            raise ValueError(f"{self.name}: every seed must lie inside the mask of its own cell.")

    @classmethod
    def from_union(
        cls, name: str, image: NDArray[np.uint8], cells: NDArray[np.bool_], nuclei: NDArray[np.bool_]
    ) -> AnnotatedImage:
        """Build the record from a union mask of all nuclei, giving each cell its own nucleus.

        Parameters
        ----------
        name : str
            Name of the image.
        image : (H, W) or (H, W, 3) uint8 array
            The picture.
        cells : (N, H, W) bool array
            The whole mask of each cell.
        nuclei : (H, W) bool array
            Union mask of all nuclei, see `declump.datasets.assign_nuclei`.

        Returns
        -------
        AnnotatedImage
        """
        try:
            labels, seeds = assign_nuclei(cells, nuclei)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        return cls(name, image, cells, labels, seeds)

    @property
    def nuclei(self) -> NDArray[np.bool_]:
        """(N, H, W) bool: each cell's own nucleus; empty where the data has none for that cell."""
        owners = np.arange(1, len(self.cells) + 1, dtype=self.nucleus_labels.dtype)
        return np.asarray(self.nucleus_labels == owners[:, None, None])

    @property
    def clump(self) -> NDArray[np.bool_]:
        """(H, W) bool: the union of all cells."""
        return np.asarray(self.cells.any(axis=0))
