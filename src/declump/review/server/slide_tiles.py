"""A slide in tiles, at any zoom, read from the levels of its pyramid as they are asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from declump.pictures import to_display
from declump.records.boxes import Box
from declump.review.server.tiles import SIDE, encode
from declump.slides.readers import Slide

KEPT = 1000
"""Tiles that are kept as they were sent."""
LARGEST_STEP = 8
"""How many times smaller a tile may be than what is read for it; where levels are further apart, the smaller is
shown larger."""


class SlidePyramid:
    """The tiles of a slide; see :class:`declump.review.server.tiles.TilePyramid`.

    Parameters
    ----------
    levels : sequence of Slide
        The level that counts, and smaller ones.
    """

    def __init__(self, levels: Sequence[Slide]) -> None:
        self.shape = levels[0].shape
        self._levels = levels
        self.thumbnail = levels[0].read_overview()
        self._range = _find_range(self.thumbnail)
        self.steps = [self.shape[1] / level.shape[1] for level in levels]
        self._thumbnail_step = self.shape[1] / self.thumbnail.shape[1]
        self.deepest = math.ceil(math.log2(max(*self.shape, 2)))
        self.shallowest = self.deepest - max(math.ceil(math.log2(max(self.shape) / SIDE)), 0)
        self.tile = lru_cache(maxsize=KEPT)(self._make_tile)

    def _make_tile(self, level: int, column: int, row: int) -> bytes | None:
        if not self.shallowest <= level <= self.deepest or row < 0 or column < 0:
            return None
        step = 2 ** (self.deepest - level)
        side = SIDE * step
        height, width = self.shape
        part = Box(row * side, column * side, min((row + 1) * side, height), min((column + 1) * side, width))
        if part.top >= height or part.left >= width:
            return None
        return encode(self._show(part, step))

    def describe(self) -> dict[str, Any]:
        """What a page needs to know before it asks for tiles."""
        return {"shape": list(self.shape), "tiles": {"deepest": self.deepest, "shallowest": self.shallowest}}

    def crop(self, top: int, left: int, bottom: int, right: int) -> bytes | None:
        """Give a part of the slide as JPEG, its longest side about that of a tile at most; None for an empty one."""
        part = Box(top, left, bottom, right).meet(Box(0, 0, *self.shape))
        if not part.size:
            return None
        return encode(self._show(part, 2 ** max(math.ceil(math.log2(max(part.shape) / SIDE)), 0)))

    def _show(self, part: Box, step: int) -> NDArray[np.uint8]:
        """Pixels of a part of the slide, so many times smaller."""
        size = (max(-(-part.shape[1] // step), 1), max(-(-part.shape[0] // step), 1))
        index = max(number for number, own in enumerate(self.steps) if own <= 1.01 * step)
        own = self.steps[index]
        small = self._thumbnail_step <= 1.01 * step and self._thumbnail_step > own
        if small or step / own > LARGEST_STEP:
            own, shape = self._thumbnail_step, self.thumbnail.shape[:2]
        else:
            shape = self._levels[index].shape
        exact = [side / own for side in part]
        box = Box(math.floor(exact[0]), math.floor(exact[1]), math.ceil(exact[2]), math.ceil(exact[3]))
        box = box.meet(Box(0, 0, *shape))
        if not box.size:  # a last row or column that the smaller level has not
            box = Box(min(box.top, shape[0] - 1), min(box.left, shape[1] - 1), shape[0], shape[1])
        pixels = self.thumbnail[box.slices] if own == self._thumbnail_step else self._levels[index].read(box)
        shown = Image.fromarray(self._display(pixels))
        inner = (
            max(exact[1] - box.left, 0.0),
            max(exact[0] - box.top, 0.0),
            min(exact[3] - box.left, shown.width),
            min(exact[2] - box.top, shown.height),
        )
        if inner[0] >= inner[2] or inner[1] >= inner[3]:
            inner = (0.0, 0.0, float(shown.width), float(shown.height))
        if (shown.width, shown.height) != size or own != 1:
            shown = shown.resize(size, Image.Resampling.BOX if own < step else Image.Resampling.BILINEAR, box=inner)
        return np.asarray(shown)

    def _display(self, pixels: NDArray[Any]) -> NDArray[np.uint8]:
        """Pixels fit to look at, by the darkest and brightest of the whole slide."""
        if self._range is None:
            return to_display(pixels)
        low, high = self._range
        share = np.nan_to_num((pixels.astype(np.float32) - low) / (high - low))
        return to_display(np.rint(255 * np.clip(share, 0, 1)).astype(np.uint8))


def _find_range(thumbnail: NDArray[Any]) -> tuple[float, float] | None:
    """Darkest and brightest of a slide that is not in bytes."""
    if thumbnail.dtype in (np.uint8, np.bool_):
        return None
    values = thumbnail[np.isfinite(thumbnail)].astype(np.float64)
    low, high = np.percentile(values, (0.5, 99.5)) if values.size else (0.0, 1.0)
    return float(low), float(high) if high > low else float(low) + 1.0
