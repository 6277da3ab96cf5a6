"""A segmentation as a folder of files, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from declump._files import atomic_folder
from declump.errors import BROKEN, reason_of
from declump.images.accepting import ImageLike, to_pixels
from declump.io.formats import DEFAULT, FORMATS, READ_FIRST, Result, contours, csv_table, ome_zarr
from declump.io.formats.parts.metadata import KEY, VERSION, Metadata, find_metadata
from declump.records.segmentation import Segmentation

WRITERS = 2
"""Formats that are written at a time."""


def write_results(
    segmentation: Segmentation,
    folder: str | Path,
    *,
    image: ImageLike | None = None,
    formats: Sequence[str] = DEFAULT,
    measurements: Mapping[str, Sequence[Any] | NDArray[Any]] | None = None,
    others: bool = False,
    numbers: bool = False,
    picture: str = "image.png",
    overwrite: bool = False,
) -> dict[str, Path]:
    """Write a segmentation into a folder; the same segmentation always gives the same bytes.

    All files come into place together; after a failure the folder is as it was before.

    Parameters
    ----------
    segmentation : Segmentation
    folder : str or Path
        Made if it is missing. It gets a file for each format. Cells are numbered from 1, in the order of the seeds;
        seeds and radii are rounded to a thousandth of a pixel.
    image : (H, W) or (H, W, 3), optional
        The picture that was segmented: what outlines are drawn over, see :func:`declump.pictures.overlay`, and part of
        an OME-Zarr.
    formats : sequence of str
        Names in ``declump.io.FORMATS``. By default ``masks.tif`` (a page for each cell, 0 and 255; none if there is no
        cell), ``contours.json`` (everything, see :func:`read`), ``cells.csv`` (a row for each cell), ``others.csv`` (a
        row for each leukocyte or other spot, where a judge looked) and ``overlay.png`` (the outlines drawn over the
        image).
    measurements : mapping of str to sequence, optional
        Columns of the tables, and the measurements of the cells for QuPath: one value a cell. By default a few that
        follow from the outlines.
    others : bool
        Whether the overlay marks leukocytes and debris, too.
    numbers : bool
        Whether the overlay has the numbers of the cells, as the tables have them.
    picture : str
        Name of the image's file, which a COCO file tells.
    overwrite : bool
        Whether the folder may hold something already. Files of the names in ``FORMATS`` are then replaced, and those
        of formats that are not chosen removed, so that a folder never holds two results; all else stays.

    Returns
    -------
    dict of str to Path
        The files that were written, by their names.

    Raises
    ------
    FileExistsError
        If the folder holds something, or is a file.
    ValueError
        If there is no format of a given name, a library that a format needs is not installed, or the image or the
        measurements do not belong to the segmentation.
    """
    folder, chosen = Path(folder), [formats] if isinstance(formats, str) else list(dict.fromkeys(formats))
    unknown = [name for name in chosen if name not in FORMATS]
    if unknown:
        raise ValueError(f"there is no format {unknown[0]!r}; the formats are {', '.join(FORMATS)}")
    pixels = None if image is None else to_pixels(image)
    result = Result(segmentation, pixels, measurements, others, numbers, picture)
    with atomic_folder(folder, overwrite=overwrite, own=earlier_files(folder)) as draft:
        # Most of the time goes into compression, which lets another thread work.
        with ThreadPoolExecutor(WRITERS) as writers:
            tasks = [writers.submit(FORMATS[name].write, result, draft / FORMATS[name].file) for name in chosen]
        for task in tasks:
            task.result()
        written = [FORMATS[name].file for name in chosen if (draft / FORMATS[name].file).exists()]
    return {name: folder / name for name in written}


def read(path: str | Path, *, min_confidence: float = 0.0) -> Segmentation:
    """Read a segmentation back.

    Parameters
    ----------
    path : str or Path
        A results folder, or one of its files:

        - ``contours.json`` holds everything, seeds and radii rounded to a thousandth of a pixel;
        - ``coco.json``, or the COCO file of another program with one image, and ``rois.zip`` hold outlines and nuclei:
          radii are measured anew, from the centroid of the nucleus or else of the cell. Lost are the seeds and the
          records of the clumps, and of a nucleus in ``rois.zip`` its holes and smaller pieces;
        - ``label-planes.tif`` and ``masks.tif`` hold pixels: lost are the nuclei and what lies outside the image, too.

        Clumps are then the connected pieces of all cells together. Cells without a pixel are left out of all but the
        contours file, and later ones move up.
    min_confidence : float
        Cells of a lower confidence, by the ``cells.csv`` beside, are left out; the others are numbered anew.

    Returns
    -------
    Segmentation

    Raises
    ------
    FileNotFoundError
        If there is no such file, or the folder has none that can be read.
    ValueError
        If the file is of another kind, of a later version, or holds too little; or confidences are asked for that no
        table beside it tells.
    """
    path = Path(path)
    result = _read(path)
    if min_confidence <= 0:
        return result
    table = (path if path.is_dir() else path.parent) / csv_table.FILE
    confidence = csv_table.read_column(table, "confidence")
    if len(confidence) != len(result):
        raise ValueError(
            f"{table} has {len(confidence)} cells, {path} {len(result)}; give results that belong together"
        )
    return result.keep(confidence >= min_confidence)


def _read(path: Path) -> Segmentation:
    metadata = find_metadata(path)
    if path.is_dir() and metadata is None:
        return _read_folder(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; give a results folder, or a file in it")
    name = _find_format(path, metadata)
    if name == "contours":
        return contours.read(path)
    reader = FORMATS[name].read
    if reader is None:
        raise ValueError(f"{path} ({FORMATS[name].meaning}) is not to be read back; give the contours.json beside it")
    if metadata is not None and metadata["version"] > VERSION:
        raise ValueError(f"{path} has version {metadata['version']}, this declump reads up to {VERSION}")
    try:
        return reader(path)
    except BROKEN as error:
        if str(path) in str(error):
            raise
        raise ValueError(f"{path} is damaged, and cannot be read ({reason_of(error)})") from error


def read_contours(path: str | Path) -> Segmentation:
    """Read a segmentation from a contours file.

    Parameters
    ----------
    path : str or Path
        A ``contours.json`` that :func:`write_results` wrote, or the folder that holds it.

    Returns
    -------
    Segmentation
        As it was written, seeds and radii rounded to a thousandth of a pixel.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no contours file, or one of a later version.
    """
    path = Path(path)
    return contours.read(path / contours.FILE if path.is_dir() else path)


def _read_folder(folder: Path) -> Segmentation:
    """Read the file of a results folder that holds most."""
    for name in READ_FIRST:
        if (folder / FORMATS[name].file).is_file():
            return _read(folder / FORMATS[name].file)
    return read_contours(folder)


def _find_format(path: Path, metadata: Metadata | None) -> str:
    """Name of the format of a file, by its metadata; a JSON file without any can be one of COCO."""
    if metadata is not None:
        name = str(metadata["format"]).removeprefix(f"{KEY} ")
        if name in FORMATS:
            return name
    elif path.suffix.lower() == ".json":
        return "coco" if b'"annotations"' in path.read_bytes() else "contours"
    readable = [entry.file for entry in FORMATS.values() if entry.read]
    raise ValueError(f"{path} is no file that declump reads cells from; those are {', '.join(readable)}")


def earlier_files(folder: Path) -> list[str]:
    """Names of all files that an earlier result may have left in a folder."""
    return [entry.file for entry in FORMATS.values()] + [
        f"{ome_zarr.FILE}/{name}" for name in ome_zarr.list_files(folder / ome_zarr.FILE)
    ]
