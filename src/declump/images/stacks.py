"""Focus stacks in files: one place, recorded at several heights of the focus (Z)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.images.decoding import list_places

Page = int | str
"""An image of a file: the number of a page, from 1, or the pages of a focus stack, as ``"1-20"`` or ``"1-39:2"``."""
STACKS = ("fuse", "planes")
"""What can be made of a focus stack: one image, or an image a plane."""
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})(?::(\d{1,9}))?")


def list_images(path: str | Path, *, stack: str = "fuse") -> list[Page | None]:
    """List the images in a file, as :func:`declump.io.read_image` takes them.

    Parameters
    ----------
    path : str or Path
    stack : "fuse" or "planes"
        Whether planes that differ in focus (Z) alone are one image, or each is one. Only OME-TIFF and files of ImageJ
        tell which axis is that of the focus; pages of others are images of their own.

    Returns
    -------
    list
        Numbers of pages, from 1; the pages of a stack as ``"1-20"``; None for the only image of a file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it cannot be read.
    """
    if stack not in STACKS:
        raise ValueError(f"a focus stack is dealt with by {' or '.join(STACKS)}; given was {stack!r}")
    places = list_places(Path(path))
    if stack == "planes":
        places = [(number,) for numbers in places for number in numbers]
        places.sort()
    if places == [(1,)]:
        return [None]
    return [numbers[0] if len(numbers) == 1 else _describe(numbers) for numbers in places]


def _describe(numbers: tuple[int, ...]) -> str:
    step = numbers[1] - numbers[0]
    return f"{numbers[0]}-{numbers[-1]}" if step == 1 else f"{numbers[0]}-{numbers[-1]}:{step}"


def pages_of(path: Path, page: Page | None) -> tuple[int, ...]:
    """Give the numbers of the pages that an image is made of."""
    if page is None:
        return (1,)
    if isinstance(page, str) and (found := _RANGE.fullmatch(page)):
        first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
        if 1 <= first < last and step:
            return tuple(range(first, last + 1, step))
    if isinstance(page, bool) or not isinstance(page, int) or page < 1:
        raise ValueError(
            f"the pages of {path} are counted from 1, those of a focus stack as '1-20'; there is none of number {page}"
        )
    return (page,)


def stack_planes(planes: list[NDArray[Any]], path: Path) -> NDArray[Any]:
    """Put the planes of a stack together; they must be alike."""
    kinds = {(plane.shape, plane.dtype.str) for plane in planes}
    if len(kinds) > 1:
        raise ValueError(f"the planes of the focus stack in {path} differ in size or type; segment them one by one")
    return np.stack(planes)
