"""Nuclei that are doubtful by themselves, and counted where the outline they lead to speaks for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from declump.evidence.proposals import RayProposer
from declump.records.evidence import Evidence
from declump.records.regions import Regions
from declump.shapes import contours

MAX_STD = 0.4
"""Mean doubt of a proposed outline, in its mean radii, up to which the network sees a cell round a candidate."""
MAX_IOU = 0.5
"""Intersection over union with another proposed outline up to which a candidate's cell is a cell of its own."""


def confirm_candidates(regions: Regions, proposer: RayProposer) -> Regions:
    """Count candidates as nuclei where the ray network sees a cell round them.

    Debris and leukocytes on a cell have no outline of their own: the network is in doubt about it, or gives the outline
    of the cell they lie on.

    Parameters
    ----------
    regions : Regions
        With ``candidates``; without, nothing changes.
    proposer : RayProposer
        Of the same image.

    Returns
    -------
    Regions
        The candidates that are borne out come after the other nuclei; no candidates are left.
    """
    if regions.candidates is None or not regions.candidates.any():
        return replace(regions, candidates=None)
    sure = len(regions.seeds)
    labels = np.where(regions.candidates > 0, regions.candidates + sure, regions.nuclei)
    every = replace(regions, nuclei=labels, candidates=None)
    confirmed = _find_confirmed(every, proposer.propose(every), sure)
    return replace(every, nuclei=np.where(np.isin(labels, confirmed + 1), labels, regions.nuclei))


def _find_confirmed(regions: Regions, proposed: Evidence, sure: int) -> NDArray[np.int64]:
    """Numbers, from 0, of the nuclei from the first doubtful one on that have a cell of their own."""
    assert proposed.radii is not None and proposed.radii_std is not None
    radii, seeds = proposed.radii, regions.seeds
    std = proposed.radii_std.mean(axis=1) / np.maximum(radii.mean(axis=1), 1e-9)
    kept = list(range(sure))
    # The surest candidate first: of two spots in one cell it is the nucleus.
    for index in sure + np.argsort(std[sure:], kind="stable"):
        near = [other for other in kept if np.hypot(*(seeds[other] - seeds[index])) < radii[[other, index]].max()]
        if std[index] <= MAX_STD and all(
            iou(seeds[[index, other]], radii[[index, other]]) <= MAX_IOU for other in near
        ):
            kept.append(int(index))
    return np.array(sorted(kept[sure:]), dtype=np.int64)


def iou(seeds: NDArray[np.float64], radii: NDArray[np.float64]) -> float:
    """Intersection over union, from 0 to 1, of two outlines, given by two seeds (2, 2) and radii (2, K) in pixels."""
    corner = np.floor((seeds - radii.max(axis=1, keepdims=True)).min(axis=0))
    height, width = (np.ceil((seeds + radii.max(axis=1, keepdims=True)).max(axis=0)) - corner + 1).astype(int).tolist()
    one, two = (
        contours.to_mask(seed - corner, outline, (height, width)) for seed, outline in zip(seeds, radii, strict=True)
    )
    shared, either = int(np.count_nonzero(one & two)), int(np.count_nonzero(one | two))
    return shared / max(either, 1)
