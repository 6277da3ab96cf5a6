"""From classes of pixels alone to regions, as the paper has them: every piece of nucleus in a clump is one nucleus."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.models import NUCLEUS_DIAMETER
from declump.records.regions import Regions
from declump.regions.cleaning import clean_clump
from declump.regions.nuclei import is_cut

NUCLEUS = 2
"""Number of the class, after background and cytoplasm."""
MIN_NUCLEUS_AREA, MIN_CLUMP_AREA = 100.0, 1000.0
"""Smallest nucleus and smallest clump of the paper's authors in square pixels, for nuclei of the usual diameter."""


def read_classes(
    classes: NDArray[np.uint8],
    diameter: float,
    *,
    min_nucleus_area: float | None = None,
    min_clump_area: float | None = None,
    max_hole_area: float = 0.0,
    cut_nuclei: bool = False,
) -> Regions:
    """Read regions from the classes of pixels.

    Nuclei that touch are one, as the paper assumes that none do, and holes of clumps stay unless an area is given.

    Parameters
    ----------
    classes : (H, W)
        0 background, 1 cytoplasm, 2 nucleus.
    diameter : float
        Usual diameter of a nucleus in pixels; the least areas follow from it.
    min_nucleus_area, min_clump_area : float, optional
        Smallest nucleus and smallest clump in square pixels.
    max_hole_area : float
        Largest hole in a clump that is filled, in square pixels.
    cut_nuclei : bool
        Whether nuclei that the image border cuts count.

    Returns
    -------
    Regions
        Without layers and candidates.
    """
    from skimage.measure import label, regionprops

    unit = (diameter / NUCLEUS_DIAMETER) ** 2
    least_clump = MIN_CLUMP_AREA * unit if min_clump_area is None else min_clump_area
    least_nucleus = MIN_NUCLEUS_AREA * unit if min_nucleus_area is None else min_nucleus_area
    clump = clean_clump(classes > 0, max_hole_area, least_clump)
    nuclei = np.zeros(classes.shape, np.int32)
    count = 0
    for piece in regionprops(label((classes == NUCLEUS) & clump, connectivity=2)):
        if piece.area >= max(least_nucleus, 1) and (cut_nuclei or not is_cut(piece, classes.shape)):
            count += 1
            nuclei[piece.slice][piece.image] = count
    return Regions(clump, nuclei)
