"""The cells that were found worst: each true cell with its prediction, one on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump.drawing import pen
from declump.pictures.sheet import mosaic
from declump.records.crops import Crop

SIDE = 180
"""Side of the picture of one cell in pixels."""
_MISSED, _TOO_MUCH, _BOTH = (230, 159, 0), (86, 180, 233), (90, 90, 90)


@dataclass(frozen=True, eq=False)
class FoundCell:
    """A true cell and what was found of it.

    Attributes
    ----------
    title : str
    dice : float
    truth, predicted : Crop
        Its pixels, and those of the prediction; empty if it was missed.
    """

    title: str
    dice: float
    truth: Crop
    predicted: Crop

    @classmethod
    def from_masks(
        cls, title: str, dice: float, truth: NDArray[np.bool_], predicted: NDArray[np.bool_] | None
    ) -> FoundCell:
        """Cut a cell out of masks (H, W) of the image; without a prediction it was missed."""
        return cls(title, float(dice), Crop.of(truth), Crop.nothing() if predicted is None else Crop.of(predicted))


def worst_cells(cells: Sequence[FoundCell], *, most: int = 24, columns: int = 6) -> NDArray[np.uint8]:
    """Draw the cells of lowest Dice: orange is missed, blue too much, grey right.

    Parameters
    ----------
    cells : sequence of FoundCell
    most, columns : int
        Cells in all, and in a row.

    Returns
    -------
    (H, W, 3) uint8

    Raises
    ------
    ValueError
        If there is no cell.
    """
    chosen = sorted(cells, key=lambda cell: cell.dice)[:most]
    if not chosen:
        raise ValueError("there is no true cell to draw")
    return mosaic([_draw(cell) for cell in chosen], columns)


def _draw(cell: FoundCell) -> NDArray[np.uint8]:
    both = cell.truth.join(cell.predicted)
    height, width = both.mask.shape
    panel = np.full((height, width, 3), 255, np.uint8)
    truth, predicted = (_lay(part, both) for part in (cell.truth, cell.predicted))
    panel[truth & ~predicted], panel[predicted & ~truth], panel[truth & predicted] = _MISSED, _TOO_MUCH, _BOTH
    step = max(height, width) / SIDE
    rows, columns = (np.minimum((np.arange(int(n / step)) * step).astype(int), n - 1) for n in (height, width))
    sheet = np.full((SIDE + 2 * pen.SMALLEST_TEXT + 8, SIDE, 3), 255, np.uint8)
    top, left = (SIDE - len(rows)) // 2, (SIDE - len(columns)) // 2
    sheet[top : top + len(rows), left : left + len(columns)] = panel[np.ix_(rows, columns)]
    below = SIDE + pen.SMALLEST_TEXT / 2 + 2
    pen.write(sheet, [(cell.title[-28:], (below, 2)), (f"Dice {cell.dice:.3f}", (below + pen.SMALLEST_TEXT + 2, 2))])
    return sheet


def _lay(part: Crop, window: Crop) -> NDArray[np.bool_]:
    mask = np.zeros(window.mask.shape, np.bool_)
    if part.area:
        height, width = part.mask.shape
        mask[part.top - window.top :, part.left - window.left :][:height, :width] = part.mask
    return mask
