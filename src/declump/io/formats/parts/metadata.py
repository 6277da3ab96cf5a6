"""What a file of declump says of itself: format, version, image size, cells and clumps, in a place its format has."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from declump.images.decoding import open_tiff
from declump.records.segmentation import Segmentation

Metadata = dict[str, Any]
KEY = "declump"
VERSION = 1
"""Version of all formats but the contours file, which has its own; a reader refuses a later one."""


def make_metadata(segmentation: Segmentation, name: str) -> Metadata:
    """Make the metadata of a file: ``format``, ``version``, ``size``, ``cells`` and ``clumps``.

    The size is not called shape, by which tifffile would take the metadata for its own.
    """
    return {
        "format": f"{KEY} {name}",
        "version": VERSION,
        "size": list(segmentation.shape),
        "cells": len(segmentation),
        "clumps": _count_clumps(segmentation),
    }


def _count_clumps(segmentation: Segmentation) -> int:
    """Count the clumps, also where no record of them is kept."""
    return len(segmentation.clumps) or int(np.unique(segmentation.clump[segmentation.clump >= 0]).size)


def find_metadata(path: Path) -> Metadata | None:
    """Find the metadata in a file or a Zarr folder; None if there is none, whatever the file may be."""
    try:
        content: Metadata = _read_content(path)
        named = str(content["format"]).startswith(f"{KEY} ")
        whole = all(isinstance(content[name], int) for name in ("version", "cells", "clumps"))
        return content if named and whole and len(content["size"]) == 2 else None
    except Exception:  # a file of any other kind may lead its decoder to any error
        return None


def _read_content(path: Path) -> Any:
    if path.is_dir():
        return json.loads((path / ".zattrs").read_bytes())[KEY]
    with path.open("rb") as file:
        start = file.read(8)
    if start.startswith((b"II", b"MM")):
        with open_tiff(path) as tiff:
            return json.loads(tiff.pages.first.description)
    if start.startswith(b"\x89PNG"):
        from PIL import Image

        with Image.open(path, formats=("PNG",)) as picture:
            return json.loads(picture.info[KEY])
    if start.startswith(b"PK"):
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.comment)
    if start.startswith(b"PAR1"):
        from pyarrow import parquet

        return json.loads(parquet.read_schema(path).metadata[KEY.encode()])
    return _find_in_document(
        json.loads(gzip.decompress(path.read_bytes()) if start[:2] == b"\x1f\x8b" else path.read_bytes())
    )


def _find_in_document(document: dict[str, Any]) -> Any:
    """Find the metadata in a JSON document; that of a contours file follows from its content."""
    if document.get("format") == f"{KEY} contours":
        inhabited = {cell["clump"] for cell in document["cells"]} - {None}
        return {
            "format": document["format"],
            "version": document["version"],
            "size": document["shape"],
            "cells": len(document["cells"]),
            "clumps": len(document["clumps"]) or len(inhabited),
        }
    return document.get(KEY) or document["info"][KEY]
