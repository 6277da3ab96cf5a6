"""A stroke that joins two clumps of a slide."""

from __future__ import annotations

import numpy as np

from declump.records.boxes import Box
from declump.review.edits import PaintClump
from declump.review.slides.session import SlideSession


def bridge(session: SlideSession) -> tuple[int, int, PaintClump]:
    """Two cells of two clumps, and a stroke from one to the other that meets no third clump."""
    height, width = session.run.record.shape
    clumps = session.show_clumps(Box(0, 0, height, width))
    order = np.argsort(session.seeds[:, 0], kind="stable")
    for first in order.tolist():
        for second in order[::-1].tolist():
            ends = session.seeds[[first, second]].astype(float)
            share = np.linspace(0, 1, 400)[:, None]
            met = np.unique(clumps[tuple(np.rint(ends[0] + share * (ends[1] - ends[0])).astype(int).T)])
            if np.count_nonzero(met) == 2 and session.clumps[first] != session.clumps[second]:
                (top, left), (bottom, right) = ends.tolist()
                return first + 1, second + 1, PaintClump(((top, left), (bottom, right)), 2.0, inside=True)
    raise AssertionError("all clumps of the smear lie in one another's way")
