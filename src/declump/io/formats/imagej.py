"""``rois.zip``: outlines for the ROI manager of ImageJ and Fiji.

For cell 1 the archive has ``0001-cell.roi`` and, where it has a nucleus, ``0001-nucleus.roi``; both are polygons to a
fraction of a pixel. ImageJ counts x along columns and y along rows from the corner of the image. It passes over the
comment of the archive, in which stands the size of the image.
"""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.errors import BROKEN, reason_of
from declump.io.formats.parts.documents import check_size
from declump.io.formats.parts.metadata import make_metadata
from declump.io.formats.parts.rebuilding import from_outlines
from declump.io.formats.parts.result import Result
from declump.io.formats.parts.tracing import trace_nuclei
from declump.records.crops import Crop, crop_polygon
from declump.records.segmentation import Segmentation

FILE = "rois.zip"
LIMITS = -5000, 60535
"""Coordinates that ImageJ's files can hold."""
MAX_ROI = 2**24
"""Bytes of an outline of two million points; what unpacks to more is none."""
_DATE = (1980, 1, 1, 0, 0, 0)


def write(result: Result, path: Path) -> None:
    """Write a polygon for each cell that has an outline, and one for each nucleus.

    Raises
    ------
    ValueError
        If a cell lies farther from the corner of the image than ImageJ can say.
    """
    segmentation, roifile = result.segmentation, _roifile()
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = json.dumps(make_metadata(segmentation, "imagej")).encode()
        for index, (outline, nucleus) in enumerate(zip(segmentation.polygons, trace_nuclei(segmentation), strict=True)):
            shapes = {"cell": outline} if segmentation.radii[index].any() else {}
            shapes |= {} if nucleus is None else {"nucleus": nucleus}
            for kind, vertices in shapes.items():
                name = f"{index + 1:04d}-{kind}"
                entry = zipfile.ZipInfo(f"{name}.roi", _DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, _roi(roifile, vertices, name))


def read(path: Path) -> Segmentation:
    """Rebuild the cells from their outlines; the seeds, pieces and holes of nuclei, and records of clumps are lost.

    Raises
    ------
    ValueError
        If declump did not write the archive.
    """
    roifile = _roifile()
    cells: dict[str, NDArray[np.float64]] = {}
    nuclei: dict[str, Crop] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            height, width = json.loads(archive.comment)["size"]
            check_size(height, width)
            for entry in archive.infolist():
                if (parts := re.fullmatch(r"(\d{1,9})-(cell|nucleus)\.roi", entry.filename)) is None:
                    continue
                if entry.file_size > MAX_ROI:
                    raise ValueError(f"{entry.filename} has {entry.file_size} bytes")
                points = roifile.ImagejRoi.frombytes(archive.read(entry)).coordinates()
                outline = np.asarray(points, dtype=np.float64)[:, ::-1] - 0.5
                if parts[2] == "cell":
                    cells[parts[1]] = outline
                else:
                    nuclei[parts[1]] = crop_polygon(outline, (height, width))
    except (*BROKEN, OSError) as error:
        raise ValueError(
            f"{path} is no archive of ROIs that declump wrote, which say the size of the image ({reason_of(error)})"
        ) from error
    numbers = sorted(cells, key=int)
    return from_outlines(
        [cells[number] for number in numbers],
        (height, width),
        [nuclei.get(number, Crop.nothing()) for number in numbers] if nuclei else None,
    )


def _roifile() -> Any:
    import roifile

    return roifile


def _roi(roifile: Any, vertices: NDArray[np.float64], name: str) -> bytes:
    points = vertices[:, ::-1] + 0.5
    if points.min() < LIMITS[0] or points.max() > LIMITS[1]:
        raise ValueError(
            f"ImageJ holds coordinates from {LIMITS[0]} to {LIMITS[1]} only; leave out the format 'imagej'"
        )
    roi = roifile.ImagejRoi.frompoints(points, name=name)
    roi.roitype = roifile.ROI_TYPE.POLYGON
    return bytes(roi.tobytes())
