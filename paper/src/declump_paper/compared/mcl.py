"""MCL: multiple cells labelling, then level sets with shape templates (Song et al., TMI 2017)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.records.clump import Clump
from declump.records.segmentation import Segmentation
from declump.regions import Regions
from declump.shapes import contours
from declump.shapes.prior import ShapePrior
from declump_paper.compared.by_clump import WHITE, crop_grey, grey_levels, segment_by_clump
from declump_paper.compared.labelling import label_pixels
from declump_paper.compared.level_sets import (
    Flow,
    distance_function,
    evolve_level_set,
    find_window,
    heaviside,
    largest_piece,
)
from declump_paper.compared.templates import fit_template, make_templates

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]
Fit = Callable[[Floats, NDArray[np.bool_]], Floats]
"""Gives radii for those of an outline, and for the rays on which a cell may reach farther."""

FLOW = Flow(step=2.0, regularity=0.02, tails=True)
ROUNDS, LOOPS, STEPS = 4, 5, 10
"""Templates are chosen 4 times; after each choice every cell moves 5 times by 10 steps."""
REGION = 0.5
"""Weight of the local region fitting, on grey levels in units of their standard deviation in the clump."""
LABEL = 2.0
"""Weight of the labels and of the clump: an outline then gets over some 20 pixels in the published number of steps."""
OVERLAP = 1.0
"""Weight of the overlap that templates foresee; distances from them count up to the width of the delta function."""
NEIGHBOURHOOD = 6.0
"""Standard deviation in pixels of the Gaussian in which a region is fitted."""
ROOM = 20
"""Pixels round a cell and its template in the window in which it moves."""
VISIBLE_WITHIN = 3.0
"""An outline this near to the end of the clump, in pixels, is taken to be seen."""


def mcl(
    image: Any,
    regions: Regions,
    *,
    prior: ShapePrior | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Segmentation:
    """Segment cells by labelling and template level sets; see :class:`declump_paper.compared.ComparedMethod`.

    The pixels of a clump are labelled with its nuclei; each cell then takes the most similar of 42 shapes drawn from
    the ``prior``, and moves as a level set along the regions of the image, overlapping others as the shapes do.
    """
    grey = grey_levels(image, regions)
    shapes = make_templates(prior if prior is not None else ShapePrior.load("default"))

    def cells_of(clump: Clump) -> Masks:
        return template_level_sets(crop_grey(clump, grey), clump, partial(fit_template, shapes), shapes.shape[1])

    return segment_by_clump(regions, cells_of, progress)


def template_level_sets(grey: Floats, clump: Clump, fit: Fit, rays: int) -> Masks:
    """Masks (n, h, w) of the cells of one clump, from grey levels (h, w) and what fits a shape to an outline (K,)."""
    values = grey[clump.mask]
    # Outside the clump there is background, whatever lies there: other clumps are not this one's business.
    levels = np.where(clump.mask, grey, WHITE) / max(float(values.std()), 1.0)
    exits = np.stack([contours.first_exits(clump.mask, seed, rays) for seed in clump.seeds])
    labels = masks = label_pixels(grey / WHITE, clump)
    for _ in range(ROUNDS):
        targets = np.empty_like(masks)
        for index, seed in enumerate(clump.seeds):
            outline, _ = contours.outermost_crossings(masks[index], seed, rays)
            # Labels do not overlap: where a label ends within the clump, its cell reaches at least that far.
            open_ended = outline < exits[index] - VISIBLE_WITHIN
            radii = fit(outline, open_ended)
            targets[index] = contours.to_mask(seed, radii, masks.shape[1:]) & clump.mask
            targets[index, seed[0], seed[1]] = True
        masks = move_together(levels, clump.mask, labels, targets)
    return masks


def move_together(levels: Floats, clump: NDArray[np.bool_], labels: Masks, targets: Masks) -> Masks:
    """Masks (n, h, w) after all cells moved, in turn, from their templates.

    A cell is drawn over the pixels with its label and off what lies outside the clump; over the pixels of others it is
    drawn or not by the regions of the image, and by the overlap of the templates.
    """
    windows = [find_window(target, ROOM) for target in targets]
    functions = [distance_function(target[window]) for target, window in zip(targets, windows, strict=True)]
    depths = [
        distance_function(target[window], FLOW.width) / FLOW.width
        for target, window in zip(targets, windows, strict=True)
    ]
    masks = targets.copy()
    for _ in range(LOOPS):
        for index, window in enumerate(windows):
            push = REGION * region_fit(levels[window], functions[index])
            push += LABEL * np.where(clump[window], np.where(labels[(index, *window)], -1.0, 0.0), 1.0)
            for other in range(len(masks)):
                shared = masks[(other, *window)]
                if other != index and shared.any():
                    foreign = move_window(depths[other], windows[other], window)
                    push += OVERLAP * shared * np.maximum(depths[index], foreign)
            functions[index] = evolve_level_set(functions[index], FLOW, STEPS, push=push)
            masks[(index, *window)] = functions[index] <= 0
    for index, target in enumerate(targets):
        masks[index] = largest_piece(masks[index]) if masks[index].any() else target
    return masks


def move_window(values: Floats, given: tuple[slice, slice], wanted: tuple[slice, slice]) -> Floats:
    """Values of one window as seen in another; 1 where they are not known."""
    (up, left), (over, beside) = [(rows.start, columns.start) for rows, columns in (given, wanted)]
    top, bottom = max(up, over), min(given[0].stop, wanted[0].stop)
    first, last = max(left, beside), min(given[1].stop, wanted[1].stop)
    result = np.ones((wanted[0].stop - over, wanted[1].stop - beside))
    if top < bottom and first < last:
        shared = values[top - up : bottom - up, first - left : last - left]
        result[top - over : bottom - over, first - beside : last - beside] = shared
    return result


def region_fit(levels: Floats, phi: Floats) -> Floats:
    """Speed inwards (h, w) of the local region fitting: how much better a pixel suits what is near it outside.

    Around every pixel, in a Gaussian, the mean level inside and outside is taken; the level of the pixel is held
    against both (Li et al., TIP 2008).
    """
    from scipy import ndimage

    def blurred(values: Floats) -> Floats:
        return np.asarray(ndimage.gaussian_filter(values, NEIGHBOURHOOD, mode="nearest", truncate=3.0))

    inside = heaviside(-phi, FLOW.width, FLOW.tails)
    share, level = blurred(inside), blurred(levels)
    within = blurred(inside * levels)
    inner = within / np.maximum(share, 1e-6)
    outer = (level - within) / np.maximum(1 - share, 1e-6)
    # Sum over neighbours of the squared misfit of this pixel's level with their means.
    fit = [blurred(part**2) - 2 * levels * blurred(part) + levels**2 for part in (inner, outer)]
    return np.asarray(np.clip(fit[0] - fit[1], -1, 1))
