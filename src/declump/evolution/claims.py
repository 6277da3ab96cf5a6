"""What of a clump the known cells lay claim to: as much of it as their proposed outlines may reach.

A clump that was found in an image also holds cytoplasm of cells that nobody knows of: their nuclei lie outside the
image, were missed, or are none. No known cell should grow to explain it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from declump.evolution.settings import Settings
from declump.records.clump import Clump
from declump.records.evidence import DrawnRadii, Evidence, ProposedRadii
from declump.shapes import contours

Floats = NDArray[np.float64]


def keep_claimed(
    clump: Clump, evidence: Evidence | None, settings: Settings, mean_radius: float, rays: int = 360
) -> Clump:
    """Give a clump without what no outline reaches within ``settings.claim`` standard deviations.

    Parameters
    ----------
    clump : Clump
    evidence : Evidence, optional
        Of the image; a cell of which nothing is known may reach anywhere.
    settings : Settings
    mean_radius : float
        Of the objects in pixels.
    rays : int
        Number of rays with which outlines are filled.

    Returns
    -------
    Clump
        In the same crop; the same one where nothing is left out.
    """
    known = None if evidence is None else evidence.restrict(clump).resample(rays)
    farthest = None if known is None else _find_farthest(known, settings, mean_radius)
    if farthest is None:
        return clump
    reached, anywhere = np.zeros(clump.mask.shape, np.uint32), 2 * np.hypot(*clump.mask.shape)
    contours.paint(reached, np.ones(len(clump.seeds), np.uint32), clump.seeds, np.minimum(farthest, anywhere))
    reached[tuple(clump.seeds.T)] = 1
    claimed = clump.mask & (reached > 0)
    return clump if np.array_equal(claimed, clump.mask) else replace(clump, mask=claimed)


def _find_farthest(evidence: Evidence, settings: Settings, mean_radius: float) -> Floats | None:
    """How far (n, K) rays may reach, infinite where nothing is known; None where nothing is known of any."""
    proposed, drawn = evidence.find(ProposedRadii), evidence.find(DrawnRadii)
    if proposed is None or settings.ray_weight == 0 or not np.isfinite(settings.claim):
        return None
    spread = np.hypot(proposed.radii_std, settings.ray_floor * mean_radius)
    farthest = proposed.radii + settings.claim * spread
    if drawn is not None:
        by_hand = np.isfinite(drawn.drawn_std)
        farthest = np.where(by_hand, drawn.drawn + settings.claim * np.where(by_hand, drawn.drawn_std, 0), farthest)
    return np.asarray(farthest)
