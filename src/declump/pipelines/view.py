"""A clump and what is round it: all that its cells follow from, beside the statistics of the image."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from declump.records.boxes import Box
from declump.records.crops import Crop
from declump.records.spots import Spots

OWN, OTHER, SEVERED = 1, 2, 3
"""What belongs to the clump, what to another, and what was cut off it (:mod:`declump.pipelines.cutting`)."""


@dataclass(frozen=True, eq=False)
class ClumpView:
    """A clump in its box.

    Attributes
    ----------
    box : Box
        The pixels of the image that are looked at.
    channels : (3, h, w) float32
        See :func:`declump.regions.channels.to_channels`.
    labels : (h, w) uint8
        ``OWN`` where the clump is, ``OTHER`` where others are, ``SEVERED`` where it was cut, else 0.
    candidates : Spots
        All of the clump, and the accepted nuclei of others, that meet the box: a clump sees nothing else of others, so
        that it does not depend on the order of clumps.
    own : (S,) bool
        Which candidates are the clump's.
    accepted : (S,) bool
        Which are nuclei by themselves.
    is_classified : bool
        Whether candidates have probabilities.
    names : sequence of S hashables, optional
        Tell candidates apart, where answers of a network are kept from one view to the next.
    """

    box: Box
    channels: NDArray[np.float32]
    labels: NDArray[np.uint8]
    candidates: Spots
    own: NDArray[np.bool_]
    accepted: NDArray[np.bool_]
    is_classified: bool = True
    names: Sequence[Hashable] | None = None
    _pixels: dict[tuple[int, bool], Crop] = field(default_factory=dict, init=False, repr=False)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Pixels (h, w) of the clump."""
        return np.asarray(self.labels == OWN)

    def name(self, index: int) -> Hashable:
        """What tells a candidate apart."""
        return index if self.names is None else self.names[index]

    def pixels(self, index: int, *, own: bool) -> Crop:
        """Pixels of a candidate that lie in the clump, or in other ones; within the box."""
        if (index, own) not in self._pixels:
            place = self.candidates.box(index)
            seen = place.meet(self.box)
            labels = self.labels[seen.within(self.box)]
            within = self.candidates.masks[index][seen.within(place)] & (labels == OWN if own else labels >= OTHER)
            self._pixels[index, own] = Crop.of(within, seen.top - self.box.top, seen.left - self.box.left)
        return self._pixels[index, own]
