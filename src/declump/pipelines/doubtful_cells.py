"""Doubtful cells that the others make needless: a nucleus that may be none must explain what no other cell does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from declump.records.regions import Regions
from declump.records.segmentation import Segmentation

SURE = 0.6
"""A cell whose nucleus is less probable than this has to explain something. Both limits were chosen by nuclei of Cervix93
(``benchmarks/needless.py``)."""
OWN = 0.2
"""Least share of its area that lies in no other cell."""


def find_needless(result: Segmentation, probability: NDArray[np.float64]) -> NDArray[np.int64]:
    """Find the doubtful cells of which too little lies in no other cell.

    A leukocyte or a bit of debris on a cell leads to an outline that others cover already. The one of which least is
    its own goes first; what it shared is then the others' own.

    Parameters
    ----------
    result : Segmentation
    probability : (N,) float64
        Of the nucleus of each cell, by a judge.

    Returns
    -------
    (D,) int64
        Numbers of cells, from 0, in rising order.
    """
    layers = np.zeros(result.shape, np.int32)
    for crop in result.crops:
        layers[crop.box] += crop.mask
    left = [int(index) for index in np.flatnonzero(probability < SURE) if result.crops[index].mask.any()]
    needless: list[int] = []
    while left:
        shares = [_own_share(result, index, layers) for index in left]
        least = int(np.argmin(shares))
        if shares[least] >= OWN:
            break
        crop = result.crops[left[least]]
        layers[crop.box] -= crop.mask
        needless.append(left.pop(least))
    return np.array(sorted(needless), dtype=np.int64)


def _own_share(result: Segmentation, index: int, layers: NDArray[np.int32]) -> float:
    crop = result.crops[index]
    return float(np.mean(layers[crop.box][crop.mask] == 1))


def drop_nuclei(regions: Regions, dropped: NDArray[np.int64]) -> Regions:
    """Make candidates of some nuclei, numbered from 0, that a judge looked at; they come after the other candidates."""
    assert regions.candidates is not None
    assert regions.candidate_probability is not None and regions.nucleus_probability is not None
    first = regions.candidate_probability.size + 1
    numbers = np.zeros(len(regions.seeds) + 1, np.int32)
    numbers[dropped + 1] = np.arange(first, first + dropped.size)
    candidates = numbers[regions.nuclei]
    kept = np.arange(len(regions.seeds) + 1, dtype=np.int32)
    kept[dropped + 1] = 0
    return replace(
        regions,
        nuclei=kept[regions.nuclei],
        candidates=np.where(candidates > 0, candidates, regions.candidates),
        nucleus_probability=np.delete(regions.nucleus_probability, dropped),
        candidate_probability=np.append(regions.candidate_probability, regions.nucleus_probability[dropped]),
    )
