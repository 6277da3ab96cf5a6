"""Images that nobody annotated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from declump.images.decoding import ENDINGS
from declump.images.reading import read_image


def read(folder: str | Path) -> Iterator[NDArray[Any]]:
    """Read all images of a folder, sorted by name.

    Parameters
    ----------
    folder : str or Path

    Returns
    -------
    iterator of (H, W[, 3]) arrays

    Raises
    ------
    FileNotFoundError
        If there is no such folder, or no image in it.
    """
    paths = sorted(path for path in Path(folder).glob("*") if path.suffix.lower() in ENDINGS)
    if not paths:
        raise FileNotFoundError(f"There is no image in {folder}; known are {', '.join(ENDINGS)}.")
    return map(read_image, paths)
