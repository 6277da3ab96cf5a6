"""ISBI 2015 overlapping cervical cytology challenge, and any folder in its layout: one folder a frame, PNG masks.

Of the challenge's training frames, frame014 and frame017 show partly the same field of the slide, with 17 cells drawn
in both: they must not be separated into training and test data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.datasets.annotated import AnnotatedImage

SAME_FIELD = (("frame014", "frame017"),)
"""Frames that show partly the same field."""
_LAYOUT = "FRAME/image.png, FRAME/nuclei.png and FRAME/cells/*.png"


def read(folder: str | Path) -> Iterator[AnnotatedImage]:
    """Read annotated frames, sorted by name.

    Parameters
    ----------
    folder : str or Path
        Holds a folder for each frame with ``image.png`` (grey or colour), ``nuclei.png`` (the union of all nuclei) and
        ``cells/*.png`` (the whole mask of one cell each, in sorted order; none for a frame without cells). In a mask,
        what is not 0 belongs to the cell. Folders without ``image.png`` are passed over.

    Returns
    -------
    iterator of AnnotatedImage
        Named as the frames' folders. One frame is in memory at a time.

    Raises
    ------
    FileNotFoundError
        If the folder holds no frame, or a frame lacks its nuclei or its folder of cells.
    ValueError
        If a picture cannot be read or its shape differs from the frame's.
    """
    folder = Path(folder)
    frames = sorted(path.parent for path in folder.glob("*/image.png"))
    if not frames:
        raise FileNotFoundError(f"No frames in {folder}; the ISBI 2015 reader looks for {_LAYOUT}.")
    for frame in frames:
        for part in (frame / "nuclei.png", frame / "cells"):
            if not part.exists():
                raise FileNotFoundError(f"No {part}; the ISBI 2015 reader looks for {_LAYOUT}.")
    return (_read_frame(frame) for frame in frames)


def fields(names: Sequence[str]) -> list[int]:
    """Number of the field each frame shows, for the ``groups`` of :func:`declump.evaluation.folds`."""
    first_of = {name: same[0] for same in SAME_FIELD for name in same}
    keys = [first_of.get(name, name) for name in names]
    return [keys.index(key) for key in keys]


def _read_frame(frame: Path) -> AnnotatedImage:
    image = _drop_alpha(_read_picture(frame / "image.png"))
    if image.dtype != np.uint8:
        raise ValueError(f"{frame / 'image.png'} has {image.dtype} pixels; save it with 8 bits a channel.")
    paths = sorted((frame / "cells").glob("*.png"))
    cells = np.zeros((len(paths), *image.shape[:2]), bool)
    for mask, path in zip(cells, paths, strict=True):
        mask[:] = _read_mask(path, mask.shape)
    return AnnotatedImage.from_union(frame.name, image, cells, _read_mask(frame / "nuclei.png", image.shape[:2]))


def _read_picture(path: Path) -> NDArray[Any]:
    import imageio.v3 as imageio

    try:
        return np.asarray(imageio.imread(path, plugin="pillow"))
    except (OSError, SyntaxError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as a picture: {error}") from error


def _drop_alpha(picture: NDArray[Any]) -> NDArray[Any]:
    """Grey (H, W) or colour (H, W, 3) without the opacity that a second or fourth channel holds."""
    channels = picture.shape[2] if picture.ndim == 3 else 0
    return picture[..., 0] if channels == 2 else picture[..., :3] if channels == 4 else picture


def _read_mask(path: Path, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    picture = _drop_alpha(_read_picture(path))
    if picture.ndim == 3:
        picture = np.asarray(picture.any(axis=2))
    if picture.shape != shape:
        raise ValueError(f"{path} has shape {picture.shape}, its image {shape}; they must agree.")
    return np.asarray(picture != 0)
