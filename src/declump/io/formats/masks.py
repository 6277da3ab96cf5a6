"""``masks.tif``: a page for each cell."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump.images.decoding import decode_pages
from declump.io.formats.parts.metadata import make_metadata
from declump.io.formats.parts.rebuilding import from_pixels
from declump.io.formats.parts.result import Result
from declump.records.crops import Crop
from declump.records.segmentation import Segmentation

FILE = "masks.tif"
STRIP = 64
"""Rows of a strip. Most strips of a page are empty, and those are compressed once for all pages."""


def write(result: Result, path: Path) -> None:
    """Write a page for each cell, 255 at its pixels and 0 elsewhere; nothing if there is no cell."""
    import tifffile

    segmentation = result.segmentation
    if not len(segmentation):
        return  # a TIFF has at least one page
    blank = np.zeros(segmentation.shape, np.uint8)
    empty = list(_compress_strips(blank))
    with tifffile.TiffWriter(path) as file:
        for index, crop in enumerate(segmentation.crops):
            first, end = crop.top // STRIP, -(-(crop.top + crop.mask.shape[0]) // STRIP)
            page = blank[first * STRIP : end * STRIP].copy()
            page[crop.top - first * STRIP :][: crop.mask.shape[0], crop.box[1]][crop.mask] = 255
            file.write(
                iter([*empty[:first], *_compress_strips(page), *empty[end:]]),
                shape=segmentation.shape,
                dtype=np.uint8,
                rowsperstrip=STRIP,
                photometric="minisblack",
                compression="zlib",
                description=None if index else json.dumps(make_metadata(segmentation, "masks")),
                metadata=None,
                software="declump",
            )


def _compress_strips(page: NDArray[np.uint8]) -> Iterator[bytes]:
    """Compress a page strip by strip."""
    return (zlib.compress(page[row : row + STRIP].tobytes(), 1) for row in range(0, len(page), STRIP))


def read(path: Path) -> Segmentation:
    """Rebuild the cells from their pixels; nuclei, empty cells, parts outside the image and records are lost."""
    height, width, cells = 0, 0, []
    for page in decode_pages(path):
        height, width = page.shape
        cells.append(Crop.of(page > 0))
    return from_pixels([cell for cell in cells if cell.area], (height, width))
