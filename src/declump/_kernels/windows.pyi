from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._kernels.types import Floats

def sample_affine(
    planes: NDArray[Any], unit: float, beyond: Floats, corner: Floats, steps: Floats, window: NDArray[np.float32]
) -> None: ...
def sample_number(
    labels: NDArray[np.int32], number: int, corner: Floats, steps: Floats, window: NDArray[np.float32]
) -> None: ...
def sample_polar(
    planes: NDArray[np.float32],
    nuclei: NDArray[np.int32],
    number: int,
    ignored: NDArray[np.int64],
    seed: Floats,
    others: Floats,
    rises: Floats,
    runs: Floats,
    step: float,
    lead: float,
    beyond: NDArray[np.float32],
    window: NDArray[np.float32],
) -> None: ...
