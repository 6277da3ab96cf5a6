"""What is left when the cells are found: candidates that are no nuclei, told apart by their contrast."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from declump.records.others import LEUKOCYTE, OTHER, Others
from declump.records.spots import Spots

MAX_LIGHT = 0.7
"""Most light, relative to that through the ring round it, that a leukocyte lets through."""


def describe_others(candidates: Spots, kinds: Sequence[str] = ()) -> Others:
    """Describe candidates that became no nuclei, in their order; by the kinds that a person told, where they are."""
    places = [
        np.argwhere(mask).mean(axis=0) + corner
        for mask, corner in zip(candidates.masks, candidates.boxes[:, :2], strict=True)
    ]
    told = kinds or ("",) * len(candidates)
    return Others(
        np.array(places, np.float64).reshape(-1, 2),
        np.array([np.count_nonzero(mask) for mask in candidates.masks], np.float64),
        candidates.probability,
        tuple(kind or tell_kind(light) for kind, light in zip(told, candidates.light.tolist(), strict=True)),
    )


def tell_kind(light: float) -> str:
    """Tell what a spot that is no nucleus is by the light it lets through, relative to the ring round it."""
    return LEUKOCYTE if light <= MAX_LIGHT else OTHER
