import numpy as np
from numpy.typing import NDArray

from declump._kernels.types import Floats

OUTSIDE: int
RING: int
BAND: int
"""Marks of pixels: nothing is done, derivatives are taken, the function changes."""

def mark_band(phi: Floats, reach: int, marks: NDArray[np.uint8], band: NDArray[np.int32]) -> int: ...
def flow(
    phi: Floats,
    edge: Floats,
    push: Floats,
    centre_row: float,
    centre_column: float,
    step: float,
    regularity: float,
    length: float,
    star: float,
    width: float,
    tails: bool,
    steps: int,
    reach: int,
    renewal: int,
) -> None: ...
