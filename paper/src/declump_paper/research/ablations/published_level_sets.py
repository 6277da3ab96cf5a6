"""Ablation M with the level sets that the paper cites for it, those of LSF and of MCL, and our hypotheses for shapes.

The paper replaces its joint selection by "the level set model" of both. Their flows are kept as they are; what they
take for the shape of a cell (LSF: the outline bridged between its junctions, MCL: the most similar of 42 templates) is
here the nearest hypothesis ``a (mean + modes x)`` of the prior, over scale, rotation and x.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.records.clump import Clump
from declump.records.segmentation import Segmentation
from declump.regions import Regions
from declump.shapes import contours
from declump.shapes.prior import ShapePrior
from declump_paper.compared.by_clump import crop_grey, grey_levels, segment_by_clump
from declump_paper.compared.lsf import joint_level_sets
from declump_paper.compared.mcl import template_level_sets
from declump_paper.compared.sharing import FirstCell, share_outline
from declump_paper.compared.templates import BEYOND, RAYS, REFITS

Floats = NDArray[np.float64]
ImageSolver = Callable[[Any, Regions, ShapePrior], Segmentation]

TURNS = 24
"""Rotations that are tried."""
PRICE = 0.01
"""What a coefficient one standard deviation off costs, in squared mean radii on one of the rays."""
VISIBLE_WITHIN = 3.0
"""An outline this near to the end of the clump, in pixels, is taken to be seen."""


@dataclass(frozen=True)
class Hypotheses:
    """Shapes of a prior at few rays, for fits to outlines.

    Attributes
    ----------
    mean : (72,) float64
    modes : (72, t) float64
        A standard deviation each, in the units of the mean.
    """

    mean: Floats
    modes: Floats

    @classmethod
    def of(cls, prior: ShapePrior) -> Hypotheses:
        """Take the shapes of a prior, in units of its mean radius."""
        size = float(prior.mean.mean())
        modes = contours.resample((prior.modes * np.sqrt(prior.variances)).T, RAYS).T
        return cls(contours.resample(prior.mean[None], RAYS)[0] / size, modes / size)

    def fit(self, outline: Floats, open_ended: NDArray[np.bool_]) -> Floats:
        """Radii (72,) of the hypothesis nearest to an outline (72,), over scale, rotation and coefficients.

        Parameters
        ----------
        outline : (72,) float64
            Radii in pixels.
        open_ended : (72,) bool
            Rays on which the cell may reach farther than the outline does.
        """
        size = max(float(outline.mean()), 1.0)
        basis = np.column_stack([self.mean, self.modes])
        prices = np.diag(np.append(0.0, np.full(self.modes.shape[1], PRICE)))
        best, least = outline, np.inf
        for turn in range(0, RAYS, RAYS // TURNS):
            target, free = np.roll(outline, -turn) / size, np.roll(open_ended, -turn)
            weights, shape, cost = np.ones(RAYS), self.mean, np.inf
            for _ in range(REFITS if free.any() else 1):
                normal = (weights[:, None] * basis).T @ basis + prices
                found = np.linalg.solve(normal, basis.T @ (weights * target))
                shape = np.maximum(basis @ found, 0.05)
                cost = float(weights @ (shape - target) ** 2 + PRICE * np.sum(found[1:] ** 2))
                weights = np.where(free & (shape > target), BEYOND, 1.0)
            if cost < least:
                best, least = size * np.roll(shape, turn), cost
        return best


def segment_by_mcl(image: Any, regions: Regions, prior: ShapePrior) -> Segmentation:
    """Segment with the labels and level sets of MCL, each cell drawn to its nearest hypothesis."""
    grey, shapes = grey_levels(image, regions), Hypotheses.of(prior)
    return segment_by_clump(regions, lambda clump: template_level_sets(crop_grey(clump, grey), clump, shapes.fit, RAYS))


def segment_by_lsf(image: Any, regions: Regions, prior: ShapePrior) -> Segmentation:
    """Segment with the joint level sets of LSF, started from and weighed by the hypotheses nearest to its first cells.

    The only cell of a clump stays the clump, as it does in LSF.
    """
    grey, shapes = grey_levels(image, regions), Hypotheses.of(prior)

    def first_cells(clump: Clump) -> list[FirstCell]:
        cells = share_outline(clump)
        return cells if len(cells) == 1 else [_nearest(cell, clump, shapes) for cell in cells]

    return segment_by_clump(regions, lambda clump: joint_level_sets(crop_grey(clump, grey), clump, first_cells))


def _nearest(cell: FirstCell, clump: Clump, shapes: Hypotheses) -> FirstCell:
    """A first cell as the nearest hypothesis, seen from the same point."""
    outline, _ = contours.outermost_crossings(cell.mask, cell.centre, RAYS)
    exits = contours.first_exits(clump.mask, np.array(cell.centre), RAYS)
    radii = shapes.fit(outline, outline < exits - VISIBLE_WITHIN)
    mask = contours.to_mask(cell.centre, radii, (clump.mask.shape[0], clump.mask.shape[1])) & clump.mask
    return FirstCell(cell.centre, mask) if mask[round(cell.centre[0]), round(cell.centre[1])] else cell
