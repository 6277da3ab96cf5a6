"""An image as a network should see it: the same whichever way round it lies, and wherever it begins.

A network says nearly the same of an image and of its mirror image, but not quite, and what it says of a pixel depends a
little on where that lies in the lattice of its coarsest cells. So an image is turned and mirrored until what is dark in
it lies to the lower right, more to the right than below; and it is moved until its darkest pixel lies on the lattice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

EVERY = slice(None)


@dataclass(frozen=True)
class Orientation:
    """How an image is turned, mirrored and moved.

    Attributes
    ----------
    upturned, mirrored : bool
        Whether rows, and columns, are counted from the other end.
    swapped : bool
        Whether rows become columns then.
    above, before : int
        Rows and columns that are put before the first then; they repeat it.
    """

    upturned: bool = False
    mirrored: bool = False
    swapped: bool = False
    above: int = 0
    before: int = 0

    @classmethod
    def as_it_leans(cls, luminance: Floats) -> Orientation:
        """Find how an image (H, W) is turned and mirrored; it is not moved."""
        darkness = np.maximum(1 - luminance, 0)
        down = _lean(darkness.sum(axis=1, dtype=np.float64))
        right = _lean(darkness.sum(axis=0, dtype=np.float64))
        return cls(down < 0, right < 0, abs(down) > abs(right))

    @classmethod
    def of(cls, luminance: Floats, lattice: int) -> Orientation:
        """Find the orientation of an image (H, W) for a network whose coarsest cells are so many pixels wide."""
        turned = cls.as_it_leans(luminance)
        seen = turned.see(luminance[None])[0]
        row, column = np.unravel_index(int(seen.argmin()), seen.shape)
        return cls(turned.upturned, turned.mirrored, turned.swapped, int(-row % lattice), int(-column % lattice))

    def see(self, planes: Floats, rows: slice = EVERY, columns: slice = EVERY) -> Floats:
        """Turn planes (C, H, W) as the network is to see them; only some rows and columns of what it sees, if given."""
        turned = self.turn(planes)
        before, kept = [(0, 0)], []
        for part, moved, extent in zip((rows, columns), (self.above, self.before), turned.shape[1:], strict=True):
            start, stop, _ = part.indices(extent + moved)
            before.append((max(moved - start, 0), 0))
            kept.append(slice(max(start - moved, 0), stop - moved))
        turned = turned[:, *kept]
        return np.pad(turned, before, mode="edge") if np.any(before) else np.ascontiguousarray(turned)

    def extents(self, planes: Floats) -> tuple[int, int]:
        """Height and width of what the network sees of planes (C, H, W)."""
        height, width = self.turn(planes).shape[1:]
        return height + self.above, width + self.before

    def turn(self, planes: Floats) -> Floats:
        """View planes (C, H, W) turned and mirrored, not moved: what is put there goes into the planes themselves."""
        turned = planes[:, :: -1 if self.upturned else 1, :: -1 if self.mirrored else 1]
        return turned.swapaxes(1, 2) if self.swapped else turned


def _lean(profile: NDArray[np.float64]) -> float:
    """How far from the middle the weight of a profile lies, from -1 to 1; 0 where there is none."""
    places = np.linspace(-1, 1, profile.size) if profile.size > 1 else np.zeros(1)
    total = float(profile.sum())
    # Ends are paired, so that a mirrored profile gives the very same number with another sign.
    return float(np.sum(places * (profile - profile[::-1])) / 2 / total) if total > 0 else 0.0
