"""Stacks of masks by their bounding boxes: a cell is small in its image, so counting inside its box is cheap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Box = tuple[slice, slice]


def check_masks(masks: NDArray[np.bool_], name: str) -> None:
    """Refuse what is no stack of masks.

    Parameters
    ----------
    masks : (N, H, W) bool array
        What to check; N may be 0.
    name : str
        What the masks are called in the message.

    Raises
    ------
    ValueError
        If it is no bool array of three dimensions.
    """
    if not isinstance(masks, np.ndarray) or masks.dtype != np.bool_ or masks.ndim != 3:
        given = f"{masks.shape} {masks.dtype}" if isinstance(masks, np.ndarray) else type(masks).__name__
        raise ValueError(
            f"{name} must be an (N, H, W) bool array, got {given}; stack one mask a cell, and compare with 0 "
            f"or with a label to get bool."
        )


def bounding_boxes(masks: NDArray[np.bool_]) -> list[Box]:
    """Smallest box round each mask.

    Parameters
    ----------
    masks : (N, H, W) bool array
        One mask a cell.

    Returns
    -------
    list of N (slice, slice)
        Rows and columns; a box of no pixels for an empty mask.
    """
    boxes = []
    for mask in masks:
        rows = np.flatnonzero(mask.any(axis=1))
        if rows.size == 0:
            boxes.append((slice(0, 0), slice(0, 0)))
            continue
        band = slice(int(rows[0]), int(rows[-1]) + 1)
        columns = np.flatnonzero(mask[band].any(axis=0))
        boxes.append((band, slice(int(columns[0]), int(columns[-1]) + 1)))
    return boxes


def areas(masks: NDArray[np.bool_], boxes: list[Box]) -> NDArray[np.int64]:
    """Pixels of each mask, (N,), counted inside its box."""
    return np.array([np.count_nonzero(mask[box]) for mask, box in zip(masks, boxes, strict=True)], np.int64)


def intersections(
    first: NDArray[np.bool_], second: NDArray[np.bool_], first_boxes: list[Box], second_boxes: list[Box]
) -> NDArray[np.int64]:
    """Pixels that a mask of one stack shares with a mask of another, for all pairs.

    Parameters
    ----------
    first, second : (N, H, W) and (M, H, W) bool arrays
        Masks on the same image.
    first_boxes, second_boxes : lists of N and M (slice, slice)
        Their bounding boxes.

    Returns
    -------
    (N, M) int64 array
    """
    counts = np.zeros((len(first), len(second)), np.int64)
    for i, (rows, columns) in enumerate(first_boxes):
        for j, (other_rows, other_columns) in enumerate(second_boxes):
            top, bottom = max(rows.start, other_rows.start), min(rows.stop, other_rows.stop)
            left, right = max(columns.start, other_columns.start), min(columns.stop, other_columns.stop)
            if top < bottom and left < right:
                counts[i, j] = np.count_nonzero(first[i, top:bottom, left:right] & second[j, top:bottom, left:right])
    return counts


def union(masks: NDArray[np.bool_], boxes: list[Box]) -> NDArray[np.bool_]:
    """Union (H, W) of the masks, painted box by box."""
    painted = np.zeros(masks.shape[1:], bool)
    for mask, box in zip(masks, boxes, strict=True):
        painted[box] |= mask[box]
    return painted
