"""Pictures side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.drawing.display import to_display


def mosaic(pictures: Sequence[ArrayLike], columns: int | None = None, gap: int = 8) -> NDArray[np.uint8]:
    """Lay pictures side by side on white, row by row.

    Parameters
    ----------
    pictures : sequence of (H, W) or (H, W, 3)
        Of any sizes; each stands in the middle of its place.
    columns : int, optional
        Pictures in a row; by default all.
    gap : int
        White pixels between two pictures.

    Returns
    -------
    (H, W, 3) uint8
    """
    shown = [to_display(picture) for picture in pictures]
    columns = len(shown) if columns is None else columns
    if not shown or columns < 1 or gap < 0:
        raise ValueError(f"a mosaic has pictures, columns >= 1 and gap >= 0; given were {len(shown)}, {columns}, {gap}")
    height, width = np.max([picture.shape[:2] for picture in shown], axis=0)
    columns, rows = min(columns, len(shown)), -(-len(shown) // columns)
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 3), 255, np.uint8)
    for index, picture in enumerate(shown):
        top = index // columns * (height + gap) + (height - picture.shape[0]) // 2
        left = index % columns * (width + gap) + (width - picture.shape[1]) // 2
        sheet[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return sheet
