"""Scoring of the cells of one image against the true ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.evaluation.boxes import areas, bounding_boxes, check_masks, intersections, union
from declump.evaluation.matching import Matching, dice_of, match
from declump.evaluation.metrics import Score
from declump.evaluation.overlap import overlap_degree as degrees_of


def score(
    truth_masks: NDArray[np.bool_],
    predicted_masks: NDArray[np.bool_],
    *,
    matching: Matching = "greedy",
    threshold: float = 0.7,
    overlap_degree: NDArray[np.float64] | None = None,
) -> Score:
    """Score the predicted cells of one image against the true ones.

    Parameters
    ----------
    truth_masks : (N, H, W) bool array
        Whole masks of the true cells, none of them empty; N may be 0.
    predicted_masks : (M, H, W) bool array
        Whole masks of the predicted cells; M may be 0, and an empty mask is a false detection.
    matching : {"greedy", "hungarian", "isbi2014", "order"}
        See `declump.evaluation.match`.
    threshold : float
        Dice above which a cell is good; the challenge has 0.7.
    overlap_degree : (N,) float64 array, optional
        Overlap degree of the true cells where it is already known; computed from the truth otherwise.

    Returns
    -------
    Score

    Raises
    ------
    ValueError
        If a stack is not (N, H, W) bool, the image shapes differ, a true cell is empty, or an option is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((1, 8, 8), bool)
    >>> truth[0, 2:6, 2:6] = True
    >>> score(truth, truth).dice_all
    1.0
    """
    check_masks(truth_masks, "truth_masks")
    check_masks(predicted_masks, "predicted_masks")
    shape = truth_masks.shape[1:]
    if predicted_masks.shape[1:] != shape:
        raise ValueError(
            f"truth_masks and predicted_masks must be on the same image, got {shape} and {predicted_masks.shape[1:]}."
        )
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must be a Dice from 0 to 1, got {threshold}.")
    if overlap_degree is None:
        overlap_degree = degrees_of(truth_masks)
    elif overlap_degree.shape != (len(truth_masks),):
        raise ValueError(
            f"overlap_degree must hold one value a true cell, ({len(truth_masks)},), got shape {overlap_degree.shape}."
        )
    truth_boxes, predicted_boxes = bounding_boxes(truth_masks), bounding_boxes(predicted_masks)
    area, predicted_area = areas(truth_masks, truth_boxes), areas(predicted_masks, predicted_boxes)
    if (area == 0).any():
        raise ValueError(f"True cell {np.argmin(area)} (counted from 0) has an empty mask; leave it out of the truth.")
    pairs = intersections(truth_masks, predicted_masks, truth_boxes, predicted_boxes)
    dice = dice_of(pairs, area[:, None] + predicted_area[None, :])
    matched = match(dice, matching)
    found = np.flatnonzero(matched >= 0)
    cell_dice = np.zeros(len(area))
    shared, spilled = np.zeros_like(area), np.zeros_like(area)
    cell_dice[found] = dice[found, matched[found]]
    shared[found] = pairs[found, matched[found]]
    spilled[found] = predicted_area[matched[found]] - shared[found]
    aji_intersection, aji_union = _aji_sums(pairs, area, predicted_area)
    return Score(
        dice=cell_dice,
        matched=matched,
        overlap_degree=np.asarray(overlap_degree, np.float64),
        area=area,
        shared=shared,
        spilled=spilled,
        background=int(np.prod(shape)) - area,
        n_predicted=len(predicted_masks),
        union_pixels=_union_pixels(union(truth_masks, truth_boxes), union(predicted_masks, predicted_boxes)),
        aji_intersection=aji_intersection,
        aji_union=aji_union,
        threshold=threshold,
        matching=matching,
    )


def _aji_sums(pairs: NDArray[np.int64], area: NDArray[np.int64], predicted_area: NDArray[np.int64]) -> tuple[int, int]:
    """Kumar et al. (2017): each true cell takes its prediction of greatest Jaccard index; untaken predictions add."""
    if pairs.size == 0:
        return 0, int(area.sum() + predicted_area.sum())
    unions = area[:, None] + predicted_area[None, :] - pairs
    best = (pairs / unions).argmax(axis=1)
    cells = np.arange(len(area))
    touched = pairs[cells, best] > 0
    unused = np.ones(len(predicted_area), bool)
    unused[best[touched]] = False
    covered = np.where(touched, unions[cells, best], area).sum() + predicted_area[unused].sum()
    return int(pairs[cells, best].sum()), int(covered)


def _union_pixels(truth: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> NDArray[np.int64]:
    both = np.count_nonzero(truth & predicted)
    true, found = np.count_nonzero(truth), np.count_nonzero(predicted)
    return np.array([[truth.size - true - found + both, found - both], [true - both, both]], np.int64)
