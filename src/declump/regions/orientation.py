"""A window as a network should see it: the same whichever way round the image lies.

A network says nearly the same of a window and of its mirror image, but not quite. So a window is turned and mirrored
until what is dark in it lies to the lower right, more to the right than below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Orientation:
    """How a window is turned and mirrored.

    Attributes
    ----------
    upturned, mirrored : bool
        Whether rows, and columns, are counted from the other end.
    swapped : bool
        Whether rows become columns then.
    """

    upturned: bool = False
    mirrored: bool = False
    swapped: bool = False

    @classmethod
    def as_it_leans(cls, luminance: Floats) -> Orientation:
        """Find how a window (H, W) is turned and mirrored."""
        darkness = np.maximum(1 - luminance, 0)
        down = _lean(darkness.sum(axis=1, dtype=np.float64))
        right = _lean(darkness.sum(axis=0, dtype=np.float64))
        return cls(down < 0, right < 0, abs(down) > abs(right))

    def see(self, planes: Floats) -> Floats:
        """Turn planes (C, H, W) as the network is to see them."""
        turned = planes[:, :: -1 if self.upturned else 1, :: -1 if self.mirrored else 1]
        return np.ascontiguousarray(turned.swapaxes(1, 2) if self.swapped else turned)


def _lean(profile: NDArray[np.float64]) -> float:
    """How far from the middle the weight of a profile lies, from -1 to 1; 0 where there is none."""
    places = np.linspace(-1, 1, profile.size) if profile.size > 1 else np.zeros(1)
    total = float(profile.sum())
    # Ends are paired, so that a mirrored profile gives the very same number with another sign.
    return float(np.sum(places * (profile - profile[::-1])) / 2 / total) if total > 0 else 0.0
