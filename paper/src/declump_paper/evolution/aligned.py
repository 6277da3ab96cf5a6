"""The published method read another way: cells are aligned anew at every evaluation, not once at the start.

Before no decrease is declared, a search without derivatives looks for one (:mod:`declump_paper.evolution.compass`).
"""

from __future__ import annotations

from functools import partial

from declump.evolution.settings import Settings
from declump.evolution.trust_region import Evolution, descend
from declump.records.clump import Clump
from declump.records.evidence import Evidence
from declump.shapes.prior import ShapePrior
from declump_paper.evolution.compass import search_compass
from declump_paper.evolution.objective import AlignedObjective


def evolve_clump_aligned_each_time(
    clump: Clump, prior: ShapePrior, settings: Settings, *, scale: float = 1.0, evidence: Evidence | None = None
) -> Evolution:
    """Evolve all cells of one clump together, aligned anew at every evaluation.

    Parameters
    ----------
    clump, prior, scale
        See :func:`declump.evolution.trust_region.evolve_clump`.
    settings : Settings
        Those of ``"paper"``.
    evidence : Evidence, optional
        Not used: the paper has none.
    """
    objective = AlignedObjective(clump, prior, settings, scale)
    return descend(objective, search=partial(search_compass, objective))
