"""Colours of the cells of a segmentation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.drawing.palette import separate_colours
from declump.records.segmentation import Segmentation


def category_colours(segmentation: Segmentation) -> NDArray[np.int64]:
    """Give cells that touch different colours.

    Parameters
    ----------
    segmentation : Segmentation

    Returns
    -------
    (N,) int64
        Indices into ``COLOURS``.
    """
    return separate_colours(segmentation.seeds, segmentation.radii)
