"""Connected pieces of a mask as runs along its rows, which are far fewer than its pixels."""

from __future__ import annotations

import numpy as np

from declump._kernels.compiling import compiled
from declump._kernels.types import Ints, Mask


@compiled
def _find_first(joined: Ints, run: int) -> int:
    """First run of the piece that a run belongs to, as far as is known; the way there becomes shorter."""
    while joined[run] != run:
        joined[run] = joined[joined[run]]
        run = joined[run]
    return run


@compiled
def find_runs(mask: Mask, corners: bool) -> tuple[Ints, Ints, int]:
    """Runs (R, 3) of a mask (H, W) along its rows: row, first column and the one behind the last.

    Also the piece (R,), from 0, that each belongs to, and the number of pieces. Pieces are numbered as they are met
    along the rows. Twin of :func:`scipy.ndimage.label`, with neighbours by a side, or by a corner as well.
    """
    height, width = mask.shape
    reach = 1 if corners else 0
    runs = np.empty((height * ((width + 1) // 2), 3), np.int32)
    joined = np.empty(len(runs), np.int32)
    count, above, above_end = 0, 0, 0
    for row in range(height):
        first, column = count, 0
        while column < width:
            if not mask[row, column]:
                column += 1
                continue
            begin = column
            while column < width and mask[row, column]:
                column += 1
            runs[count, 0], runs[count, 1], runs[count, 2] = row, begin, column
            joined[count] = count
            while above < above_end and runs[above, 2] + reach <= begin:
                above += 1
            other = above
            while other < above_end and runs[other, 1] < column + reach:
                one, two = _find_first(joined, other), _find_first(joined, count)
                joined[max(one, two)] = min(one, two)
                other += 1
            count += 1
        above, above_end = first, count
    pieces, number = np.empty(count, np.int32), 0
    for run in range(count):
        if joined[run] == run:
            pieces[run] = number
            number += 1
        else:  # an earlier run, whose piece is known
            pieces[run] = pieces[_find_first(joined, run)]
    return runs[:count].copy(), pieces, number


@compiled
def measure_runs(runs: Ints, pieces: Ints, count: int, height: int, width: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Areas (n,), first pixels (n, 2) and extents (n, 4) of pieces that are made of runs in a mask (H, W).

    Also their numbers, from 1, along its top, left, bottom and right edge: (4, the longer side).
    """
    areas, firsts = np.zeros(count, np.int64), np.empty((count, 2), np.int64)
    boxes, edges = np.empty((count, 4), np.int64), np.zeros((4, max(height, width)), np.int32)
    for run in range(len(runs)):
        row, begin, end, piece = runs[run, 0], runs[run, 1], runs[run, 2], pieces[run]
        if not areas[piece]:
            firsts[piece, 0], firsts[piece, 1] = row, begin
            boxes[piece, 0], boxes[piece, 1], boxes[piece, 3] = row, begin, end
        areas[piece] += end - begin
        boxes[piece, 1] = min(boxes[piece, 1], begin)
        boxes[piece, 2] = row + 1
        boxes[piece, 3] = max(boxes[piece, 3], end)
        if row == 0:
            edges[0, begin:end] = piece + 1
        if begin == 0:
            edges[1, row] = piece + 1
        if row == height - 1:
            edges[2, begin:end] = piece + 1
        if end == width:
            edges[3, row] = piece + 1
    return areas, firsts, boxes, edges


@compiled
def paint_runs(image: Ints, runs: Ints, pieces: Ints, values: Ints) -> None:
    """Put the value (n,) of each piece into the pixels of its runs in an image (H, W)."""
    for run in range(len(runs)):
        value = values[pieces[run]]
        for column in range(runs[run, 1], runs[run, 2]):
            image[runs[run, 0], column] = value
