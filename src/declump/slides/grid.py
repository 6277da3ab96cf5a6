"""The tiles of a slide: which there are, and which of them show anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.records.boxes import Box
from declump.records.statistics import Exposure
from declump.regions.channels import to_channels

EMPTY = 0.03
"""Where no pixel of the thumbnail differs from the background by more than this share of it, there is nothing."""
HALO = 2
"""Pixels of the thumbnail round a tile that are looked at, too: a thumbnail is made of means."""


@dataclass(frozen=True)
class Grid:
    """Tiles without overlap, numbered along the rows.

    Attributes
    ----------
    shape : (H, W)
        Of the slide.
    tile : int
        Sides of the tiles; those at the far borders are smaller.
    """

    shape: tuple[int, int]
    tile: int

    @property
    def counts(self) -> tuple[int, int]:
        """Number of rows and of columns of tiles."""
        return -(-self.shape[0] // self.tile), -(-self.shape[1] // self.tile)

    def __len__(self) -> int:
        """Return the number of tiles."""
        return self.counts[0] * self.counts[1]

    def box(self, number: int) -> Box:
        """Where a tile lies."""
        row, column = divmod(number, self.counts[1])
        top, left = row * self.tile, column * self.tile
        return Box(top, left, min(top + self.tile, self.shape[0]), min(left + self.tile, self.shape[1]))

    def find_meeting(self, box: Box) -> list[int]:
        """Numbers of the tiles that share a pixel with a box."""
        rows = range(box.top // self.tile, (box.bottom - 1) // self.tile + 1)
        columns = range(box.left // self.tile, (box.right - 1) // self.tile + 1)
        return [row * self.counts[1] + column for row in rows for column in columns]

    def find_filled(self, thumbnail: NDArray[Any], exposure: Exposure) -> list[int]:
        """Numbers of the tiles that show anything."""
        luminance, *chrominances = to_channels(thumbnail, exposure)
        # The background itself varies over a slide: what is brighter than it shows nothing either.
        differs = (np.abs(chrominances).max(axis=0) > EMPTY) | (luminance < 1 - EMPTY)
        differs = ndimage.maximum_filter(differs, 2 * HALO + 1)
        scale = [small / whole for small, whole in zip(differs.shape, self.shape, strict=True)]
        filled = []
        for number in range(len(self)):
            box = self.box(number)
            rows, columns = (
                slice(int(start * by), max(int(np.ceil(stop * by)), int(start * by) + 1))
                for start, stop, by in zip(box[:2], box[2:], scale, strict=True)
            )
            if differs[rows, columns].any():
                filled.append(number)
        return filled
