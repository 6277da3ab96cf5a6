"""The tiles of a slide."""

from __future__ import annotations

from dataclasses import dataclass

from declump.records.boxes import Box


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
