"""Annotated images, put aside for the processes of a run: each takes one at a time, in any order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.datasets import AnnotatedImage
from declump.evaluation import overlap_degree
from declump.records.clump import split_clumps
from declump.regions import Regions
from declump_paper.research.storage import read_arrays, write_arrays


@dataclass(frozen=True)
class Images:
    """All images of a data set, in files.

    Attributes
    ----------
    folder : Path
        Where they are put aside.
    names, digests : tuple of str
        Their names, and what tells the content of each apart from any other.
    cells : tuple of int
        Number of cells of each.
    clump_cells : tuple of tuples of int
        For each image the number of cells of each of its clumps.
    """

    folder: Path
    names: tuple[str, ...]
    digests: tuple[str, ...]
    cells: tuple[int, ...]
    clump_cells: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.names)

    def load(self, index: int) -> AnnotatedImage:
        """Read one image."""
        arrays, _ = self._read(index)
        shape = arrays["labels"].shape
        cells = np.unpackbits(arrays["cells"], axis=1, count=shape[0] * shape[1]).view(np.bool_)
        return AnnotatedImage(
            self.names[index], arrays["image"], cells.reshape(-1, *shape), arrays["labels"], arrays["seeds"]
        )

    def degrees(self, index: int) -> NDArray[np.float64]:
        """Overlap degree (N,) of each true cell of one image."""
        return np.asarray(self._read(index)[0]["degrees"])

    def _read(self, index: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        found = read_arrays(self.folder / f"{index}.npz")
        if found is None:
            raise ValueError(f"the image {self.names[index]} was put aside in {self.folder} and is gone; start again")
        return found


def store_images(
    images: Iterable[AnnotatedImage], folder: Path, progress: Callable[[int, int | None], None] | None = None
) -> Images:
    """Write all images into a folder.

    Raises
    ------
    ValueError
        If there is no image with a cell, or two have the same name.
    """
    names, digests, cells, clump_cells = [], [], [], []
    for index, image in enumerate(images):
        packed = np.packbits(image.cells.reshape(len(image.cells), image.clump.size), axis=1)
        parts = (image.image, packed, image.nucleus_labels, image.seeds)
        digest = hashlib.sha256()
        for part in parts:
            digest.update(str(part.shape).encode() + np.ascontiguousarray(part).tobytes())
        arrays: dict[str, NDArray[Any]] = dict(zip(("image", "cells", "labels", "seeds"), parts, strict=True))
        arrays["degrees"] = overlap_degree(image.cells)
        write_arrays(folder / f"{index}.npz", arrays, {"name": image.name}, compressed=False)
        names.append(image.name)
        digests.append(digest.hexdigest()[:16])
        cells.append(len(image.cells))
        members = [len(clump.cells) for clump in split_clumps(image.clump, true_regions(image).seeds)]
        clump_cells.append(tuple(members))
        if progress:
            progress(index + 1, None)
    if not sum(cells):
        raise ValueError("the data holds no annotated cell; give images with whole masks of their cells")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two images are called {min(twice)!r}; give every image a name of its own")
    return Images(folder, tuple(names), tuple(digests), tuple(cells), tuple(clump_cells))


def true_regions(image: AnnotatedImage) -> Regions:
    """Give the true clump and nuclei, one nucleus a cell in the order of the cells.

    A cell without an annotated nucleus gets the pixel at its seed for one, or the nearest pixel of the cell that is no
    other nucleus'.
    """
    labels = image.nucleus_labels.copy()
    for index in np.flatnonzero(np.bincount(labels.ravel(), minlength=len(image.cells) + 1)[1:] == 0):
        free = np.argwhere(image.cells[index] & (labels == 0))
        if not len(free):
            raise ValueError(f"{image.name}: cell {index} lies wholly under nuclei of others, it cannot have a seed")
        nearest = free[((free - image.seeds[index]) ** 2).sum(axis=1).argmin()]
        labels[tuple(nearest)] = index + 1
    return Regions(image.clump, labels)
