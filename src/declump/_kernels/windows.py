"""Windows of an image: turned and scaled, or in polar coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._kernels.compiling import compiled
from declump._kernels.types import Floats


@compiled
def sample_affine(
    planes: NDArray[Any], unit: float, beyond: Floats, corner: Floats, steps: Floats, window: NDArray[np.float32]
) -> None:
    """Fill a window (C, A, B) from planes (C, H, W); twin of :func:`declump.regions.sampling.sample_affine`.

    ``corner`` is the row and column of its first point, ``steps`` (2, 2) how they change from one row of the window to
    the next, and from one column to the next.
    """
    height, width = planes.shape[1], planes.shape[2]
    for i in range(window.shape[1]):
        for j in range(window.shape[2]):
            row = corner[0] + i * steps[0, 0] + j * steps[1, 0]
            column = corner[1] + i * steps[0, 1] + j * steps[1, 1]
            if not (-0.5 < row < height - 0.5 and -0.5 < column < width - 0.5):
                for plane in range(window.shape[0]):
                    window[plane, i, j] = beyond[plane]
                continue
            row, column = min(max(row, 0.0), height - 1.0), min(max(column, 0.0), width - 1.0)
            top, left = int(row), int(column)
            below, beside = min(top + 1, height - 1), min(left + 1, width - 1)
            down, right = row - top, column - left
            for plane in range(window.shape[0]):
                above = planes[plane, top, left] * (1 - right) + planes[plane, top, beside] * right
                under = planes[plane, below, left] * (1 - right) + planes[plane, below, beside] * right
                window[plane, i, j] = unit * (above * (1 - down) + under * down)


@compiled
def sample_number(
    labels: NDArray[np.int32], number: int, corner: Floats, steps: Floats, window: NDArray[np.float32]
) -> None:
    """Fill a window (A, B) with 1 where labels (H, W) have a number, else 0; points as in :func:`sample_affine`."""
    height, width = labels.shape
    for i in range(window.shape[0]):
        for j in range(window.shape[1]):
            row = int(np.floor(corner[0] + i * steps[0, 0] + j * steps[1, 0] + 0.5))
            column = int(np.floor(corner[1] + i * steps[0, 1] + j * steps[1, 1] + 0.5))
            inside = 0 <= row < height and 0 <= column < width
            window[i, j] = 1.0 if inside and labels[row, column] == number else 0.0


@compiled
def sample_polar(
    planes: NDArray[np.float32],
    nuclei: NDArray[np.int32],
    number: int,
    ignored: NDArray[np.int64],
    seed: Floats,
    others: Floats,
    rises: Floats,
    runs: Floats,
    step: float,
    lead: float,
    beyond: NDArray[np.float32],
    window: NDArray[np.float32],
) -> None:
    """Fill a window (9, A, D) as seen from a seed; twin of :func:`declump.evidence.windows.sample_window_by_points`.

    ``planes`` (4, H, W) have the values ``beyond`` (4,) outside the image; ``rises`` and ``runs`` (A,) are directions.
    """
    height, width = nuclei.shape
    one = np.float32(1)
    depths = window.shape[2]
    rows, columns, nearest = np.empty(depths), np.empty(depths), np.empty(depths)
    for angle in range(window.shape[1]):
        for depth in range(depths):
            distance = step * (depth + 0.5)
            rows[depth], columns[depth] = seed[0] + rises[angle] * distance, seed[1] + runs[angle] * distance
            nearest[depth] = np.inf
        # Along a ray rather than seed by seed for a point: several points at once.
        for other in range(others.shape[0]):
            other_row, other_column = others[other, 0], others[other, 1]
            for depth in range(depths):
                y, x = rows[depth] - other_row, columns[depth] - other_column
                squared = y * y + x * x
                nearest[depth] = squared if squared < nearest[depth] else nearest[depth]
        for depth in range(depths):
            row, column = rows[depth], columns[depth]
            ahead = (np.sqrt(nearest[depth]) / step - (depth + 0.5)) / lead
            window[7, angle, depth] = min(max(ahead, -1.0), 1.0)
            window[8, angle, depth] = np.float32(depth) / np.float32(window.shape[2])
            if not (-0.5 < row < height - 0.5 and -0.5 < column < width - 0.5):
                for plane in range(4):
                    window[plane, angle, depth] = beyond[plane]
                for plane in range(4, 7):
                    window[plane, angle, depth] = 0.0
                continue
            name = nuclei[
                int(min(max(np.rint(row), 0.0), height - 1.0)), int(min(max(np.rint(column), 0.0), width - 1.0))
            ]
            other_nucleus = name > 0 and name != number
            for place in range(ignored.size):
                other_nucleus = other_nucleus and name != ignored[place]
            window[4, angle, depth] = 1.0 if other_nucleus else 0.0
            window[5, angle, depth] = 1.0 if name == number else 0.0
            window[6, angle, depth] = 1.0
            row, column = min(max(row, 0.0), height - 1.0), min(max(column, 0.0), width - 1.0)
            top, left = int(row), int(column)
            below, beside = min(top + 1, height - 1), min(left + 1, width - 1)
            down, right = np.float32(row - top), np.float32(column - left)
            for plane in range(4):
                above = planes[plane, top, left] * (one - right) + planes[plane, top, beside] * right
                under = planes[plane, below, left] * (one - right) + planes[plane, below, beside] * right
                window[plane, angle, depth] = above * (one - down) + under * down
