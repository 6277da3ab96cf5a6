"""A search without derivatives, for when the quadratic model finds no better step: the directions of a compass.

Where cells are aligned anew at every evaluation, scale and rotation jump between rays, which no derivative tells.
Before such an evolution gives up, every cell in turn tries to go both ways along each mode.
"""

from __future__ import annotations

import numpy as np

from declump.evolution.objective import ClumpState
from declump_paper.evolution.cover import ClumpCover
from declump_paper.evolution.objective import AlignedObjective

SIZES = (0.5, 0.25, 0.125, 0.0625)
"""Lengths of the moves that are tried, in standard deviations."""


def search_compass(objective: AlignedObjective, state: ClumpState) -> ClumpState | None:
    """Look for single-mode moves of single cells that lower the hard discrepancy.

    Parameters
    ----------
    objective : AlignedObjective
    state : ClumpState

    Returns
    -------
    ClumpState or None
        After every cell in turn has taken its best move, of the largest length at which any cell gains; None if none
        does at any length.
    """
    cells, rays = state.radii.shape
    parameters, radii = state.parameters.copy(), state.radii.copy()
    for size in SIZES:
        moves = size * np.vstack([np.eye(parameters.shape[1] - 2), -np.eye(parameters.shape[1] - 2)])
        reach = float(radii.max()) * 2 + size * float(np.abs(objective.modes).max())
        cover = ClumpCover(objective.mask, objective.seeds, reach, rays)
        for cell in range(cells):
            cover.put_in(cell, radii[cell])
        improved = False
        for cell in range(cells):
            tried = np.repeat(parameters[cell, None], len(moves), axis=0)
            tried[:, :-2] += moves
            tried[:, -2:] = objective.align_cell(cell, tried)
            outlines = np.minimum(objective.pose(tried)[0], reach)
            cover.take_out(cell, radii[cell])
            gains = cover.count_gains(cell, np.vstack([radii[cell], outlines]))
            best = int(gains.argmax())
            if gains[best] > gains[0]:
                parameters[cell], radii[cell], improved = tried[best - 1], outlines[best - 1], True
            cover.put_in(cell, radii[cell])
        if improved:
            return objective.evaluate(parameters)
    return None
