import numpy as np
from numpy.typing import NDArray

def outstanding_peaks(levels: NDArray[np.uint8], height: int) -> NDArray[np.bool_]: ...
