"""The outline of a mask: where it turns inwards, and how rough it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from declump.seeds.concavity import STEP, SizedOutline, bends

if TYPE_CHECKING:
    from scipy.spatial import KDTree

Floats = NDArray[np.float64]

NEAREST = 3.0
"""Farther than this from a point, in pixels, the outline does not tell about it."""
SMOOTH, WIDE = 3.0, 9.0
"""Standard deviations in pixels of two smoothings: what the first takes away, slow changes apart, is roughness."""


@dataclass(frozen=True)
class Outline:
    """Outlines of a mask and of its holes.

    Attributes
    ----------
    points : (P, 2) float64
        Row and column.
    turns : (P,) float64
        How far each point lies inwards of the line between the ends of its arms to both sides, in lengths of an arm:
        more than 0 at a notch.
    roughness : float
        How far points usually lie beside a smoother outline, in pixels.
    """

    points: Floats
    turns: Floats
    roughness: float

    @classmethod
    def of(cls, outlines: list[SizedOutline]) -> Self:
        """Look at the outlines of a mask."""
        from scipy import ndimage

        points, turns, beside = [], [], []
        for outline in outlines:
            below, arms, inwards = bends(outline.points, outline.length, outline.sizes)
            smoother = ndimage.gaussian_filter1d(outline.points, SMOOTH / STEP, axis=0, mode="wrap")
            offsets = np.sum((outline.points - smoother) * inwards, axis=1)
            points.append(outline.points)
            turns.append(below / arms)
            beside.append(offsets - ndimage.gaussian_filter1d(offsets, WIDE / STEP, mode="wrap"))
        return cls(np.concatenate(points), np.concatenate(turns), float(np.median(np.abs(np.concatenate(beside)))))

    def corners(self, places: Floats) -> Floats:
        """How sharply (N,) the outline turns inwards at most next to each place (N, 2); 0 away from the outline."""
        near = self._tree.query_ball_point(places, NEAREST)
        return np.array([self.turns[found].max() if found else 0.0 for found in near])

    @cached_property
    def _tree(self) -> KDTree:
        from scipy.spatial import KDTree

        return KDTree(self.points)
