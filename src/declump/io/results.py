"""A segmentation as files: masks, contours, a table and a picture."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from declump.io.folders import written_whole
from declump.segmentation import ClumpRecord, Segmentation

VERSION = 1
"""Version of the contours file; a reader refuses a later one."""
DECIMALS = 3
"""Seeds and radii are rounded to a thousandth of a pixel, in every file alike."""
FILES = ("masks.tif", "contours.json", "cells.csv", "overlay.png")
COLUMNS = ("id", "row_px", "column_px", "clump", "area_px", "equivalent_diameter_px", "overlap_degree")
_FORMAT = "declump contours"


def write_results(
    segmentation: Segmentation, folder: str | Path, *, image: ArrayLike | None = None, overwrite: bool = False
) -> dict[str, Path]:
    """Write a segmentation into a folder; the same segmentation always gives the same bytes.

    All files come into place together; after a failure the folder is as it was before.

    Parameters
    ----------
    segmentation : Segmentation
    folder : str or Path
        Made if it is missing. It gets ``masks.tif`` (a page for each cell, 0 and 255; none if there is no cell),
        ``contours.json`` (everything, see :func:`read_contours`), ``cells.csv`` (a row for each cell) and
        ``overlay.png`` (the outlines drawn over the image). Cells are numbered from 1, in the order of the seeds.
    image : (H, W) or (H, W, 3), optional
        What to draw the outlines over, see :func:`declump.pictures.overlay`.
    overwrite : bool
        Whether the folder may hold something already. Only files of these four names are then replaced.

    Returns
    -------
    dict of str to Path
        The files that were written, by their names.

    Raises
    ------
    FileExistsError
        If the folder holds something, or is a file.
    ValueError
        If the image has another size than the segmentation.
    """
    from PIL import Image

    from declump.pictures import overlay

    segmentation = replace(
        segmentation, seeds=segmentation.seeds.round(DECIMALS), radii=segmentation.radii.round(DECIMALS)
    )
    picture = overlay(segmentation, image)
    with written_whole(folder, overwrite=overwrite, own=FILES) as draft:
        if len(segmentation):
            _write_masks(segmentation, draft / "masks.tif")
        (draft / "contours.json").write_text(_contours(segmentation), encoding="utf-8")
        _write_table(segmentation, draft / "cells.csv")
        Image.fromarray(picture).save(draft / "overlay.png")
        written = [name for name in FILES if (draft / name).exists()]
    return {name: Path(folder) / name for name in written}


def read_contours(path: str | Path) -> Segmentation:
    """Read a segmentation back.

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
    path = path / "contours.json" if path.is_dir() else path
    if not path.is_file():
        raise FileNotFoundError(f"there is no contours file {path}; give the contours.json of a results folder")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != _FORMAT:
            raise ValueError(f"its format is {content['format']!r}")
        if content["version"] > VERSION:
            raise ValueError(f"it has version {content['version']}, this declump reads up to {VERSION}")
        return _segmentation(content)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise ValueError(f"{path} is no contours file that declump can read ({reason})") from error


def _write_masks(segmentation: Segmentation, path: Path) -> None:
    import tifffile

    with tifffile.TiffWriter(path) as file:
        for index in range(len(segmentation)):
            page = np.where(segmentation.mask(index), np.uint8(255), np.uint8(0))
            file.write(page, photometric="minisblack", compression="zlib", metadata=None, software="declump")


def _contours(segmentation: Segmentation) -> str:
    """Give the text of the contours file, a line for each cell and each clump."""
    cells = [
        {"id": index + 1, "seed": seed, "clump": clump + 1 if clump >= 0 else None, "radii": radii}
        for index, (seed, clump, radii) in enumerate(
            zip(segmentation.seeds.tolist(), segmentation.clump.tolist(), segmentation.radii.tolist(), strict=True)
        )
    ]
    clumps = [
        {"id": index + 1, "size": record.size, "stopped": record.stopped, "history": record.history}
        for index, record in enumerate(segmentation.clumps)
    ]
    head = {
        "format": _FORMAT,
        "version": VERSION,
        "shape": list(segmentation.shape),
        "rays": segmentation.radii.shape[1],
    }
    parts = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    for name, records in (("cells", cells), ("clumps", clumps)):
        lines = ",\n  ".join(json.dumps(record) for record in records)
        parts.append(f'"{name}": [\n  {lines}\n]' if records else f'"{name}": []')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _segmentation(content: dict[str, Any]) -> Segmentation:
    cells, (height, width) = content["cells"], content["shape"]
    radii = np.array([cell["radii"] for cell in cells], dtype=np.float64).reshape(len(cells), content["rays"])
    return Segmentation(
        shape=(int(height), int(width)),
        seeds=np.array([cell["seed"] for cell in cells], dtype=np.float64).reshape(-1, 2),
        radii=radii,
        clump=np.array([(cell["clump"] or 0) - 1 for cell in cells], dtype=np.int64),
        clumps=tuple(
            ClumpRecord(int(record["size"]), tuple(map(int, record["history"])), record["stopped"])
            for record in content["clumps"]
        ),
    )


def _write_table(segmentation: Segmentation, path: Path) -> None:
    areas, overlaps = segmentation.areas, segmentation.overlap_degree
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for index, (row, column) in enumerate(segmentation.seeds):
            clump = segmentation.clump[index]
            writer.writerow([
                index + 1,
                f"{row:.{DECIMALS}f}",
                f"{column:.{DECIMALS}f}",
                clump + 1 if clump >= 0 else "",
                f"{areas[index]:.1f}",
                f"{2 * np.sqrt(areas[index] / np.pi):.2f}",
                f"{overlaps[index]:.4f}",
            ])  # fmt: skip
