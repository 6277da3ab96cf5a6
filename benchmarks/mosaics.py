"""A slide made of frames: as large as one asks for, a tiled BigTIFF with a pyramid, never whole in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.io import read_image

TILE = 512
SMALLEST = 2048
"""Levels are made until the last has no longer side."""


def make_mosaic(folder: Path, out: Path, side: int) -> str:
    """Lay grey frames of a folder side by side, in an order that is drawn once, mirrored by chance; say what came out.

    Parameters
    ----------
    folder : Path
        Of frames, such as ``cervix93``; all are cut to the size of the first.
    out : Path
        TIFF to be written.
    side : int
        Of the square, in pixels.
    """
    import tifffile

    frames = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".png", ".tif", ".jpg"))
    if not frames:
        raise SystemExit(f"{folder} holds no frames (PNG, TIFF, JPEG)")
    scratch = out.with_suffix(".pixels")
    pixels: NDArray[Any] = np.memmap(scratch, np.uint8, "w+", shape=(side, side))
    try:
        _lay(frames, pixels)
        options = {"tile": (TILE, TILE), "photometric": "minisblack", "compression": "zlib"}
        levels = 0
        while side / 2 ** (levels + 1) > SMALLEST / 2:
            levels += 1
        with tifffile.TiffWriter(out, bigtiff=True) as file:
            for level in range(levels + 1):
                step = 2**level
                shape = (-(-side // step), -(-side // step))
                more = {"subifds": levels} if level == 0 else {"subfiletype": 1}
                file.write(_tiles(pixels, step), shape=shape, dtype=np.uint8, compressionargs={"level": 1},
                           **options, **more)  # fmt: skip
    finally:
        del pixels
        scratch.unlink()
    size = out.stat().st_size / 1e6
    return f"{out}: {side} x {side} pixels of {len(frames)} frames, {levels + 1} levels, {size:.0f} MB"


def _lay(frames: list[Path], pixels: NDArray[Any]) -> None:
    side = len(pixels)
    height, width = read_image(frames[0]).shape[:2]
    rows, columns = -(-side // height), -(-side // width)
    chosen = np.random.default_rng(0).integers(0, len(frames), (rows, columns))
    mirrored = np.random.default_rng(1).integers(0, 4, (rows, columns))
    for row in range(rows):
        for column in range(columns):
            frame = read_image(frames[chosen[row, column]])[:height, :width]
            grey = frame if frame.ndim == 2 else frame[..., :3].mean(axis=2).astype(np.uint8)
            turned = grey[:: 1 - 2 * int(mirrored[row, column] & 1), :: 1 - int(mirrored[row, column] & 2)]
            place = pixels[row * height : (row + 1) * height, column * width : (column + 1) * width]
            place[:] = turned[: place.shape[0], : place.shape[1]]


def _tiles(pixels: NDArray[Any], step: int) -> Iterator[NDArray[Any]]:
    """Tiles of a level, along the rows; pixels of lower levels are means."""
    for top in range(0, pixels.shape[0], TILE * step):
        for left in range(0, pixels.shape[1], TILE * step):
            part = np.asarray(pixels[top : top + TILE * step, left : left + TILE * step])
            part = np.pad(part, [(0, -length % step) for length in part.shape], mode="edge")
            rows, columns = part.shape[0] // step, part.shape[1] // step
            small = part.reshape(rows, step, columns, step).mean(axis=(1, 3)).astype(np.uint8)
            yield np.pad(small, [(0, TILE - length) for length in small.shape])
