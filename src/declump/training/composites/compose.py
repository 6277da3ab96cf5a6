"""Composites: crops of real frames with further real cells, leukocytes and debris on them, all of them known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.datasets import AnnotatedImage
from declump.datasets.marked import MarkedNuclei
from declump.records.regions import Regions
from declump.training.composites.colouring import colour_cells
from declump.training.composites.cutouts import CutOut, Floats, cut_cells, cut_lone_cells, cut_others
from declump.training.composites.pasting import Laid, lay, transform

CROP = 448
"""Sides of a composite in pixels; a smaller frame stays as it is."""
CELLS, OTHERS = (1, 6), (0, 10)
"""Least and largest number of cells, and of other things, that are laid onto a crop."""
ON_CELLS = 0.75
"""Share of what is laid onto or beside cells; the rest falls anywhere."""
COVERED = 0.3
"""A cell is not laid where more than this share of its nucleus would lie on others."""
TRIES = 8
"""How often a place is drawn for a cell."""


@dataclass(frozen=True, eq=False)
class Stock:
    """What composites are made of; taken only from images that teach.

    Attributes
    ----------
    cells, others : list of CutOut
        Cells that lay free; leukocytes and debris.
    frames : list of AnnotatedImage
        What they are laid onto.
    """

    cells: list[CutOut] = field(default_factory=list)
    others: list[CutOut] = field(default_factory=list)
    frames: list[AnnotatedImage] = field(default_factory=list)

    def add(self, image: AnnotatedImage | MarkedNuclei, regions: Regions | None = None) -> None:
        """Take from an image all that can be used of it; cells of one with marked nuclei need its regions."""
        if isinstance(image, AnnotatedImage):
            self.cells.extend(cut_cells(image))
            self.frames.append(image)
            self.others.extend(cut_others(MarkedNuclei.from_cells(image)))
        else:
            self.cells.extend(cut_lone_cells(image, regions) if regions is not None else [])
            self.others.extend(cut_others(image))

    def compose(self, count: int, seed: int) -> Iterator[AnnotatedImage]:
        """Make composites, one after another; every second one of grey frames is in colour.

        Raises
        ------
        ValueError
            If there is no frame, or no cell that lies free.
        """
        if count and not (self.frames and self.cells):
            raise ValueError("composites are made of annotated images with cells that lie free; there is none")
        for index in range(count):
            rng = np.random.default_rng([seed, index])
            frame = self.frames[int(rng.integers(len(self.frames)))]
            made = self._compose(_crop(frame, rng), f"composite {seed} {index}", rng)
            yield colour_cells(made, rng) if index % 2 else made

    def _compose(self, frame: AnnotatedImage, name: str, rng: np.random.Generator) -> AnnotatedImage:
        factor = _clear(frame.image)
        clump, taken = frame.clump, frame.nucleus_labels > 0
        laid: list[Laid] = []
        for _ in range(int(rng.integers(CELLS[0], CELLS[1] + 1))):
            found = _lay_cell(factor, self.cells[int(rng.integers(len(self.cells)))], clump, taken, rng)
            if found is not None:
                clump[found.window] |= found.cell
                taken[found.window] |= found.nucleus
                laid.append(found)
        lay_others(factor, self.others, clump, rng, int(rng.integers(OTHERS[0], OTHERS[1] + 1)))
        return _add_cells(replace(frame, name=name, image=_pass_light(frame.image, factor)), laid)


def lay_others(
    factor: Floats, others: Sequence[CutOut], clump: NDArray[np.bool_], rng: np.random.Generator, count: int
) -> None:
    """Multiply leukocytes and debris onto the light (H, W, C) that passes, most of them onto clumps (H, W)."""
    for _ in range(count if others else 0):
        cut = transform(others[int(rng.integers(len(others)))], rng)
        lay(factor, cut, _draw_place(clump, rng))


def paste_others(image: MarkedNuclei, others: Sequence[CutOut], count: int, seed: int) -> MarkedNuclei:
    """Give a copy of an image with so many leukocytes and bits of debris on it; its marked nuclei are the same."""
    factor = _clear(image.image)
    clump = ndimage.gaussian_filter(np.asarray(image.image, np.float32), (4, 4, 0)[: image.image.ndim])
    clump = clump if clump.ndim == 2 else clump.mean(axis=2)
    lay_others(factor, others, clump < 0.9 * np.percentile(clump, 95), np.random.default_rng(seed), count)
    return replace(image, image=_pass_light(image.image, factor))


def _lay_cell(
    factor: Floats, cut: CutOut, clump: NDArray[np.bool_], taken: NDArray[np.bool_], rng: np.random.Generator
) -> Laid | None:
    """Lay a cell where its nucleus stays visible and hides no other."""
    moved = transform(cut, rng)
    for _ in range(TRIES):
        place, tried = _draw_place(clump, rng), np.ones_like(factor)
        found = lay(tried, moved, place)
        if found is None or found.nucleus.sum() < moved.nucleus.sum():
            continue
        shared = np.count_nonzero(taken[found.window] & found.nucleus)
        if shared <= COVERED * np.count_nonzero(found.nucleus):
            factor *= tried
            return found
    return None


def _draw_place(clump: NDArray[np.bool_], rng: np.random.Generator) -> tuple[int, int]:
    on_cells = np.flatnonzero(clump) if rng.random() < ON_CELLS else np.zeros(0, np.intp)
    index = on_cells[rng.integers(on_cells.size)] if on_cells.size else rng.integers(clump.size)
    row, column = divmod(int(index), clump.shape[1])
    return row, column


T = TypeVar("T", bound=np.generic)


def _crop(frame: AnnotatedImage, rng: np.random.Generator) -> AnnotatedImage:
    """Cut a square out of a frame, turned by quarters; cells of which nothing is in it are left out."""
    corner = [int(rng.integers(max(side - CROP, 0) + 1)) for side in frame.image.shape[:2]]
    window = tuple(slice(start, start + CROP) for start in corner)
    turns, mirrored = int(rng.integers(4)), bool(rng.random() < 0.5)

    def cut(plane: NDArray[T]) -> NDArray[T]:
        turned = np.rot90(plane[window], turns)
        return np.ascontiguousarray(turned[::-1] if mirrored else turned)

    masks = [cut(cell) for cell in frame.cells]
    kept = [index for index, mask in enumerate(masks) if mask.any()]
    image = cut(frame.image)
    cells = np.stack([masks[index] for index in kept]) if kept else np.zeros((0, *image.shape[:2]), np.bool_)
    numbers = np.zeros(len(frame.cells) + 1, np.int32)
    numbers[np.array(kept, dtype=np.int64) + 1] = np.arange(1, len(kept) + 1)
    labels = numbers[cut(frame.nucleus_labels)]
    return AnnotatedImage(frame.name, image, cells, labels, _find_seeds(cells, labels))


def _add_cells(frame: AnnotatedImage, laid: Sequence[Laid]) -> AnnotatedImage:
    cells = np.zeros((len(frame.cells) + len(laid), *frame.image.shape[:2]), np.bool_)
    cells[: len(frame.cells)] = frame.cells
    labels = frame.nucleus_labels.copy()
    for number, thing in enumerate(laid, start=len(frame.cells)):
        cells[number][thing.window] = thing.cell
        labels[thing.window][thing.nucleus & (labels[thing.window] == 0)] = number + 1
    return replace(frame, cells=cells, nucleus_labels=labels, seeds=_find_seeds(cells, labels))


def _find_seeds(cells: NDArray[np.bool_], labels: NDArray[np.int32]) -> NDArray[np.float64]:
    """The pixel of each nucleus that is nearest to its middle, or of the cell where its nucleus is not in the image."""
    seeds = np.zeros((len(cells), 2))
    for index, cell in enumerate(cells):
        own = np.argwhere((labels == index + 1) & cell)
        own = own if len(own) else np.argwhere(cell)
        seeds[index] = own[np.hypot(*(own - own.mean(axis=0)).T).argmin()]
    return seeds


def _clear(image: NDArray[np.generic]) -> Floats:
    """Light (H, W, C) that passes where nothing is laid onto an image."""
    return np.ones(image.shape if image.ndim == 3 else (*image.shape, 1), np.float32)


def _pass_light(image: NDArray[Any], factor: Floats) -> NDArray[Any]:
    pixels = np.asarray(image, np.float32) * factor.reshape(image.shape)
    if np.issubdtype(image.dtype, np.floating):
        return pixels.astype(image.dtype)
    return np.asarray(np.clip(np.rint(pixels), 0, np.iinfo(image.dtype).max), image.dtype)
