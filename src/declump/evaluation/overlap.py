"""How much of a cell's outline its neighbours hide."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.evaluation.boxes import bounding_boxes, check_masks


def overlap_degree(masks: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Occluded share of each cell's boundary length.

    The boundary of a cell are its own pixels with at least one of their four sides open, that is next to a pixel
    outside the cell; the image border, where a cell is only cut, opens no side. Such a pixel is occluded if any other
    cell covers it: masks do not say which cell lies on top. A pixel stands for the length of outline that passes it,
    ``sqrt(v^2 + h^2)`` for v open sides above and below and h open sides left and right: 1 along an edge, sqrt(2) on a
    diagonal step.

    Parameters
    ----------
    masks : (N, H, W) bool array
        Whole masks of the cells of one image.

    Returns
    -------
    (N,) float64 array
        From 0 (free) to 1 (the whole outline lies in other cells); 0 for a cell without a boundary, which is empty
        or fills the image.

    Raises
    ------
    ValueError
        If `masks` is not an (N, H, W) bool array.

    Examples
    --------
    >>> import numpy as np
    >>> masks = np.zeros((2, 5, 8), bool)
    >>> masks[0, 1:4, 1:4] = True
    >>> masks[1, :, 3:7] = True
    >>> overlap_degree(masks).round(2).tolist()
    [0.4, 0.3]
    """
    check_masks(masks, "masks")
    boxes = bounding_boxes(masks)
    layers = np.zeros(masks.shape[1:], np.int32)
    for mask, box in zip(masks, boxes, strict=True):
        layers[box] += mask[box]
    degrees = np.zeros(len(masks))
    for index, (rows, columns) in enumerate(boxes):
        window = (
            slice(max(rows.start - 1, 0), rows.stop + 1),
            slice(max(columns.start - 1, 0), columns.stop + 1),
        )
        length = _boundary_length(masks[index][window])
        total = length.sum()
        if total > 0:
            degrees[index] = min(length[layers[window] > 1].sum() / total, 1.0)
    return degrees


def _boundary_length(cell: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Length of outline at each pixel of a window that reaches a pixel beyond the cell or to the image border."""
    if cell.size == 0:
        return np.zeros(cell.shape)
    # Repeating the edge leaves the sides at the image border closed and those beyond the cell open.
    padded = np.pad(cell, 1, mode="edge")
    vertical = (~padded[:-2, 1:-1]).astype(np.float64) + ~padded[2:, 1:-1]
    horizontal = (~padded[1:-1, :-2]).astype(np.float64) + ~padded[1:-1, 2:]
    return np.asarray(np.hypot(vertical, horizontal) * cell)
