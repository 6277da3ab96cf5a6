"""Two nuclei in one cell: where the outlines proposed round two nuclei are the same, there is one cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from declump.evidence.candidates import iou
from declump.evidence.proposals import RayProposer
from declump.records.regions import Regions

SAME_CELL = 0.9
"""Intersection over union of two proposed outlines from which on they are of one cell."""


def join_nuclei_of_one_cell(regions: Regions, proposer: RayProposer) -> Regions:
    """Give two nuclei one number where the ray network sees the same cell round both.

    Parameters
    ----------
    regions : Regions
        Whose nuclei a judge looked at; others are left as they are.
    proposer : RayProposer
        Of the same image.

    Returns
    -------
    Regions
        With one nucleus, in two pieces, for such a pair; its probability is that of the surer one.
    """
    if regions.nucleus_probability is None or len(regions.seeds) < 2:
        return regions
    proposed = proposer.propose(regions)
    assert proposed.radii is not None
    numbers = _find_owners(regions.seeds, proposed.radii, regions.nucleus_probability)
    if (numbers == np.arange(numbers.size)).all():
        return regions
    nuclei = np.append(0, numbers + 1)[regions.nuclei]
    return replace(
        regions, nuclei=nuclei.astype(np.int32), nucleus_probability=regions.nucleus_probability[np.unique(numbers)]
    )


def _find_owners(
    seeds: NDArray[np.float64], radii: NDArray[np.float64], probability: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Number, from 0, of the nucleus (N,) that each belongs to: its own, or the surer one of the same cell."""
    owners, means = np.arange(len(seeds)), radii.mean(axis=1)
    for index in np.argsort(-probability, kind="stable"):
        near = np.hypot(*(seeds - seeds[index]).T) < np.minimum(means, means[index])
        for other in np.flatnonzero(near):
            surer = (probability[other], -other) > (probability[index], -index)
            # Only to one that is on its own: three nuclei in a row are not one cell.
            if surer and owners[other] == other and iou(seeds[[index, other]], radii[[index, other]]) >= SAME_CELL:
                owners[index] = other
                break
    return owners
