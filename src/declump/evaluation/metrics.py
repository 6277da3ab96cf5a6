"""The figures a segmentation of overlapping cells is judged by, on one image and over many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump.evaluation.boxes import areas, bounding_boxes, check_masks, intersections, union
from declump.evaluation.matching import Matching, dice_of, match
from declump.evaluation.overlap import overlap_degree as degrees_of

FIGURES = (
    "dice_all",
    "dice_overlapping",
    "dice_good",
    "fno",
    "fdo",
    "tpp",
    "fpp",
    "tpr",
    "tnr",
    "fpr",
    "fnr_pixels",
    "fnr_objects",
    "aji",
)


@dataclass(frozen=True, eq=False)
class Score:
    """What is known of every true cell, and the figures that follow; a figure over nothing is NaN.

    `score` makes one for an image and `pool` one for many, so that every figure is over all cells, not a mean of means.

    Parameters
    ----------
    dice : (N,) float64 array
        Dice of each true cell with its prediction, 0 for a missed cell.
    matched : (N,) intp array
        Index of each true cell's prediction, -1 for a missed cell.
    overlap_degree : (N,) float64 array
        Occluded share of each true cell's boundary length.
    area, shared, spilled, background : (N,) int64 arrays
        Pixels of each true cell, of it under its prediction, of the prediction outside it, of the image outside it.
    n_predicted : int
        Number of predicted cells.
    union_pixels : (2, 2) int64 array
        Pixels by (in the union of the truth, in the union of the predictions).
    aji_intersection, aji_union : int
        Sums whose quotient is the aggregated Jaccard index.
    threshold : float
        Dice above which a cell is good.
    matching : str
        How the cells were matched.
    """

    dice: NDArray[np.float64]
    matched: NDArray[np.intp]
    overlap_degree: NDArray[np.float64]
    area: NDArray[np.int64]
    shared: NDArray[np.int64]
    spilled: NDArray[np.int64]
    background: NDArray[np.int64]
    n_predicted: int
    union_pixels: NDArray[np.int64]
    aji_intersection: int
    aji_union: int
    threshold: float
    matching: Matching

    @property
    def good(self) -> NDArray[np.bool_]:
        """(N,) bool: Dice above the threshold."""
        return np.asarray(self.dice > self.threshold)

    @property
    def dice_all(self) -> float:
        """Mean Dice over all true cells; a missed cell counts 0."""
        return _mean(self.dice)

    @property
    def dice_overlapping(self) -> float:
        """Mean Dice over true cells with overlap degree above 0; a missed cell counts 0."""
        return _mean(self.dice[self.overlap_degree > 0])

    @property
    def dice_by_overlap(self) -> NDArray[np.float64]:
        """(4,) float64: mean Dice by overlap degree in (0, 1/4), [1/4, 1/2), [1/2, 3/4) and [3/4, 1]."""
        bins = np.digitize(self.overlap_degree, [0.25, 0.5, 0.75])
        return np.array([_mean(self.dice[(bins == k) & (self.overlap_degree > 0)]) for k in range(4)])

    @property
    def dice_good(self) -> float:
        """Mean Dice over good cells only: the challenge's figure, to be read beside `fno`."""
        return _mean(self.dice[self.good])

    @property
    def fno(self) -> float:
        """Object-level false negatives: share of true cells that are not good."""
        return _mean(~self.good)

    @property
    def fdo(self) -> float:
        """Object-level false detections: share of predicted cells that are no good cell's match."""
        return _ratio(self.n_predicted - int(self.good.sum()), self.n_predicted)

    @property
    def tpp(self) -> float:
        """Pixel-level true positives: mean over good cells of the share of the cell that is covered."""
        return _mean(self.shared[self.good] / self.area[self.good])

    @property
    def fpp(self) -> float:
        """Pixel-level false positives: mean over good cells of the share of the cell's background that is covered."""
        return _mean(self.spilled[self.good] / np.maximum(self.background[self.good], 1))

    @property
    def tpr(self) -> float:
        """Share of the true union's pixels that the predicted union covers."""
        return _ratio(self.union_pixels[1, 1], self.union_pixels[1].sum())

    @property
    def tnr(self) -> float:
        """Share of the pixels outside the true union that the predicted union leaves free."""
        return _ratio(self.union_pixels[0, 0], self.union_pixels[0].sum())

    @property
    def fpr(self) -> float:
        """Share of the pixels outside the true union that the predicted union covers."""
        return _ratio(self.union_pixels[0, 1], self.union_pixels[0].sum())

    @property
    def fnr_pixels(self) -> float:
        """False-negative rate, reading A: mean over true cells of the share of the cell's pixels that is missed."""
        return _mean(1 - self.shared / self.area)

    @property
    def fnr_objects(self) -> float:
        """False-negative rate, reading B: share of true cells that are not good, the same as `fno`."""
        return self.fno

    @property
    def aji(self) -> float:
        """Aggregated Jaccard index on the whole, overlapping masks."""
        return _ratio(self.aji_intersection, self.aji_union)

    def figures(self) -> dict[str, float]:
        """Every single-number figure by its name, in the order of the table in docs/evaluation.md."""
        return {name: float(getattr(self, name)) for name in FIGURES}


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


def pool(scores: Iterable[Score]) -> Score:
    """Join the scores of many images into one over all their cells.

    Parameters
    ----------
    scores : iterable of Score
        At least one, all with the same threshold and matching.

    Returns
    -------
    Score
        Cells concatenated in the order given, pixel counts and Jaccard sums added; `matched` counts through the
        predictions of all images in the same order.

    Raises
    ------
    ValueError
        If there is no score, or thresholds or matchings differ.
    """
    parts = list(scores)
    if len({(part.threshold, part.matching) for part in parts}) != 1:
        raise ValueError(
            f"pool needs at least one score, all with one threshold and one matching, got {len(parts)} scores with "
            f"{sorted({(part.threshold, part.matching) for part in parts})}; score all images alike."
        )
    n_predicted = [part.n_predicted for part in parts]
    offsets = np.cumsum([0, *n_predicted[:-1]])
    matched = [np.where(part.matched < 0, -1, part.matched + o) for part, o in zip(parts, offsets, strict=True)]
    return Score(
        dice=np.concatenate([part.dice for part in parts]),
        matched=np.concatenate(matched),
        overlap_degree=np.concatenate([part.overlap_degree for part in parts]),
        area=np.concatenate([part.area for part in parts]),
        shared=np.concatenate([part.shared for part in parts]),
        spilled=np.concatenate([part.spilled for part in parts]),
        background=np.concatenate([part.background for part in parts]),
        n_predicted=sum(n_predicted),
        union_pixels=np.sum([part.union_pixels for part in parts], axis=0),
        aji_intersection=sum(part.aji_intersection for part in parts),
        aji_union=sum(part.aji_union for part in parts),
        threshold=parts[0].threshold,
        matching=parts[0].matching,
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


def _mean(values: NDArray[np.bool_ | np.float64]) -> float:
    return float(np.mean(values)) if values.size else float("nan")


def _ratio(part: int | np.integer, whole: int | np.integer) -> float:
    return float(part / whole) if whole else float("nan")
