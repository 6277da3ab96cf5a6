"""Frames that teach the smear network, and what is known of each: a head learns only where its truth exists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.regions.channels import to_channels

Bytes = NDArray[np.uint8]

UNKNOWN = 255
"""Value of pixels of a plane of which the answer is not known."""
UNIT = 200
"""Level of a clear background in the stored colours."""
NUCLEUS, LEUKOCYTE, RED_CELL, OTHER, NOTHING, DOUBTFUL = range(6)
"""Kinds of marks. ``NOTHING``: none of the others lies there. ``DOUBTFUL``: nobody knows what does."""
NUCLEI_TOLD, OTHERS_TOLD, GRADES_TOLD = 1, 2, 4
"""Bits of the plane of what is told: that there is no centre of a nucleus, of another object, of an abnormal nucleus
where none is marked."""
ROW, COLUMN, KIND, ABNORMAL, HIGH, RADIUS = range(6)
"""Columns of marks. Abnormal and of high grade: 1, 0, or -1 where that is not known; the radius is 0 where it is not
known."""


@dataclass(frozen=True, eq=False)
class Frame:
    """One training image.

    Attributes
    ----------
    name : str
    looks : sequence of (H, W) or (H, W, 3) uint8
        The image in one or several stains, a clear background having the level ``UNIT``.
    marks : (N, 6) float32
        What lies where.
    told : (H, W) uint8
        Bits of what is known of centres.
    clump, nucleus, layers : (H, W) uint8, optional
        1 or 0, or ``UNKNOWN``; the number of layers up to 3. None where nothing is known.
    is_drawn : bool
        Whether its clump was drawn by hand.
    """

    name: str
    looks: list[Bytes]
    marks: NDArray[np.float32]
    told: Bytes
    clump: Bytes | None = None
    nucleus: Bytes | None = None
    layers: Bytes | None = None
    is_drawn: bool = False
    rare: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        """Note which marks are drawn more often: abnormal nuclei, and what is not a nucleus."""
        rare = (self.marks[:, ABNORMAL] == 1) | np.isin(self.marks[:, KIND], (LEUKOCYTE, RED_CELL, OTHER))
        object.__setattr__(self, "rare", np.flatnonzero(rare))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.told.shape[0], self.told.shape[1]


def to_look(image: NDArray[Any]) -> Bytes:
    """Colours (H, W) or (H, W, 3) relative to the background, as the network sees an image."""
    luminance, blue, red = to_channels(image)
    if image.ndim == 2 or not (blue.any() or red.any()):
        return _to_bytes(luminance)
    green = luminance - (0.299 * red + 0.114 * blue) / 0.587
    return _to_bytes(np.stack([luminance + red, green, luminance + blue], axis=2))


def _to_bytes(colours: NDArray[np.float32]) -> Bytes:
    return np.clip(np.rint(colours * UNIT), 0, 255).astype(np.uint8)


def make_marks(
    points: NDArray[Any], kind: int = NUCLEUS, *, abnormal: float = -1, high: float = -1, radius: float = 0
) -> NDArray[np.float32]:
    """Marks of points (N, 2) that are all of one kind."""
    marks = np.empty((len(points), 6), np.float32)
    marks[:, :2] = np.asarray(points, np.float32).reshape(-1, 2)
    marks[:, 2:] = kind, abnormal, high, radius
    return marks
