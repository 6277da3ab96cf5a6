"""``label-planes.tif``: all cells as labels, overlapping ones in different planes."""

from __future__ import annotations

import json
from pathlib import Path

from declump.images.decoding import decode_pages
from declump.io.formats.parts.metadata import make_metadata
from declump.io.formats.parts.planes import label_planes
from declump.io.formats.parts.rebuilding import from_pixels
from declump.io.formats.parts.result import Result
from declump.records.crops import crop_labels
from declump.records.segmentation import Segmentation

FILE = "label-planes.tif"


def write(result: Result, path: Path) -> None:
    """Write few planes, see :func:`declump.io.formats.parts.planes.fewest_planes`, each a page with 16 or 32 bits."""
    import tifffile

    labels = label_planes(result.segmentation)
    with tifffile.TiffWriter(path) as file:
        for index, plane in enumerate(labels):
            file.write(
                plane,
                photometric="minisblack",
                compression="zlib",
                compressionargs={"level": 1},
                description=None if index else json.dumps(make_metadata(result.segmentation, "planes")),
                metadata=None,
                software="declump",
            )


def read(path: Path) -> Segmentation:
    """Rebuild the cells from their pixels.

    Lost are nuclei, parts outside the image, the records of the clumps, and the numbers of cells after an empty one.
    """
    planes = list(decode_pages(path))
    count = max(int(plane.max()) for plane in planes)
    found = zip(*(crop_labels(plane, count) for plane in planes), strict=True)
    cells = [crop for crops in found for crop in crops if crop.area]
    return from_pixels(cells, planes[0].shape)
