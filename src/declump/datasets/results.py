"""Reviewed results as data to learn from: the images that a person has corrected, with their cells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump._files import file_digest
from declump.datasets.annotated import AnnotatedImage
from declump.io import read, read_image
from declump.models import NUCLEUS_DIAMETER
from declump.records.segmentation import Segmentation

RUN_FILE, RECORD = "run.json", "summary.json"
RIM = 0.3
"""So much of its radius within and beyond the edge of a nucleus is not known to be nucleus, or not."""
LARGE = 1.4
"""A nucleus of a radius above so many usual ones of its image, twice the area, may have been drawn too large."""
ASTRAY = 2.0
"""So far from the seed of a cell without one, in radii, its nucleus may lie."""


def is_results(folder: str | Path) -> bool:
    """Whether a folder holds results of ``declump segment`` or ``declump open``."""
    return (Path(folder) / RUN_FILE).is_file()


def read_results(folder: str | Path) -> Iterator[AnnotatedImage]:
    """Read the images of a results folder that were reviewed, sorted by name.

    Parameters
    ----------
    folder : str or Path
        Results that were corrected by ``declump open`` and saved.

    Returns
    -------
    iterator of AnnotatedImage
        The images that are marked as reviewed; where none is marked, those with any edit. Cells that were rejected, and
        cells without an outline, are left out (``declump.datasets.results.annotate``).

    Raises
    ------
    FileNotFoundError
        If no image was reviewed: a model would only learn its own mistakes.
    ValueError
        If an image is not the one that was reviewed any more.
    """
    folder = Path(folder)
    records = {path.parent: _read_review(path) for path in sorted(folder.rglob(RECORD))}
    edited = {place: record for place, record in records.items() if record and record["review"]["edits"]}
    finished = {place: record for place, record in edited.items() if record["review"]["finished"]}
    if not edited:
        raise FileNotFoundError(
            f"No image in {folder} was reviewed, so there is nothing to learn; correct some with 'declump open'."
        )
    chosen = finished or edited
    return (_read_annotated(place, folder, record) for place, record in chosen.items())


def _read_review(path: Path) -> dict[str, Any]:
    """What ``summary.json`` says, if it tells of a review."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) and isinstance(record.get("review"), dict) else {}


def _read_annotated(place: Path, folder: Path, record: dict[str, Any]) -> AnnotatedImage:
    name = place.relative_to(folder).as_posix()
    path = _find_image(str(record["path"]), folder)
    if not path.is_file() or file_digest(path) != record["sha256"]:
        raise ValueError(f"{name}: the image {record['path']} is gone, or not the one that was reviewed.")
    result = read(place)
    rejected = np.zeros(len(result), dtype=np.bool_)
    rejected[[number - 1 for number in record["review"]["rejected"]]] = True
    return annotate(name, to_bytes(read_image(path, page=record["page"])), result, rejected)


def annotate(
    name: str,
    image: NDArray[np.uint8],
    result: Segmentation,
    rejected: NDArray[np.bool_],
    unknown: NDArray[np.bool_] | None = None,
) -> AnnotatedImage:
    """Give what a person corrected as an annotation, that says no more than the person did.

    Parameters
    ----------
    name : str
    image : (H, W) or (H, W, 3) uint8
    result : Segmentation
    rejected : (N,) bool
        Cells that are not to be used: what only they cover is not known.
    unknown : (H, W) bool, optional
        What else is not known.

    Returns
    -------
    AnnotatedImage
        A person says which nuclei there are, not where exactly they end: their rims are not known, nor is where the
        nucleus of a cell lies that has none.
    """
    whole = [crop.area > 0 and result.mask(row)[tuple(result.seeds[row].astype(int))]
             for row, crop in enumerate(result.crops)]  # fmt: skip
    kept = result.keep(np.array(whole, dtype=np.bool_) & ~rejected)
    masks = kept.masks
    left = np.zeros(kept.shape, np.bool_) if unknown is None else unknown.copy()
    for row in np.flatnonzero(rejected).tolist():
        left |= result.mask(row)
    left &= ~masks.any(axis=0)
    nuclei = np.zeros(kept.shape, np.int32) if kept.nuclei is None else kept.nuclei
    return AnnotatedImage(name, image, masks, nuclei, kept.seeds, left | _find_doubtful(nuclei, kept.seeds))


def _find_doubtful(nuclei: NDArray[np.int32], seeds: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where (H, W) nuclei, numbered like their seeds, may or may not be: at their edges, round seeds without one."""
    areas = np.bincount(nuclei.ravel(), minlength=len(seeds) + 1)[1:]
    radii = np.sqrt(areas / np.pi)
    usual = float(np.median(radii[radii > 0])) if radii.any() else NUCLEUS_DIAMETER / 2
    doubtful = np.zeros(nuclei.shape, np.bool_)
    for number, (seed, radius) in enumerate(zip(seeds, radii, strict=True), start=1):
        reach = round((1 + RIM) * max(radius, usual) * 2) + 2
        window = tuple(
            slice(max(int(part) - reach, 0), min(int(part) + reach + 1, side))
            for part, side in zip(seed, nuclei.shape, strict=True)
        )
        own = np.pad(nuclei[window] == number, 1)
        if radius:
            inner, outer = ndimage.distance_transform_edt(own), ndimage.distance_transform_edt(~own)
            core = inner > (RIM * radius if radius <= LARGE * usual else np.inf)
            rim = ~core & (outer <= RIM * radius)
            doubtful[window] |= rim[1:-1, 1:-1]
        else:
            rows, columns = np.ogrid[window]
            doubtful[window] |= np.hypot(rows - seed[0], columns - seed[1]) <= ASTRAY * usual
    return doubtful


def _find_image(path: str, folder: Path) -> Path:
    """Where an image of a run is: a relative path is one from where the command ran."""
    places = [Path(path), folder / path, folder.parent / path]
    return next((place for place in places if place.is_file()), Path(path))


def to_bytes(image: NDArray[Any]) -> NDArray[np.uint8]:
    """Give an image as uint8, grey or in three colours; other kinds of numbers keep their range."""
    pixels = image[..., :3] if image.ndim == 3 and image.shape[2] == 4 else image
    if pixels.dtype == np.uint8:
        return np.asarray(pixels, dtype=np.uint8)
    values = pixels.astype(np.float64)
    low, high = float(values.min()), float(values.max())
    return np.asarray(np.rint(255 * (values - low) / max(high - low, 1e-12)), dtype=np.uint8)
