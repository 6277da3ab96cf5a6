"""The files a segmentation can be written to: one module a format, each with ``write(result, path)``."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from declump.io.formats import (
    coco,
    contours,
    csv_table,
    flat_labels,
    geojson,
    imagej,
    label_planes,
    masks,
    ome_zarr,
    others_table,
    overlay,
    parquet_table,
)
from declump.io.formats.parts.result import Result
from declump.records.segmentation import Segmentation

__all__ = ["ALIASES", "ALWAYS", "DEFAULT", "FORMATS", "READ_FIRST", "Format", "Result", "format_names"]


@dataclass(frozen=True)
class Format:
    """One way to write a segmentation.

    Attributes
    ----------
    file : str
        Name of the file, or of the folder, that it is written to.
    meaning : str
        What it holds, for people.
    write : callable
        Takes a :class:`Result` and the path to write to; the same result gives the same bytes.
    read : callable, optional
        Takes a path and gives a :class:`declump.Segmentation`; None where too much is lost.
    """

    file: str
    meaning: str
    write: Callable[[Result, Path], None]
    read: Callable[[Path], Segmentation] | None = None


FORMATS = {
    "masks": Format(masks.FILE, "a page for each cell", masks.write, masks.read),
    "contours": Format(contours.FILE, "everything: seeds, radii, nuclei, clumps", contours.write, contours.read),
    "csv": Format(csv_table.FILE, "a table with a row for each cell", csv_table.write),
    "others": Format(others_table.FILE, "a table of leukocytes and debris", others_table.write),
    "overlay": Format(overlay.FILE, "outlines drawn over the image", overlay.write),
    "parquet": Format(parquet_table.FILE, "a table with a row for each cell", parquet_table.write),
    "coco": Format(coco.FILE, "COCO instances", coco.write, coco.read),
    "geojson": Format(geojson.FILE, "cells for QuPath", geojson.write),
    "geojson.gz": Format(geojson.COMPRESSED_FILE, "cells for QuPath, to be unpacked first", geojson.write_compressed),
    "imagej": Format(imagej.FILE, "ROIs for ImageJ", imagej.write, imagej.read),
    "planes": Format(label_planes.FILE, "labels in planes without overlap", label_planes.write, label_planes.read),
    "flat": Format(flat_labels.FILE, "labels without overlap; what lies under other cells is lost", flat_labels.write),
    "ome-zarr": Format(ome_zarr.FILE, "labels and image as OME-Zarr", ome_zarr.write),
}
"""Every format by its name."""
DEFAULT = ("masks", "contours", "csv", "others", "overlay")
"""What is written unless other formats are chosen."""
ALIASES = {"csv": ("csv", "others"), "tiff": ("planes", "flat"), "zarr": ("ome-zarr",), "png": ("overlay",)}
"""Other names of formats, as people call them."""
ALWAYS = "contours"
"""Holds everything, so that all else can be made from it later; written whatever is chosen."""
READ_FIRST = ("contours", "coco", "imagej", "planes", "masks")
"""Formats that can be read back, those that hold most first."""


def format_names(given: Iterable[str]) -> tuple[str, ...]:
    """Names of the formats that are meant, in the order of ``FORMATS``.

    Parameters
    ----------
    given : iterable of str
        Names in ``FORMATS`` or in ``ALIASES``; ``ALWAYS`` is added.

    Raises
    ------
    ValueError
        If there is no such format.
    """
    chosen = {ALWAYS}
    for name in given:
        if name not in FORMATS and name not in ALIASES:
            raise ValueError(f"there is no format {name!r}; the formats are {', '.join([*FORMATS, *ALIASES])}")
        chosen.update(ALIASES.get(name, (name,)))
    return tuple(name for name in FORMATS if name in chosen)
