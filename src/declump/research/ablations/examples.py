"""Selection among a finite set of shapes: the hypotheses are the examples themselves (the paper's ablation F).

Every example is aligned with every seed once (equation 1). Then the cells of a clump take turns: each takes the example
that leaves the least of the clump unexplained (equation 2) as long as the others stay, until nobody gains by a change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.evolution.polar import make_polar_table
from declump.evolution.settings import Settings
from declump.evolution.trust_region import Evolution, Stopped
from declump.records.clump import Clump
from declump.records.evidence import Evidence
from declump.research.ablations import kernels
from declump.shapes import contours
from declump.shapes.alignment import largest_copy
from declump.shapes.prior import ShapePrior

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
    history = [choice.discrepancy]
    stopped: Stopped = "bound"
    for _ in range(settings.steps):
        if history[-1] <= threshold:
            break
        if not choice.take_turns(threshold):
            stopped = "no decrease"
            break
        history.append(choice.discrepancy)
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
    """Which example each cell of a clump has, and what the clump's discrepancy is with it."""

    def __init__(self, clump: Clump, candidates: Floats) -> None:
        self.clump, self.candidates = clump, candidates
        self.layers = np.zeros(clump.mask.shape, dtype=np.int32)
        self.directions = contours.directions(candidates.shape[2])
        reach = max(float(candidates.max()) + 1, 16.0)
        self.table = make_polar_table(candidates.shape[2], 1 << int(np.ceil(np.log2(reach))))
        # At first each cell is alone with the clump: it takes what explains most of it.
        self.chosen = np.array([int(self.gains(cell).argmax()) for cell in range(len(candidates))], dtype=np.int64)
        for cell in range(len(candidates)):
            self.layers += self.mask(cell)

    @property
    def discrepancy(self) -> int:
        """Pixels in which the union of the cells and the clump differ."""
        return int(np.count_nonzero((self.layers > 0) != self.clump.mask))

    def mask(self, cell: int) -> NDArray[np.bool_]:
        """Pixels of a cell with the example it has."""
        shape = (self.clump.mask.shape[0], self.clump.mask.shape[1])
        return contours.to_mask(self.clump.seeds[cell], self.candidates[cell, self.chosen[cell]], shape)

    def gains(self, cell: int) -> NDArray[np.int64]:
        """By how many pixels each example (N,) at a cell lowers the discrepancy, against none at all."""
        pixel_scores = np.where(self.layers > 0, 0, np.where(self.clump.mask, 1, -1)).astype(np.int8)
        row, column = self.clump.seeds[cell]
        sums = kernels.sum_pixel_scores(pixel_scores, row, column, self.candidates[cell], *self.directions, self.table)
        return np.asarray(sums)

    def take_turns(self, threshold: float) -> bool:
        """Let every cell in turn take the best example, until the clump is explained; tell whether any changed."""
        changed = False
        for cell in range(len(self.candidates)):
            self.layers -= self.mask(cell)
            gains = self.gains(cell)
            best = int(gains.argmax())
            if gains[best] > gains[self.chosen[cell]]:
                self.chosen[cell], changed = best, True
            self.layers += self.mask(cell)
            if changed and self.discrepancy <= threshold:
                break
        return changed


def sum_scores_by_masks(pixel_scores: NDArray[np.integer], seed: NDArray[np.int64], radii: Floats) -> NDArray[np.int64]:
    """Sum ``worths`` (H, W) inside each outline (N, K) round a seed: the text to read of the compiled kernel."""
    shape = (pixel_scores.shape[0], pixel_scores.shape[1])
    return np.array([pixel_scores[contours.to_mask(seed, outline, shape)].sum() for outline in radii], dtype=np.int64)
