"""One image of a run: read, segmented, measured and written as a folder that is whole or not there."""

from __future__ import annotations

import hashlib
import json
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from declump.batch.options import OURS, Options
from declump.batch.sources import Source

if TYPE_CHECKING:
    from declump.records.segmentation import Segmentation
    from declump.regions import Regions

RECORD = "summary.json"
"""Tells that the folder is complete: of all names it comes last, and files come into place in the order of names."""
CLUMPS = "clumps.csv"
_FORMAT = "declump image"


def segment_image(source: Source, options: Options, folder: Path) -> dict[str, Any]:
    """Segment one image into a folder.

    Parameters
    ----------
    source : Source
    options : Options
    folder : Path
        Results in it are replaced.

    Returns
    -------
    dict
        What ``summary.json`` holds: where the image is, the size of its pixels, its measurements.
    """
    import declump
    from declump import io
    from declump._files import atomic_folder
    from declump.io.formats.csv_table import write_table
    from declump.io.formats.parts.tables import plain, plain_columns
    from declump.io.results import earlier_files

    picture = io.read_image(source.path, page=source.page)
    pixel_size, origin = _pixel_size(source.path, options)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        result = _segmented(picture, options, pixel_size)
    measured = declump.measure(result, picture, prior=options.prior, pixel_size=pixel_size)
    record = {
        "format": _FORMAT,
        "version": 1,
        "path": source.path.as_posix(),
        "page": source.page,
        "sha256": digest(source.path),
        "pixel_size": pixel_size,
        "pixel_size_from": origin,
        "warnings": [str(warning.message) for warning in said],
        "image": {name: plain(value) for name, value in measured.image.items()},
    }
    (folder / RECORD).unlink(missing_ok=True)
    with atomic_folder(folder, overwrite=True, own=[*earlier_files(folder), CLUMPS, RECORD]) as draft:
        io.write_results(result, draft, image=picture, formats=options.formats, measurements=measured.cells)
        if "csv" in options.formats:
            write_table(plain_columns(measured.clumps), draft / CLUMPS)
        (draft / RECORD).write_text(as_text(record), encoding="utf-8")
    return record


@dataclass(frozen=True)
class ImageWork:
    """What a process does with each image of a run.

    Attributes
    ----------
    options : Options
    out : Path
        Folder of the run.
    """

    options: Options
    out: Path

    def __call__(self, source: Source | None) -> dict[str, Any]:
        """Segment one image and give its record; without an image, rehearse."""
        if source is not None:
            return segment_image(source, self.options, self.out / source.name)
        with tempfile.TemporaryDirectory() as scratch:
            rehearse(self.options, Path(scratch))
        return {}


def read_finished(source: Source, folder: Path) -> dict[str, Any] | None:
    """Read the record of an image that is done; None if it is not, or the file has changed since."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        same = record["format"] == _FORMAT and record["sha256"] == digest(source.path) and record["page"] == source.page
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return {**record, "path": source.path.as_posix()} if same else None


def rehearse(options: Options, folder: Path) -> None:
    """Do all of it with two discs, so that what cannot be done is said before any work.

    It also compiles the kernels once: what other processes need lies in the cache then.

    Raises
    ------
    ValueError, OSError
        If an option is wrong, a model is missing, or a library that a format needs.
    """
    import numpy as np

    import declump
    from declump import io

    rows, columns = np.mgrid[:64, :96]
    distances = [np.hypot(rows - 32, columns - column) for column in (36, 60)]
    image = np.full((64, 96, 3), 240, np.uint8)
    image[np.minimum(*distances) < 18] = 180
    image[np.minimum(*distances) < 5] = 60
    nothing = np.zeros((1, 1), np.uint8)
    declump.find_regions(nothing, **_finding(options, options.diameter))  # looks at the numbers, and finds nothing
    seen = declump.find_regions(image, model=options.regions)
    known = declump.Regions(np.minimum(*distances) < 18, np.minimum(*distances) < 5, seen.layers, seen.layers_std)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = _cells(image, known, options)
    measured = declump.measure(result, image, prior=options.prior, pixel_size=options.pixel_size)
    io.write_results(result, folder, image=image, formats=options.formats, measurements=measured.cells)


@lru_cache(maxsize=1)
def digest(path: Path) -> str:
    """Tell the content of a file apart from any other; the pages of a file follow one another."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def as_text(content: Mapping[str, Any]) -> str:
    """JSON for files."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _pixel_size(path: Path, options: Options) -> tuple[float | None, str | None]:
    """Micrometres a pixel, and who said so."""
    from declump import io

    if options.pixel_size is not None:
        return options.pixel_size, "--pixel-size"
    return io.read_pixel_size(path) or (None, None)


def _segmented(picture: Any, options: Options, pixel_size: float | None) -> Segmentation:
    import declump
    from declump.regions.find import NUCLEUS_MICROMETRES

    diameter = options.diameter
    if diameter is None and pixel_size is not None:
        diameter = NUCLEUS_MICROMETRES / pixel_size
    regions = declump.find_regions(picture, **_finding(options, diameter))
    return _cells(picture, regions, options, diameter)


def _cells(picture: Any, regions: Regions, options: Options, diameter: float | None = None) -> Segmentation:
    """Tell the cells of known regions apart, by the method that was chosen."""
    import declump

    if options.method == OURS:
        how = {name: getattr(options, name) for name in ("evidence", "rays", "prior", "setting")}
        return declump.segment(picture, regions=regions, diameter=diameter, **how)
    from declump.compared import find_method

    return find_method(options.method)(picture, regions, prior=declump.ShapePrior.load(options.prior))


def _finding(options: Options, diameter: float | None) -> dict[str, Any]:
    """Give what goes to :func:`declump.find_regions`; a size from metadata changes no unit of what the user gave."""
    return {
        "model": options.regions,
        "diameter": diameter,
        "pixel_size": options.pixel_size,
        "min_nucleus_area": options.min_nucleus_area,
        "min_clump_area": options.min_clump_area,
        "max_hole_area": options.max_hole_area,
    }
