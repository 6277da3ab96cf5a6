"""Ablation M of the paper: the same clump, start and shapes, but level sets in place of the joint selection of shapes.

Each cell is a level set of its own. It grows in the clump and shrinks outside it; what another cell holds already does
not draw it; and it is pulled to the hypothesis of the prior that is nearest to it, as in level sets with a statistical
shape prior (Leventon et al., CVPR 2000; Rousson and Paragios, ECCV 2002). Cells move in turn, knowing where the others
are at the moment. The outline is that of the level set: near to a hypothesis, but not bound to be one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.evolution.objective import POSE_UNITS, ClumpObjective
from declump.evolution.settings import Settings
from declump.evolution.trust_region import Evolution, Stopped
from declump.records.clump import Clump
from declump.records.evidence import Evidence
from declump.shapes import contours
from declump.shapes.prior import ShapePrior
from declump_paper.compared.level_sets import Flow, evolve_level_set, find_window, largest_piece, step_function

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

FLOW = Flow(step=1.0, regularity=0.2, length=0.2)
STEPS = 10
"""Steps of a cell in a round."""
ROOM = 12
"""Pixels round a cell and its nearest hypothesis in the window in which it moves."""
CLUMP, OVERLAP, SHAPE = 1.0, 1.0, 0.5
"""Weights of the clump, of what other cells hold, and of the nearest hypothesis.

With the first two alike a cell feels the clump where it alone explains it and nothing where others do, as in the
paper's energy; with the third below them it decides hidden sides only.
"""


def evolve_clump_by_level_sets(
    clump: Clump, prior: ShapePrior, settings: Settings, *, scale: float, evidence: Evidence | None = None
) -> Evolution:
    """Evolve all cells of one clump as level sets.

    Parameters
    ----------
    clump : Clump
        With at least one seed, and room for outlines that reach out.
    prior : ShapePrior
    settings : Settings
        Heeded are what shapes cost and their bounds, the start, and when to stop: a round in which less than the share
        ``min_decrease`` of the clump's pixels changes hands is the last.
    scale : float
        Size of the objects relative to the prior's examples.
    evidence : Evidence, optional
        Not heeded: the paper has none.

    Returns
    -------
    Evolution
        Radii of the level sets; coefficients, scales and rotations of the hypotheses nearest to them.
    """
    objective = ClumpObjective(clump, prior, settings, scale)
    state = objective.start()
    radii, parameters = state.radii.copy(), state.parameters.copy()
    shape = (clump.mask.shape[0], clump.mask.shape[1])
    masks = [contours.to_mask(seed, outline, shape) for seed, outline in zip(clump.seeds, radii, strict=True)]
    layers = np.sum(masks, axis=0, dtype=np.int64)
    cut = np.zeros(radii.shape, dtype=np.bool_)
    # What a pixel of misfit along an outline weighs against the price of a shape, as in the soft discrepancy.
    precision = 2 * np.pi * float(objective.mean.mean()) / (prior.rays * objective.softness)
    history = [objective.hard_discrepancy(radii.copy())]
    stopped: Stopped = "bound"
    for _ in range(settings.steps):
        if history[-1] <= settings.explained * objective.size:
            break
        changed = 0
        for index, seed in enumerate(clump.seeds):
            if not cut[index].all():
                # Rays that the image border cuts tell nothing.
                precisions = np.where(cut[index], 0.0, precision)
                parameters[index] = objective.find_nearest(radii[index, None], precisions[None])[0]
            hypothesis = _radii(objective, parameters[index])
            target = contours.to_mask(seed, hypothesis, shape)
            others = layers - masks[index] > 0
            moved = _move(masks[index], target, clump.mask, others, objective.softness)
            changed += int(np.count_nonzero(moved != masks[index]))
            layers += moved.astype(np.int64) - masks[index]
            masks[index] = moved
            outline, cut[index] = contours.outermost_crossings(moved, seed, prior.rays)
            # Beyond the image border the hypothesis goes on.
            radii[index] = np.maximum(outline, np.where(cut[index], hypothesis, 0.5))
        history.append(objective.hard_discrepancy(radii.copy()))
        if changed <= settings.min_decrease * objective.size:
            stopped = "no decrease"
            break
    if history[-1] <= settings.explained * objective.size:
        stopped = "explained"
    return Evolution(
        radii,
        parameters[:, :-2],
        np.exp(parameters[:, -2] * POSE_UNITS[0]),
        np.mod(parameters[:, -1] * POSE_UNITS[1], 2 * np.pi),
        tuple(history),
        stopped,
    )


def _radii(objective: ClumpObjective, parameters: Floats) -> Floats:
    """Radii (K,) in pixels of the hypothesis of one cell's parameters (t + 2,)."""
    log_scale, rotation = parameters[-2:] * POSE_UNITS
    shape = np.exp(log_scale) * (objective.mean + objective.modes @ parameters[:-2])
    return np.maximum(contours.rotate(shape, rotation), 0.5)


def _move(mask: Mask, target: Mask, clump: Mask, others: Mask, softness: float) -> Mask:
    """Mask (h, w) of a cell after its level set moved; one that vanishes stays as it was."""
    from scipy import ndimage

    window = find_window(mask | target, ROOM)
    inner = target[window]
    outwards = ndimage.distance_transform_edt(~inner) - ndimage.distance_transform_edt(inner)
    push = CLUMP * np.where(clump[window], -1.0, 1.0)
    push += OVERLAP * (others[window] & clump[window])
    push += SHAPE * np.clip(outwards / softness, -1, 1)
    inside = evolve_level_set(step_function(mask[window]), FLOW, STEPS, push=push) <= 0
    result = np.zeros_like(mask)
    result[window] = largest_piece(inside)
    return result if result.any() else mask
