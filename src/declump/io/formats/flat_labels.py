"""``labels-flat-lossy.tif``: one label image, for programs that know no overlap.

Where cells overlap, the one with the higher number is seen. What lies under it is lost, so that measuring on this image
gives cells that are too small; ``label-planes.tif`` has them whole.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from declump.io.formats.parts.metadata import make_metadata
from declump.io.formats.parts.result import Result

FILE = "labels-flat-lossy.tif"
LOSS = "lossy: where cells overlap, only the one with the highest number is kept"


def write(result: Result, path: Path) -> None:
    """Write the number of the last cell at each pixel, 0 where there is none, with 16 or 32 bits."""
    import tifffile

    segmentation = result.segmentation
    kind = np.uint16 if len(segmentation) <= np.iinfo(np.uint16).max else np.uint32
    labels = np.zeros(segmentation.shape, dtype=kind)
    for index, crop in enumerate(segmentation.crops):
        labels[crop.box][crop.mask] = index + 1
    tifffile.imwrite(
        path,
        labels,
        photometric="minisblack",
        compression="zlib",
        compressionargs={"level": 1},
        description=json.dumps({**make_metadata(segmentation, "flat"), "note": LOSS}),
        metadata=None,
        software="declump",
    )
