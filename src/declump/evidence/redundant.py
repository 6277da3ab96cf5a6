"""Doubtful nuclei that are redundant: a spot that may be no nucleus must lead to a cell that others do not cover."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from declump.evidence.candidates import drop_nuclei
from declump.evidence.proposals import RayProposer
from declump.records.crops import Crop, crop_contour
from declump.records.regions import Regions

SURE = 0.6
"""A nucleus that is less probable than this is doubtful. Both limits were chosen by nuclei of Cervix93 and of colour
frames (``benchmarks/redundant.py``)."""
OWN = 0.1
"""Least share of the cell proposed round a doubtful nucleus that lies in no other one."""


def drop_redundant(regions: Regions, proposer: RayProposer) -> Regions:
    """Make candidates of doubtful nuclei round which the ray network proposes what other cells cover already.

    Parameters
    ----------
    regions : Regions
        Whose nuclei a judge looked at; others are left as they are.
    proposer : RayProposer
        Of the same image.
    """
    probability = regions.nucleus_probability
    if probability is None or regions.candidate_probability is None or not (probability < SURE).any():
        return regions
    radii = proposer.propose(regions).radii
    assert radii is not None
    shape = (regions.clump.shape[0], regions.clump.shape[1])
    cells = [crop_contour(seed, row, shape) for seed, row in zip(regions.seeds, radii, strict=True)]
    redundant = find_redundant(cells, probability, regions.clump)
    return drop_nuclei(regions, redundant) if redundant.size else regions


def find_redundant(
    cells: Sequence[Crop], probability: NDArray[np.float64], clump: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Find doubtful cells of which too little, within the clump, lies in no other cell.

    A leukocyte or a bit of debris on a cell leads to an outline that others cover already. The one of which least is
    its own goes first; what it shared is then the others' own.

    Parameters
    ----------
    cells : sequence of N Crop
    probability : (N,) float64
        Of the nucleus of each cell, by a judge.
    clump : (H, W) bool

    Returns
    -------
    (D,) int64
        Numbers of cells, from 0, in rising order.
    """
    layers = np.zeros(clump.shape, np.int32)
    for cell in cells:
        layers[cell.box] += cell.mask
    left = [index for index in np.flatnonzero(probability < SURE).tolist() if cells[index].mask.any()]
    redundant: list[int] = []
    while left:
        shares = [_own_share(cells[index], layers, clump) for index in left]
        least = int(np.argmin(shares))
        if shares[least] >= OWN:
            break
        cell = cells[left[least]]
        layers[cell.box] -= cell.mask
        redundant.append(left.pop(least))
    return np.array(sorted(redundant), dtype=np.int64)


def _own_share(cell: Crop, layers: NDArray[np.int32], clump: NDArray[np.bool_]) -> float:
    within = cell.mask & clump[cell.box]
    return int(np.count_nonzero(layers[cell.box][within] == 1)) / max(int(np.count_nonzero(within)), 1)
