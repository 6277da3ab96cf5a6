"""Multi-shape evolution (equations 3 to 5): a trust region over all cells of one clump at once.

All parameters of a clump move together; the Hessian couples only cells whose outlines meet, so a step costs in
proportion to the number of cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from declump.evolution.objective import POSE_UNITS, ClumpObjective, ClumpState
from declump.evolution.settings import Settings
from declump.records.clump import Clump
from declump.records.evidence import Evidence
from declump.shapes.prior import ShapePrior

Floats = NDArray[np.float64]
Stopped = Literal["explained", "no decrease", "bound"]

MIN_REGION = 1e-3
"""Below this trust-region radius, in standard deviations, no step is looked for any more."""


@dataclass(frozen=True)
class Evolution:
    """What became of one clump.

    Attributes
    ----------
    radii : (n, K) float64
        Outlines in pixels.
    coefficients : (n, t) float64
        Shapes in units of the modes' standard deviations.
    scales, rotations : (n,) float64
        Relative to the prior; radians.
    history : tuple of int
        Hard discrepancy in pixels at the start and after every accepted step.
    stopped : "explained", "no decrease" or "bound"
        Why the evolution ended: the discrepancy fell to the threshold, no step brought a decrease worth having, or the
        number of steps ran out.
    """

    radii: Floats
    coefficients: Floats
    scales: Floats
    rotations: Floats
    history: tuple[int, ...]
    stopped: Stopped


def evolve_clump(
    clump: Clump,
    prior: ShapePrior,
    settings: Settings,
    *,
    scale: float = 1.0,
    evidence: Evidence | None = None,
    on_step: Callable[[Floats], None] | None = None,
) -> Evolution:
    """Evolve all cells of one clump together.

    Parameters
    ----------
    clump : Clump
        With at least one seed.
    prior : ShapePrior
    settings : Settings
    scale : float
        Size of the objects relative to the prior's examples.
    evidence : Evidence, optional
        Of the cells of this clump, one row a cell, and of the pixels of its crop
        (:meth:`declump.Evidence.restrict`).
    on_step : callable, optional
        Called with the radii (n, K) at the start and after every accepted step.

    Returns
    -------
    Evolution
    """
    if evidence is not None:
        evidence.check(len(clump.cells), clump.mask.shape)
    return descend(ClumpObjective(clump, prior, settings, scale, evidence), on_step=on_step)


def descend(
    objective: ClumpObjective,
    *,
    search: Callable[[ClumpState], ClumpState | None] | None = None,
    on_step: Callable[[Floats], None] | None = None,
) -> Evolution:
    """Lower the energy of a clump by a trust region.

    Parameters
    ----------
    objective : ClumpObjective
    search : callable, optional
        Asked for a better state where the quadratic model finds none; None if there is none.
    on_step : callable, optional
        Called with the radii (n, K) at the start and after every accepted step.

    Returns
    -------
    Evolution
    """
    settings = objective.settings
    state = objective.start()
    history = [objective.unexplained(state)]
    region = start_region = np.sqrt(len(state.radii))
    stopped: Stopped = "bound"
    if on_step:
        on_step(state.radii)
    for _ in range(settings.steps):
        if history[-1] <= settings.explained * objective.size:
            break
        model = objective.build_model(state)
        accepted = None
        while accepted is None and region > MIN_REGION:
            step, on_border = model.find_step(region)
            trial = objective.move(state, step)
            step = trial.parameters - state.parameters
            predicted = model.predict_decrease(step)
            ratio = (state.energy - trial.energy) / predicted if predicted > 0 else -1.0
            if ratio > settings.accept:
                accepted = trial
            if accepted is None or ratio < 0.25:
                region = min(region, float(np.linalg.norm(step))) / 4
            elif ratio > 0.75 and on_border:
                region *= 2
        if accepted is None and search is not None:
            accepted, region = search(state), start_region
        if accepted is None:
            stopped = "no decrease"
            break
        gain, state = state.energy - accepted.energy, accepted
        history.append(objective.unexplained(state))
        if on_step:
            on_step(state.radii)
        if gain < settings.min_decrease * state.energy:
            stopped = "no decrease"
            break
    if history[-1] <= settings.explained * objective.size:
        stopped = "explained"
    return Evolution(
        state.radii,
        state.parameters[:, :-2].copy(),
        np.exp(state.parameters[:, -2] * POSE_UNITS[0]),
        np.mod(state.parameters[:, -1] * POSE_UNITS[1], 2 * np.pi),
        tuple(history),
        stopped,
    )
