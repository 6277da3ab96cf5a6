"""Spots of a large image, each with the few pixels that it has: all that may be a nucleus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.records.boxes import Box
from declump.records.regions import seeds_from_labels


@dataclass(frozen=True, eq=False)
class Spots:
    """Spots in the order in which they are met along the rows of the image.

    Attributes
    ----------
    boxes : (S, 4) int64
        Where they lie: top, left, bottom, right.
    masks : sequence of (h, w) bool
        Their pixels, in their boxes.
    probability : (S,) float64
        Probability that each is the nucleus of a cell.
    leukocyte : (S,) float64
        Probability that each is a leukocyte.
    """

    boxes: NDArray[np.int64]
    masks: Sequence[NDArray[np.bool_]]
    probability: NDArray[np.float64]
    leukocyte: NDArray[np.float64]

    def __len__(self) -> int:
        """Return their number."""
        return len(self.masks)

    def box(self, index: int) -> Box:
        """Where one of them lies."""
        return Box(*self.boxes[index].tolist())

    def find_seed(self, index: int) -> NDArray[np.float64]:
        """Row and column (2,) of a point in one of them: its centroid, or its nearest pixel to that."""
        return np.asarray(seeds_from_labels(self.masks[index])[0] + self.boxes[index, :2])

    def choose(self, chosen: NDArray[Any]) -> Spots:
        """Give some of them, by truth values or numbers."""
        rows = np.arange(len(self))[chosen]
        masks = [self.masks[row] for row in rows.tolist()]
        return Spots(self.boxes[rows], masks, self.probability[rows], self.leukocyte[rows])

    def move(self, down: int, right: int) -> Spots:
        """Move them by so many pixels."""
        boxes = self.boxes + np.array([down, right, down, right])
        return Spots(boxes, self.masks, self.probability, self.leukocyte)

    def sort(self) -> Spots:
        """Bring them into their order, by the first pixel of each."""
        return self.choose(np.lexsort((self._first_columns(), self.boxes[:, 0])))

    def meet(self, box: Box) -> NDArray[np.int64]:
        """Numbers of those whose boxes share a pixel with a box."""
        top, left, bottom, right = self.boxes.T
        near = (top < box.bottom) & (bottom > box.top) & (left < box.right) & (right > box.left)
        return np.flatnonzero(near)

    def _first_columns(self) -> NDArray[np.int64]:
        """Column of the first pixel of each in its first row."""
        inner = np.array([int(mask[0].argmax()) for mask in self.masks], dtype=np.int64)
        return self.boxes[:, 1] + inner

    @property
    def first_pixels(self) -> NDArray[np.int64]:
        """Row and column (S, 2) of the pixel of each that is met first."""
        return np.column_stack([self.boxes[:, 0], self._first_columns()])

    @classmethod
    def join(cls, parts: Iterable[Spots], *, sort: bool = True) -> Spots:
        """Put spots of several parts of an image together, in their order, or one part after the other."""
        every = [part for part in parts if len(part)]
        if not every:
            return cls(np.empty((0, 4), np.int64), (), np.empty(0), np.empty(0))
        joined = cls(
            np.concatenate([part.boxes for part in every]),
            [mask for part in every for mask in part.masks],
            np.concatenate([part.probability for part in every]),
            np.concatenate([part.leukocyte for part in every]),
        )
        return joined.sort() if sort else joined

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Give them as a few arrays, for files."""
        bits = np.concatenate([mask.ravel() for mask in self.masks]) if len(self) else np.empty(0, np.bool_)
        return {
            "boxes": self.boxes,
            "pixels": np.packbits(bits),
            "probability": self.probability,
            "leukocyte": self.leukocyte,
        }

    @classmethod
    def from_arrays(cls, arrays: Any) -> Spots:
        """Read them back."""
        boxes = np.asarray(arrays["boxes"], np.int64)
        shapes = (boxes[:, 2:] - boxes[:, :2]).tolist()
        ends = np.cumsum([height * width for height, width in shapes], dtype=np.int64)
        bits = np.unpackbits(arrays["pixels"], count=int(ends[-1]) if len(ends) else 0).astype(np.bool_)
        masks = [
            part.reshape(shape) for part, shape in zip(np.split(bits, ends[:-1]) if shapes else [], shapes, strict=True)
        ]
        return cls(boxes, masks, np.asarray(arrays["probability"]), np.asarray(arrays["leukocyte"]))
