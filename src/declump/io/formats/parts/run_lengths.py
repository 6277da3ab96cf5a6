"""Crops as run lengths, which go down the columns from the left and begin with the pixels outside the mask."""

from __future__ import annotations

import numpy as np

from declump.records.crops import Crop
from declump.run_lengths import compress, decompress


def runs(crop: Crop, shape: tuple[int, int]) -> list[int]:
    """Lengths of the runs of an image (H, W) that is False but for a crop."""
    columns = np.pad(crop.mask.T, ((0, 0), (1, 1))).astype(np.int8)
    edges = np.diff(columns, axis=1)
    (column, row), (_, end_row) = np.nonzero(edges == 1), np.nonzero(edges == -1)
    before = (crop.left + column) * shape[0] + crop.top
    starts, ends = before + row, before + end_row
    # A run that reaches the lower border goes on at the upper one of the next column.
    joined = starts[1:] == ends[:-1]
    starts, ends = starts[np.append(True, ~joined)[: starts.size]], ends[np.append(~joined, True)[: ends.size]]
    borders = np.column_stack([starts, ends]).ravel()
    lengths = np.diff(np.concatenate([[0], borders, [shape[0] * shape[1]]]))
    return [int(length) for length in (lengths[:-1] if borders.size and lengths[-1] == 0 else lengths)]


def encode(crop: Crop, shape: tuple[int, int]) -> str:
    """Compressed run lengths of an image (H, W) that is False but for a crop."""
    return compress(runs(crop, shape))


def decode(text: str, shape: tuple[int, int]) -> Crop:
    """Pixels of compressed run lengths in an image (H, W).

    Raises
    ------
    ValueError
        If the text is broken, or the runs do not fill the image.
    """
    return fill_runs(decompress(text), shape)


def fill_runs(lengths: list[int], shape: tuple[int, int]) -> Crop:
    """Pixels of plain run lengths in an image (H, W)."""
    height, width = shape
    if any(length < 0 for length in lengths) or sum(lengths) != height * width:
        raise ValueError(f"the run lengths do not fill an image of {height} x {width} pixels")
    borders = np.cumsum(np.array(lengths, dtype=np.int64))
    starts, ends = borders[:-1:2], borders[1::2]
    starts, ends = starts[starts < ends], ends[starts < ends]
    if not starts.size:
        return Crop.nothing()
    first, stop = int(starts[0]) // height, -(-int(ends[-1]) // height)
    steps = np.zeros((stop - first) * height + 1, dtype=np.int8)
    np.add.at(steps, starts - first * height, 1)
    np.add.at(steps, ends - first * height, -1)
    columns = np.cumsum(steps[:-1], dtype=np.int8).astype(np.bool_).reshape(stop - first, height)
    return Crop.of(columns.T, 0, first)
