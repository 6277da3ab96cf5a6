"""COCO's text of run lengths, the shortest exact one of a mask: numbers to text and back.

From the fourth on, a run is written as its difference to the run two before. A character less 48 holds five bits of a
number, the lowest first, and 32 where more follow; bit 16 of the last is the sign.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


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
        if not bits & 32:
            number -= (bits & 16) << (shift - 4)
            lengths.append(number + lengths[-2] if len(lengths) > 2 else number)
            number = shift = 0
    if shift:
        raise ValueError("the text of run lengths ('counts') ends in the middle of a number")
    return lengths
