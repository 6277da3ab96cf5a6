"""Nuclei that are doubtful by themselves, and counted where the outline they lead to speaks for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from declump.evidence.proposals import RayProposer
from declump.records.evidence import Evidence
from declump.records.regions import Regions
from declump.regions.options import MIN_NUCLEUS
from declump.shapes import contours

MAX_STD = 0.4
"""Mean doubt of a proposed outline, in its mean radii, up to which the network sees a cell round a candidate."""
MAX_IOU = 0.5
"""Intersection over union with another proposed outline up to which a candidate's cell is a cell of its own."""
DOUBTFUL = 0.5
"""A judge's candidate is tried from this share of the least probability of a nucleus on."""


def confirm_candidates(regions: Regions, proposer: RayProposer, *, min_nucleus: float = MIN_NUCLEUS) -> Regions:
    """Count candidates as nuclei where the ray network sees a cell round them.

    Debris and leukocytes on a cell have no outline of their own: the network is in doubt about it, or gives the outline
    of the cell they lie on.

    Parameters
    ----------
    regions : Regions
        With ``candidates``; without, nothing changes.
    proposer : RayProposer
        Of the same image.
    min_nucleus : float
        Least probability of a nucleus, if a judge looked at the candidates: those below half of it are not tried.

    Returns
    -------
    Regions
        The candidates that are borne out come after the other nuclei. Those that are not are left as candidates if a
        judge looked at them.
    """
    if regions.candidates is None or not regions.candidates.any():
        return regions if regions.candidate_probability is not None else replace(regions, candidates=None)
    tried = _find_tried(regions, min_nucleus)
    if not tried.size:
        return regions
    sure = len(regions.seeds)
    numbers = np.zeros(int(regions.candidates.max()) + 1, np.int32)
    numbers[tried + 1] = sure + 1 + np.arange(tried.size)
    doubtful = numbers[regions.candidates]
    labels = np.where(doubtful > 0, doubtful, regions.nuclei)
    every = replace(regions, nuclei=labels, candidates=None, nucleus_probability=None, candidate_probability=None)
    confirmed = _find_confirmed(every, proposer.propose(every), sure)
    numbers = np.arange(sure + tried.size + 1, dtype=np.int32)
    numbers[sure + 1 :] = 0
    numbers[confirmed + 1] = confirmed + 1
    nuclei = numbers[labels]
    return take_candidates(regions, nuclei, tried[confirmed - sure])


def take_candidates(regions: Regions, nuclei: NDArray[np.int32], taken: NDArray[np.int64]) -> Regions:
    """Give regions with nuclei that some candidates, numbered from 0, have joined in their order."""
    if regions.candidate_probability is None or regions.candidates is None or regions.nucleus_probability is None:
        return replace(regions, nuclei=nuclei, candidates=None)
    left = np.arange(regions.candidate_probability.size + 1, dtype=np.int32)
    left[taken + 1] = 0
    return replace(
        regions,
        nuclei=nuclei,
        nucleus_probability=np.append(regions.nucleus_probability, regions.candidate_probability[taken]),
        candidates=left[regions.candidates],
        candidate_probability=np.delete(regions.candidate_probability, taken),
    )


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


def _find_tried(regions: Regions, min_nucleus: float) -> NDArray[np.int64]:
    """Numbers, from 0, of candidates that may be nuclei: of those a judge looked at, the probable ones in clumps."""
    assert regions.candidates is not None
    count = int(regions.candidates.max(initial=0))
    if regions.candidate_probability is None:
        return np.arange(count)
    places = np.flatnonzero(regions.candidates)  # few of a large image
    own = regions.candidates.ravel()[places]
    areas = np.bincount(own, minlength=count + 1)[1:]
    within = np.bincount(own[regions.clump.ravel()[places]], minlength=count + 1)[1:]
    return np.flatnonzero((regions.candidate_probability >= DOUBTFUL * min_nucleus) & (within == areas))


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
