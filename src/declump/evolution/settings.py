"""How a clump is evolved: settings of one loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Settings:
    """How a clump is evolved; all lengths are relative to the prior's mean radius, so that no pixel size is assumed.

    Attributes
    ----------
    alignment : "joint" or "once"
        ``"joint"``: scale and rotation start from the alignment (equation 1), and evolve with the shape. ``"once"``:
        the published method, cells are aligned at the start, their shapes alone evolve, and a step is judged by the
        hard discrepancy.
    penalty : float
        Weight of the squared Mahalanobis distance of a shape, times the squared mean radius.
    scale_penalty : float
        The same for the log scale, in units of ``penalty``.
    reach_weight : float
        Weight of the distance from the expected reach, where the prior knows it.
    ray_weight : float
        Weight of proposed outlines (:class:`declump.evidence.Evidence`): what a cell costs that is everywhere one
        standard deviation off its proposal, in units of the area of a disc with the mean radius.
    ray_floor : float
        Standard deviation that is added, in quadrature, to that of every proposed radius.
    claim : float
        What no cell of a clump reaches within so many standard deviations of its proposed outline is left unexplained:
        it belongs to a cell that is not known (:mod:`declump.evolution.claims`). Infinite to explain all of a clump.
    robustness : float
        From this many standard deviations on, a proposed radius is rather taken for wrong; more than 0, infinite for
        plain least squares.
    start_scales : float
        The alignment's log scale is taken within plus or minus this.
    box : float
        Bound on every shape coefficient in standard deviations.
    softness : float
        Half width of the soft outline; at least one pixel.
    accept : float
        A step is taken when the actual decrease exceeds this share of the predicted one.
    explained : float
        The evolution stops when the hard discrepancy is at most this share of the clump.
    min_decrease : float
        The evolution stops when a step gains less than this share of the energy.
    steps : int
        Bound on the number of steps.
    snap : float
        At last an outline snaps to the edge of its clump where it is off it by less than this share of its mean radius
        and no other cell covers that edge (:mod:`declump.evolution.snapping`); 0 leaves it in the hypothesis set.
    """

    alignment: Literal["joint", "once"]
    penalty: float
    scale_penalty: float
    reach_weight: float
    ray_weight: float
    ray_floor: float
    claim: float
    robustness: float
    start_scales: float
    box: float
    softness: float
    accept: float
    explained: float
    min_decrease: float
    steps: int
    snap: float


SETTINGS = {
    "joint": Settings(
        alignment="joint",
        penalty=0.003,
        scale_penalty=3.0,
        reach_weight=0.002,
        ray_weight=0.03,
        ray_floor=0.06,
        claim=1.0,
        robustness=3.0,
        start_scales=0.1,
        box=3.0,
        softness=0.06,
        accept=0.15,
        explained=0.0,
        min_decrease=4e-3,
        steps=60,
        snap=0.2,
    ),
    "paper": Settings(
        alignment="once",
        penalty=0.0,
        scale_penalty=0.0,
        reach_weight=0.0,
        ray_weight=0.0,
        ray_floor=0.0,
        claim=np.inf,
        robustness=np.inf,
        start_scales=np.inf,
        box=np.inf,
        softness=0.06,
        accept=0.0,
        explained=0.05,
        min_decrease=0.0,
        steps=60,
        snap=0.0,
    ),
}
"""By name: declump's own, and the published method."""
