"""CRIC frames with marks drawn by hand: where the clump is, some whole cells, nuclei, and points on what is neither."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.images.reading import read_image

PARTS = ("train", "choose", "report")
"""Parts of the split: to learn from, to choose by, to report on."""
KINDS = ("nucleus", "leukocyte", "red_cell", "bacteria", "debris", "mucus", "fold", "background")
"""Kinds of points."""
UNKNOWN, CLUMP = 128, 255
"""Grey levels of ``clump.png``; background is 0."""


@dataclass(frozen=True, eq=False)
class MarkedCell:
    """A whole cell, its hidden boundary included.

    Attributes
    ----------
    outline : (N, 2) float64
        Row and column of its contour, in order.
    nucleus : (2,) float64
        A point in its nucleus.
    confidence : float
        1 where all of it is seen; below 0.7 the hidden part is a guess.
    is_hidden : bool
        Other cells hide part of its boundary.
    is_cut : bool
        The border of the frame cuts it.
    """

    outline: NDArray[np.float64]
    nucleus: NDArray[np.float64]
    confidence: float
    is_hidden: bool
    is_cut: bool


@dataclass(frozen=True, eq=False)
class DrawnNucleus:
    """A nucleus.

    Attributes
    ----------
    outline : (N, 2) float64
        Row and column of its contour, in order.
    is_sure : bool
        False where it may be none: bare, smeared, or hardly seen.
    """

    outline: NDArray[np.float64]
    is_sure: bool


@dataclass(frozen=True, eq=False)
class DrawnFrame:
    """A frame and what is drawn of it.

    Attributes
    ----------
    name, part : str
        Name of the frame, and one of :data:`PARTS`, or ``"second"`` for a second reading.
    image : (H, W, 3) uint8
    clump : (H, W) bool
        Cytoplasm and nuclei of epithelial cells.
    unknown : (H, W) bool
        Where nobody could tell; not in the clump.
    cells : tuple of MarkedCell
        Some of the cells, not all.
    nuclei : tuple of DrawnNucleus
        Some of the nuclei, or all of them.
    has_all_nuclei : bool
        Every nucleus of the frame is drawn, but for those in `unknown`.
    points : (P, 2) float64
        Row and column of points on what is not drawn as a nucleus.
    kinds : tuple of str
        What each point lies on, one of :data:`KINDS`.
    """

    name: str
    part: str
    image: NDArray[np.uint8]
    clump: NDArray[np.bool_]
    unknown: NDArray[np.bool_]
    cells: tuple[MarkedCell, ...]
    nuclei: tuple[DrawnNucleus, ...]
    has_all_nuclei: bool
    points: NDArray[np.float64]
    kinds: tuple[str, ...]


def read(images: str | Path, marks: str | Path, part: str | None = None) -> Iterator[DrawnFrame]:
    """Read drawn frames, sorted by part and name.

    Parameters
    ----------
    images : str or Path
        Folder with the frames of CRIC, ``NAME.jpg``, ``NAME.jpeg`` or ``NAME.png``.
    marks : str or Path
        Folder with ``PART/NAME/clump.png``, ``cells.json``, ``nuclei.json`` and ``points.csv``: ``marks/cric`` of
        the repository of declump.
    part : str, optional
        One of :data:`PARTS`, or ``"second"`` for the second readings; all parts of the split by default.

    Returns
    -------
    iterator of DrawnFrame

    Raises
    ------
    FileNotFoundError
        If nothing is drawn there, or the image of a frame is missing.
    ValueError
        If a file cannot be read, or does not fit its image.
    """
    images, marks = Path(images), Path(marks)
    if part not in (None, *PARTS, "second"):
        raise ValueError(f"part must be one of {', '.join(PARTS)} and second, got {part!r}.")
    folders = [
        (name, folder)
        for name in (PARTS if part is None else (part,))
        for folder in sorted((marks / name).glob("*"))
        if (folder / "clump.png").is_file()
    ]
    if not folders:
        raise FileNotFoundError(f"Nothing is drawn in {marks}; the reader looks for PART/NAME/clump.png.")
    return (_read_frame(images, name, folder) for name, folder in folders)


def _read_frame(images: Path, part: str, folder: Path) -> DrawnFrame:
    places = [images / f"{folder.name}{end}" for end in (".jpg", ".jpeg", ".png")]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise FileNotFoundError(f"There is no image of the frame {folder.name} in {images}.")
    image = np.asarray(read_image(path))
    levels = np.asarray(read_image(folder / "clump.png"))
    if levels.shape != image.shape[:2]:
        raise ValueError(
            f"{folder / 'clump.png'} must have the shape of its image, {image.shape[:2]}, got {levels.shape}."
        )
    if not np.isin(levels, (0, UNKNOWN, CLUMP)).all():
        raise ValueError(f"{folder / 'clump.png'} must hold 0, {UNKNOWN} and {CLUMP} alone.")
    try:
        cells = tuple(map(_read_cell, json.loads((folder / "cells.json").read_text(encoding="utf-8"))))
        drawn = json.loads((folder / "nuclei.json").read_text(encoding="utf-8"))
        nuclei = tuple(DrawnNucleus(_read_outline(one["outline"]), bool(one["sure"])) for one in drawn["nuclei"])
        has_all = bool(drawn["complete"])
        with (folder / "points.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        points = np.array([[float(row["row"]), float(row["column"])] for row in rows], np.float64).reshape(-1, 2)
        kinds = tuple(row["kind"] for row in rows)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{folder} cannot be read ({error!r}); fetch its four files again.") from error
    if strange := sorted(set(kinds) - set(KINDS)):
        raise ValueError(f"{folder / 'points.csv'}: kind must be one of {', '.join(KINDS)}, got {strange[0]!r}.")
    clump, unknown = levels == CLUMP, levels == UNKNOWN
    return DrawnFrame(folder.name, part, image, clump, unknown, cells, nuclei, has_all, points, kinds)


def _read_cell(drawn: dict[str, Any]) -> MarkedCell:
    nucleus = np.asarray(drawn["nucleus"], np.float64).reshape(2)
    flags = bool(drawn["hidden"]), bool(drawn["border"])
    return MarkedCell(_read_outline(drawn["outline"]), nucleus, float(drawn["confidence"]), *flags)


def _read_outline(points: list[list[float]]) -> NDArray[np.float64]:
    outline = np.asarray(points, np.float64)
    if outline.ndim != 2 or outline.shape[1] != 2 or len(outline) < 3:
        raise ValueError(f"an outline must be rows and columns of at least 3 points, got shape {outline.shape}")
    return outline
