"""Which predicted cell answers to which true cell."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from declump.evaluation.boxes import areas, bounding_boxes, check_masks, intersections

Matching = Literal["greedy", "hungarian", "isbi2014", "order"]


def dice_matrix(truth: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Dice coefficient of every true cell with every predicted cell.

    Parameters
    ----------
    truth : (N, H, W) bool array
        Whole masks of the true cells; they may overlap.
    predicted : (M, H, W) bool array
        Whole masks of the predicted cells; they may overlap.

    Returns
    -------
    (N, M) float64 array
        ``2 |t and p| / (|t| + |p|)``; 0 where both are empty.

    Raises
    ------
    ValueError
        If a stack is not (N, H, W) bool or the image shapes differ.

    Examples
    --------
    >>> import numpy as np
    >>> cell = np.zeros((1, 2, 4), bool)
    >>> cell[0, 0, :2] = True
    >>> float(dice_matrix(cell, np.roll(cell, 1, axis=2))[0, 0])
    0.5
    """
    check_masks(truth, "truth")
    check_masks(predicted, "predicted")
    if truth.shape[1:] != predicted.shape[1:]:
        raise ValueError(
            f"truth and predicted must be masks on the same image, got {truth.shape[1:]} and {predicted.shape[1:]}."
        )
    truth_boxes, predicted_boxes = bounding_boxes(truth), bounding_boxes(predicted)
    shared = intersections(truth, predicted, truth_boxes, predicted_boxes)
    total = areas(truth, truth_boxes)[:, None] + areas(predicted, predicted_boxes)[None, :]
    return dice_of(shared, total)


def dice_of(shared: NDArray[np.int64], total: NDArray[np.int64]) -> NDArray[np.float64]:
    """Dice from the pixels shared by two masks and the sum of their areas; 0 where both masks are empty."""
    return 2.0 * shared / np.maximum(total, 1)


def match(dice: NDArray[np.float64], method: Matching = "greedy") -> NDArray[np.intp]:
    """Pair true and predicted cells one to one; pairs of Dice 0 are no pairs.

    Parameters
    ----------
    dice : (N, M) float array
        Dice of true cell n with predicted cell m.
    method : {"greedy", "hungarian", "isbi2014", "order"}
        - ``"greedy"``: the corrected challenge matching. Take the largest Dice of the whole matrix, fix that pair,
          delete its row and column, repeat. Ties go to the lowest true index, then the lowest predicted index.
        - ``"hungarian"``: the pairing of greatest total Dice.
        - ``"isbi2014"``: the original challenge's order. Each true cell in turn takes its best prediction among those
          not yet taken (ties to the lowest index), so the result depends on the order of the truth: kept only to
          compare with figures published that way.
        - ``"order"``: prediction n belongs to true cell n, for predictions made from the seeds of the true cells.

    Returns
    -------
    (N,) intp array
        Index of each true cell's prediction, -1 where it has none.

    Raises
    ------
    ValueError
        If `dice` is no matrix of numbers from 0 to 1, the method is unknown, or pairs in order are asked for and
        there are not as many predictions as true cells.

    Examples
    --------
    >>> import numpy as np
    >>> dice = np.array([[0.8, 0.7], [0.9, 0.1]])
    >>> match(dice).tolist(), match(dice, "hungarian").tolist(), match(dice, "isbi2014").tolist()
    ([1, 0], [1, 0], [0, 1])
    """
    dice = np.asarray(dice, np.float64)
    if dice.ndim != 2 or not ((dice >= 0) & (dice <= 1)).all():
        raise ValueError(
            f"dice must be an (N, M) matrix of values from 0 to 1 as dice_matrix gives, got shape {dice.shape}"
            f"{'' if dice.ndim != 2 else ' with values outside'}."
        )
    if method == "greedy":
        return _greedy(dice)
    if method == "hungarian":
        return _hungarian(dice)
    if method == "isbi2014":
        return _one_after_another(dice)
    if method == "order":
        return _in_order(dice)
    raise ValueError(f"Unknown matching {method!r}; choose one of {', '.join(get_args(Matching))}.")


def _greedy(dice: NDArray[np.float64]) -> NDArray[np.intp]:
    matched = np.full(len(dice), -1, np.intp)
    taken = np.zeros(dice.shape[1], bool)
    rows, columns = np.nonzero(dice)
    # A stable sort keeps row-major order among equals: the lowest true index first, then the lowest predicted.
    for k in np.argsort(-dice[rows, columns], kind="stable"):
        row, column = rows[k], columns[k]
        if matched[row] < 0 and not taken[column]:
            matched[row] = column
            taken[column] = True
    return matched


def _hungarian(dice: NDArray[np.float64]) -> NDArray[np.intp]:
    from scipy.optimize import linear_sum_assignment

    matched = np.full(len(dice), -1, np.intp)
    rows, columns = linear_sum_assignment(dice, maximize=True)
    matched[rows] = np.where(dice[rows, columns] > 0, columns, -1)
    return matched


def _in_order(dice: NDArray[np.float64]) -> NDArray[np.intp]:
    if dice.shape[0] != dice.shape[1]:
        raise ValueError(
            f"matching in order takes one prediction a true cell, got {dice.shape[1]} for {dice.shape[0]}; "
            "use another matching."
        )
    return np.where(dice.diagonal() > 0, np.arange(len(dice)), -1).astype(np.intp)


def _one_after_another(dice: NDArray[np.float64]) -> NDArray[np.intp]:
    matched = np.full(len(dice), -1, np.intp)
    if dice.shape[1] == 0:
        return matched
    free = dice.copy()
    for row in range(len(dice)):
        column = int(free[row].argmax())
        if free[row, column] > 0:
            matched[row] = column
            free[:, column] = 0
    return matched
