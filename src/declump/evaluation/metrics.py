"""The figures a segmentation of overlapping cells is judged by, on one image and over many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump.evaluation.matching import Matching

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


def _mean(values: NDArray[np.bool_ | np.float64]) -> float:
    return float(np.mean(values)) if values.size else float("nan")


def _ratio(part: int | np.integer, whole: int | np.integer) -> float:
    return float(part / whole) if whole else float("nan")
