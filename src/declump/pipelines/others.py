"""What is left when the cells are found: candidates that are no nuclei, and their kinds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from declump.records.others import LEUKOCYTE, OTHER, Others
from declump.records.spots import Spots


def describe_others(candidates: Spots, kinds: Sequence[str] = ()) -> Others:
    """Describe candidates that became no nuclei, in their order; by the kinds that a person told, where they are."""
    places = [
        np.argwhere(mask).mean(axis=0) + corner
        for mask, corner in zip(candidates.masks, candidates.boxes[:, :2], strict=True)
    ]
    known = kinds or ("",) * len(candidates)
    likely = zip(candidates.leukocyte.tolist(), candidates.probability.tolist(), strict=True)
    return Others(
        np.array(places, np.float64).reshape(-1, 2),
        np.array([np.count_nonzero(mask) for mask in candidates.masks], np.float64),
        candidates.probability,
        tuple(kind or name_kind(*each) for kind, each in zip(known, likely, strict=True)),
    )


def name_kind(leukocyte: float, nucleus: float) -> str:
    """Return the kind of a spot that is no nucleus, by how probable a leukocyte is, and a nucleus."""
    return LEUKOCYTE if leukocyte > nucleus else OTHER
