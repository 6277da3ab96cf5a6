"""Selection among a finite set of shapes: the hypotheses are the examples themselves (the paper's ablation F).

Every example is aligned with every seed once (equation 1). Then the cells of a clump take turns: each takes the example
that leaves the least of the clump unexplained (equation 2) as long as the others stay, until nobody gains by a change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.evolution.settings import Settings
from declump.evolution.trust_region import Evolution, Stopped
from declump.records.clump import Clump
from declump.records.evidence import Evidence
from declump.shapes import contours
from declump.shapes.alignment import largest_copy
from declump.shapes.prior import ShapePrior
from declump_paper.evolution.cover import ClumpCover

Floats = NDArray[np.float64]


def evolve_clump_by_examples(
    clump: Clump, prior: ShapePrior, settings: Settings, *, scale: float = 1.0, evidence: Evidence | None = None
) -> Evolution:
    """Choose an example for every cell of one clump, all together.

    Parameters
    ----------
    clump : Clump
        With at least one seed.
    prior : ShapePrior
        With ``examples``.
    settings : Settings
        Of it, ``explained`` and ``steps`` are heeded: a step is a turn of all cells.
    scale : float
        Size of the objects relative to the prior's examples.
    evidence : Evidence, optional
        Not heeded: the paper has none.

    Returns
    -------
    Evolution
        Its coefficients are those of the hypotheses nearest to the chosen examples.

    Raises
    ------
    ValueError
        If the prior keeps no examples.
    """
    if prior.examples is None:
        raise ValueError(
            "this prior keeps no examples to choose from; learn it with learn_prior(..., with_examples=True)"
        )
    candidates, scales, rotations = _align(clump, scale * prior.examples)
    choice = _Choice(clump, candidates)
    threshold = settings.explained * clump.size
    history = [choice.cover.discrepancy]
    stopped: Stopped = "bound"
    for _ in range(settings.steps):
        if history[-1] <= threshold:
            break
        if not choice.take_turns(threshold):
            stopped = "no decrease"
            break
        history.append(choice.cover.discrepancy)
    if history[-1] <= threshold:
        stopped = "explained"
    cells = np.arange(len(clump.cells))
    chosen = choice.chosen
    return Evolution(
        candidates[cells, chosen],
        prior.project(prior.examples[chosen]) / np.sqrt(prior.variances),
        scales[cells, chosen],
        rotations[cells, chosen],
        tuple(history),
        stopped,
    )


def _align(clump: Clump, shapes: Floats) -> tuple[Floats, Floats, Floats]:
    """Radii (n, N, K) of all examples at all seeds, with the scales and rotations (n, N) of the alignment."""
    rays = shapes.shape[1]
    exits = [contours.first_exits(clump.mask, seed, rays) for seed in clump.seeds]
    poses = np.array([[largest_copy(shape, exit) for shape in shapes] for exit in exits])
    scales, rotations = poses[..., 0], poses[..., 1]
    closed = np.isfinite(scales)
    scales[~closed] = np.median(scales[closed]) if closed.any() else 1.0
    radii = np.empty((*scales.shape, rays))
    for cell, example in np.ndindex(*scales.shape):
        turned = np.roll(shapes[example], round(rotations[cell, example] * rays / (2 * np.pi)))
        radii[cell, example] = np.maximum(scales[cell, example] * turned, contours.MIN_RADIUS)
    return radii, scales, rotations


class _Choice:
    """Which example each cell of a clump has."""

    def __init__(self, clump: Clump, candidates: Floats) -> None:
        self.candidates = candidates
        self.cover = ClumpCover(clump.mask, clump.seeds, float(candidates.max()), candidates.shape[2])
        # At first each cell is alone with the clump: it takes what explains most of it.
        gains = [self.cover.count_gains(cell, outlines) for cell, outlines in enumerate(candidates)]
        self.chosen = np.array([int(own.argmax()) for own in gains], dtype=np.int64)
        for cell in range(len(candidates)):
            self.cover.put_in(cell, self.outline(cell))

    def outline(self, cell: int) -> Floats:
        """Radii (K,) of the example that a cell has."""
        return np.asarray(self.candidates[cell, self.chosen[cell]])

    def take_turns(self, threshold: float) -> bool:
        """Let every cell in turn take the best example, until the clump is explained; tell whether any changed."""
        changed = False
        for cell, outlines in enumerate(self.candidates):
            self.cover.take_out(cell, self.outline(cell))
            gains = self.cover.count_gains(cell, outlines)
            best = int(gains.argmax())
            if gains[best] > gains[self.chosen[cell]]:
                self.chosen[cell], changed = best, True
            self.cover.put_in(cell, self.outline(cell))
            if changed and self.cover.discrepancy <= threshold:
                break
        return changed
