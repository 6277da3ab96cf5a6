"""The results of one image, gathered for the page."""

from __future__ import annotations

import base64
import io as streams
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump import io
from declump.measurements import Measurements, measure
from declump.pictures import to_display
from declump.records.segmentation import Segmentation
from declump.report.run import RunSummary
from declump.shapes.prior import ShapePrior

MAX_SIDE = 1600
"""Pictures with a longer side, in pixels, are made smaller: more than a screen shows only makes the page heavy."""
QUALITY = 88
"""Of the JPEG pictures."""


@dataclass(frozen=True, eq=False)
class ImageResult:
    """One image with its cells.

    Attributes
    ----------
    name : str
    segmentation : Segmentation
    measurements : Measurements
    picture : str
        Data URI of what the outlines are drawn over; empty if there is nothing.
    burnt : bool
        Whether that is ``overlay.png``, which has outlines drawn into it already.
    note : str
        What the reader must know of the picture.
    seconds : float, optional
        How long the image took.
    """

    name: str
    segmentation: Segmentation
    measurements: Measurements
    picture: str
    burnt: bool
    note: str
    seconds: float | None = None


def result_folders(folder: Path) -> list[Path]:
    """Folders with the results of one image: the given one, or else those in it and its subfolders, sorted by name.

    Raises
    ------
    FileNotFoundError
        If there is no such folder, or nothing in it tells that it holds or held results.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}; give one that 'declump segment' wrote")
    if _holds_results(folder):
        return [folder]
    return sorted(
        place
        for place in folder.rglob("*")
        if place.is_dir() and not _is_hidden(place.relative_to(folder)) and _holds_results(place)
    )


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def read_result(folder: Path, name: str, run: RunSummary, images: Path | None = None) -> ImageResult:
    """Read the results of one image and measure its cells.

    Cells are measured anew from their outlines: tables in the folder may have other columns, be older, or be missing.

    Parameters
    ----------
    folder : Path
        Of this image.
    name : str
        What the run calls it.
    run : RunSummary
        Tells where the original is, and the pixel size and the prior to measure with.
    images : Path, optional
        Folder with the originals; by default their paths in the run.

    Raises
    ------
    FileNotFoundError, ValueError
        If the outlines cannot be read.
    """
    segmentation = io.read(folder)
    original, note = _original(folder, name, segmentation.shape, run, images)
    measured = measure(segmentation, original, prior=_prior(run), pixel_size=_pixel_size(run, name))
    overlay = folder / "overlay.png"
    burnt = original is None and overlay.is_file()
    picture = io.read_image(overlay) if burnt else original
    if picture is not None and picture.shape[:2] != segmentation.shape:
        burnt, picture = False, None
    if burnt:
        note += "; shown is overlay.png, into which outlines are drawn already, so own ones appear only where needed"
    uri = "" if picture is None else _data_uri(to_display(picture))
    return ImageResult(name, segmentation, measured, uri, burnt, note, run.image(name).seconds)


def _holds_results(folder: Path) -> bool:
    return any((folder / entry.file).is_file() for entry in io.FORMATS.values() if entry.read)


def _original(
    folder: Path, name: str, shape: tuple[int, int], run: RunSummary, images: Path | None
) -> tuple[NDArray[np.generic] | None, str]:
    """Look for the image that was segmented; None with a note that says why there is none."""
    if images is not None:
        places = [images / f"{name}{ending}" for ending in io.ENDINGS]
        missing = f"{images} holds no image {name}"
    else:
        path = run.image(name).path
        # A relative path is one from where the command ran: most likely here, or beside the results.
        places = [Path(path), folder.parent / path, folder.parent.parent / path] if path else []
        missing = f"the original {path} is gone" if path else "no run.json tells where the original is"
    for place in filter(Path.is_file, places):
        try:
            pixels = io.read_image(place, page=None if images else run.image(name).page)
        except ValueError as error:
            return None, f"the original cannot be read: {error}"
        if pixels.shape[:2] == shape:
            return pixels, ""
        missing = f"the original {place} has another size by now"
    return None, missing


def _prior(run: RunSummary) -> ShapePrior | None:
    """Give the prior of the run, as shapes are unusual or not against that one; None if its file is gone."""
    given = run.settings.get("prior")
    return ShapePrior.load(given) if isinstance(given, str) and Path(given).is_file() else None


def _pixel_size(run: RunSummary, name: str) -> float | None:
    own = run.image(name).pixel_size
    if own is not None and own > 0:
        return own
    given = run.settings.get("pixel_size")
    return float(given) if isinstance(given, int | float) and not isinstance(given, bool) and given > 0 else None


def _data_uri(picture: NDArray[np.uint8]) -> str:
    from PIL import Image

    sheet, buffer = Image.fromarray(picture), streams.BytesIO()
    sheet.thumbnail((MAX_SIDE, MAX_SIDE), Image.Resampling.LANCZOS)
    sheet.save(buffer, "JPEG", quality=QUALITY)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"
