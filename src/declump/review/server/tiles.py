"""An image in tiles, at any zoom: what the page shows of it, however large it is."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from declump.pictures import to_display

SIDE = 512
"""Pixels of a side of a tile."""
QUALITY = 90
"""Of the JPEG files."""


class TilePyramid:
    """An image at its full size, at half of it, and so on.

    Parameters
    ----------
    picture : (H, W[, channels])
    """

    def __init__(self, picture: NDArray[Any]) -> None:
        level = to_display(picture)
        self.levels = [level]
        while max(level.shape[:2]) > SIDE:
            level = _halve(level)
            self.levels.append(level)
        self.deepest = math.ceil(math.log2(max(self.levels[0].shape[:2])))

    def tile(self, level: int, column: int, row: int) -> bytes | None:
        """Give a tile as JPEG; None if there is none.

        Parameters
        ----------
        level : int
            ``deepest`` is the full size, each below it half the one above.
        column, row : int
        """
        down = self.deepest - level
        if not 0 <= down < len(self.levels) or row < 0 or column < 0:
            return None
        part = self.levels[down][row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE]
        return encode(part) if part.size else None

    def describe(self) -> dict[str, Any]:
        """What a page needs to know before it asks for tiles."""
        shape = list(self.levels[0].shape[:2])
        return {"shape": shape, "tiles": {"deepest": self.deepest, "shallowest": self.shallowest}}

    def crop(self, top: int, left: int, bottom: int, right: int) -> bytes | None:
        """Give a part of the image as JPEG, its longest side about that of a tile at most; None for an empty one."""
        part = self.levels[0][top:bottom, left:right]
        while part.size and max(part.shape[:2]) > SIDE:
            part = _halve(part)
        return encode(part) if part.size else None

    @property
    def shallowest(self) -> int:
        """The lowest level that is kept: one tile."""
        return self.deepest - len(self.levels) + 1


def encode(picture: NDArray[np.uint8]) -> bytes:
    """Give a picture (H, W, 3) as JPEG."""
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(picture)).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def _halve(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Means of two by two pixels; at an odd border of what there is."""
    padded = np.pad(picture, [(0, picture.shape[0] % 2), (0, picture.shape[1] % 2), (0, 0)], mode="edge")
    height, width = padded.shape[0] // 2, padded.shape[1] // 2
    sums = padded.reshape(height, 2, width, 2, 3).sum(axis=(1, 3), dtype=np.uint16)
    return np.asarray((sums + 2) // 4, dtype=np.uint8)
