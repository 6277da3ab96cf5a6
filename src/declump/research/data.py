"""Data sets by name, each with what the experiments have to know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from declump.datasets import AnnotatedImage, coco, isbi2014, isbi2015, read
from declump.simulate import smear

NAMES = ("isbi2014", "isbi2015", "folder", "coco", "simulated-pap", "simulated-he")
CELLS, OVERLAP = 12, 0.5
"""Cells of a simulated smear, and how much they overlap."""


@dataclass(frozen=True)
class DataSet:
    """Annotated images and how to treat them.

    Attributes
    ----------
    name : str
        One of ``NAMES``.
    title : str
        As in tables.
    images : callable
        Gives the images, one at a time.
    groups : callable
        Gives for the names of all images the numbers of groups that must not be separated by folds, or None.
    printed : "pap", "he" or None
        Which half of the paper's tables stands beside.
    note : str
        What a reader has to know.
    """

    name: str
    title: str
    images: Callable[[], Iterator[AnnotatedImage]]
    groups: Callable[[Sequence[str]], list[int] | None]
    printed: Literal["pap", "he"] | None
    note: str


def open_data(name: str, place: Path | None, *, count: int = 20, seed: int = 0) -> DataSet:
    """Open a data set by its name.

    Parameters
    ----------
    name : str
        One of ``NAMES``.
    place : Path, optional
        The data set, or the folder that holds it under its name; a COCO file for ``"coco"``. None for simulated ones.
    count, seed : int
        Number of simulated smears, and what they follow from.

    Returns
    -------
    DataSet

    Raises
    ------
    ValueError
        If there is no such data set, or a place is given that is not needed, or none where one is.
    FileNotFoundError
        If there is nothing at the place.
    """
    if name not in NAMES:
        raise ValueError(f"there is no data set {name!r}; the data sets are {', '.join(NAMES)}")
    if name.startswith("simulated-"):
        if place is not None:
            raise ValueError(f"{name} is drawn, not read; it has no place")
        return _simulate(name, count, seed)
    if place is None:
        raise ValueError(f"{name} is read from files; tell where they are")
    if not place.exists():
        raise FileNotFoundError(f"there is no {place}; give the place of the data")
    if name == "isbi2014":
        inner = _inner(place, name)
        return DataSet(name, "ISBI 2014 (training images)", lambda: isbi2014.read(inner), _no_groups, None, NOTE_2014)
    if name == "isbi2015":
        inner = _inner(place, name)
        return DataSet(
            name, "ISBI 2015 (8 training frames, Pap stain)", lambda: isbi2015.read(inner), isbi2015.fields, "pap",
            NOTE_2015,
        )  # fmt: skip
    title = place.resolve().name
    if name == "coco" and place.is_file():
        return DataSet(name, title, lambda: coco.read(place), _no_groups, None, "")
    return DataSet(name, title, lambda: read(place), _no_groups, None, "")


NOTE_2014 = (
    "These images are composed of a small number of real isolated cells, so that the same cell can be in training and "
    "in test images: methods that choose among the training shapes (F, templates) know some test cells. The paper does "
    "not use this data."
)
NOTE_2015 = (
    "The paper's Pap stain data: the same 8 public frames as far as can be told, other folds. frame014 and frame017 "
    "show partly the same cells and stay on one side of every fold."
)


def _simulate(name: str, count: int, seed: int) -> DataSet:
    stain: Literal["pap", "he"] = "he" if name == "simulated-he" else "pap"

    def images() -> Iterator[AnnotatedImage]:
        for index in range(count):
            made = smear(cells=CELLS, overlap=OVERLAP, stain=stain, rng=seed * 1_000_003 + index)
            labels = np.zeros(made.clump.shape, dtype=np.int32)
            for number, nucleus in enumerate(made.nuclei, start=1):
                labels[nucleus] = number
            yield AnnotatedImage(f"smear{index:03d}", made.image, made.cells, labels, made.seeds)

    stained = "H&E" if stain == "he" else "Pap"
    note = f"{count} simulated smears with {stained} colours, exact truth, {CELLS} cells each."
    if stain == "he":
        note += (
            " They stand in place of the paper's private H&E set; the printed figures beside them are of other images."
        )
    return DataSet(
        name, f"Simulated smears, {stained} stain", images, _no_groups, "he" if stain == "he" else None, note
    )


def _inner(place: Path, name: str) -> Path:
    return place / name if (place / name).is_dir() else place


def _no_groups(_names: Sequence[str]) -> None:
    return None
