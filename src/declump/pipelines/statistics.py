"""The sizes of cells and nuclei that an image has: what completes its statistics once its regions are found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from declump.evolution.evolve import scale_by_areas
from declump.records.statistics import ImageStatistics
from declump.shapes import contours
from declump.shapes.prior import ShapePrior


def complete(
    statistics: ImageStatistics,
    clumps: Sequence[int],
    members: Sequence[int],
    nuclei: ArrayLike,
    prior: ShapePrior,
) -> ImageStatistics:
    """Add the sizes of cells and nuclei, by the clumps of the image and the nuclei that were accepted in them.

    Parameters
    ----------
    statistics : ImageStatistics
    clumps, members : sequence of int
        Pixels of each clump, and the number of its nuclei.
    nuclei : (N,) int
        Pixels of each nucleus. Where there is none, cells and nuclei have the usual size.
    prior : ShapePrior
    """
    scale = scale_by_areas(clumps, members, prior)
    areas = np.asarray(nuclei)
    disc = math.pi * statistics.diameter**2 / 4
    return replace(
        statistics,
        scale=scale,
        nucleus_area=float(areas.sum() / areas.size) if areas.size else disc,
        cell_area=float(contours.area(prior.mean)) * scale**2,
    )
