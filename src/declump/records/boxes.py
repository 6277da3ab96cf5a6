"""Boxes of pixels in a large image, of which only parts are at hand."""

from __future__ import annotations

from typing import NamedTuple


class Box(NamedTuple):
    """Rows from top to bottom and columns from left to right, the last ones not included."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.bottom - self.top, self.right - self.left

    @property
    def size(self) -> int:
        """Number of pixels."""
        return self.shape[0] * self.shape[1]

    @property
    def slices(self) -> tuple[slice, slice]:
        """What to take out of the whole image."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    def grow(self, margin: int, shape: tuple[int, ...], multiple: int = 1) -> Box:
        """Widen by at least a margin, as far as an image (H, W) goes, so that it begins at multiples of a number."""
        top, left = (max(side - margin, 0) // multiple * multiple for side in self[:2])
        bottom, right = (min(side + margin, whole) for side, whole in zip(self[2:], shape, strict=False))
        return Box(top, left, bottom, right)

    def shrink(self, margin: int, shape: tuple[int, ...]) -> Box:
        """Narrow by a margin on the sides that are not borders of the image (H, W)."""
        top, left = (side + margin if side else 0 for side in self[:2])
        bottom, right = (side if side >= whole else side - margin for side, whole in zip(self[2:], shape, strict=False))
        return Box(top, left, max(bottom, top), max(right, left))

    def within(self, outer: Box) -> tuple[slice, slice]:
        """What to take out of an array of the pixels of another box that holds this one."""
        return self.move(-outer.top, -outer.left).slices

    def move(self, down: int, right: int) -> Box:
        """Move by so many pixels."""
        return Box(self.top + down, self.left + right, self.bottom + down, self.right + right)

    def meet(self, other: Box) -> Box:
        """What two boxes share; it may be empty."""
        top, left = max(self.top, other.top), max(self.left, other.left)
        return Box(top, left, max(min(self.bottom, other.bottom), top), max(min(self.right, other.right), left))

    def join(self, other: Box) -> Box:
        """The smallest box that holds two."""
        top, left = map(min, self[:2], other[:2])
        bottom, right = map(max, self[2:], other[2:])
        return Box(top, left, bottom, right)

    def holds(self, other: Box) -> bool:
        """Whether the other box lies in this one."""
        return self.meet(other) == other
