"""``masks.tif``: a page for each cell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from declump.io.decoding import decoded_pages
from declump.io.formats.parts.crops import Crop, cell_crops
from declump.io.formats.parts.marks import mark
from declump.io.formats.parts.rebuilding import from_pixels
from declump.io.formats.parts.result import Result
from declump.segmentation import Segmentation

FILE = "masks.tif"


def write(result: Result, path: Path) -> None:
    """Write a page for each cell, 255 at its pixels and 0 elsewhere; nothing if there is no cell."""
    import tifffile

    segmentation = result.segmentation
    if not len(segmentation):
        return  # a TIFF has at least one page
    with tifffile.TiffWriter(path) as file:
        for index, crop in enumerate(cell_crops(segmentation)):
            page = np.zeros(segmentation.shape, np.uint8)
            page[crop.box][crop.mask] = 255
            file.write(
                page,
                photometric="minisblack",
                compression="zlib",
                compressionargs={"level": 1},
                description=None if index else json.dumps(mark(segmentation, "masks")),
                metadata=None,
                software="declump",
            )


def read(path: Path) -> Segmentation:
    """Rebuild the cells from their pixels; nuclei, empty cells, parts outside the image and records are lost."""
    height, width, cells = 0, 0, []
    for page in decoded_pages(path):
        height, width = page.shape
        cells.append(Crop.of(page > 0))
    return from_pixels([cell for cell in cells if cell.area], (height, width))
