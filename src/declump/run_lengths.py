"""COCO's run lengths, the shortest exact form of a mask: masks to numbers, numbers to text, and back.

Runs go down the columns, from the left, and begin with the pixels outside the mask. In a text a run is written, from
the fourth on, as its difference to the run two before. A character less 48 holds five bits of a number, the lowest
first, and 32 where more follow; bit 16 of the last is the sign.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MAX_BITS = 65
"""Of a number in a text: more than any image has pixels."""


def measure_runs(mask: NDArray[np.bool_], shape: tuple[int, int], corner: tuple[int, int] = (0, 0)) -> list[int]:
    """Lengths of the runs of an image (H, W) that is False but for a mask (h, w) whose first pixel lies at a corner."""
    columns = np.pad(mask.T, ((0, 0), (1, 1))).astype(np.int8)
    edges = np.diff(columns, axis=1)
    (column, row), (_, end_row) = np.nonzero(edges == 1), np.nonzero(edges == -1)
    before = (corner[1] + column) * shape[0] + corner[0]
    starts, ends = before + row, before + end_row
    # A run that reaches the lower border goes on at the upper one of the next column.
    joined = starts[1:] == ends[:-1]
    starts, ends = starts[np.append(True, ~joined)[: starts.size]], ends[np.append(~joined, True)[: ends.size]]
    borders = np.column_stack([starts, ends]).ravel()
    lengths = np.diff(np.concatenate([[0], borders, [shape[0] * shape[1]]]))
    return [int(length) for length in (lengths[:-1] if borders.size and lengths[-1] == 0 else lengths)]


def fill_runs(lengths: Sequence[int], shape: tuple[int, int]) -> tuple[NDArray[np.bool_], int]:
    """Columns (H, w) of an image (H, W) that hold all pixels of its runs, and the number of the first of them.

    Raises
    ------
    ValueError
        If the runs do not fill the image.
    """
    height, width = shape
    if any(length < 0 for length in lengths) or sum(lengths) != height * width:
        raise ValueError(f"the run lengths add up to {sum(lengths)}; the image has {height * width} pixels")
    borders = np.cumsum(np.array(lengths, dtype=np.int64))
    starts, ends = borders[:-1:2], borders[1::2]
    starts, ends = starts[starts < ends], ends[starts < ends]
    if not starts.size:
        return np.zeros((height, 0), np.bool_), 0
    first, stop = int(starts[0]) // height, -(-int(ends[-1]) // height)
    steps = np.zeros((stop - first) * height + 1, dtype=np.int8)
    np.add.at(steps, starts - first * height, 1)
    np.add.at(steps, ends - first * height, -1)
    return np.cumsum(steps[:-1], dtype=np.int8).astype(np.bool_).reshape(stop - first, height).T, first


def compress(lengths: Sequence[int]) -> str:
    """Text of run lengths; the same as pycocotools gives."""
    numbers = np.array(lengths, dtype=np.int64)
    numbers[3:] -= numbers[1:-2].copy()
    left, written = np.ones(numbers.shape, np.bool_), np.zeros((numbers.size, 0), np.uint8)
    while left.any():
        bits, numbers = numbers & 31, numbers >> 5
        done = numbers == np.where(bits & 16, -1, 0)
        characters = np.where(left, 48 + np.where(done, bits, bits | 32), 0).astype(np.uint8)
        written, left = np.column_stack([written, characters]), left & ~done
    return written[written > 0].tobytes().decode("ascii")


def decompress(text: str) -> list[int]:
    """Run lengths of a text.

    Raises
    ------
    ValueError
        If the text is broken.
    """
    lengths: list[int] = []
    number = shift = 0
    for character in text:
        bits = ord(character) - 48
        if not 0 <= bits < 64:
            raise ValueError(f"the text of run lengths ('counts') has no character {character!r}; it is broken")
        number |= (bits & 31) << shift
        shift += 5
        if shift > MAX_BITS:
            raise ValueError("the text of run lengths ('counts') has a number that is longer than any image")
        if not bits & 32:
            number -= (bits & 16) << (shift - 4)
            lengths.append(number + lengths[-2] if len(lengths) > 2 else number)
            number = shift = 0
    if shift:
        raise ValueError("the text of run lengths ('counts') ends in the middle of a number")
    return lengths
