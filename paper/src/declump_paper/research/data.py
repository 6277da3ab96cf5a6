"""Data sets by name, each with what the experiments have to know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from declump.datasets import AnnotatedImage, coco, isbi2014, isbi2015, read
from declump.simulate import smear

NAMES = ("isbi2014", "isbi2015", "folder", "coco", "simulated-pap", "simulated-he")
CELLS, OVERLAP = 12, 0.5
"""Cells of a simulated smear, and how much they overlap."""
SIDE = 512
"""Pixels of a side of a simulated smear with that many cells; with more cells its area grows with their number."""


@dataclass(frozen=True)
class Part:
    """Images of one kind among those that share folds: the tables are made for each kind.

    Attributes
    ----------
    name, title : str
        Of its data set.
    prefix : str
        What the names of its images begin with.
    printed : "pap", "he" or None
        Which half of the paper's tables stands beside.
    """

    name: str
    title: str
    prefix: str
    printed: Literal["pap", "he"] | None


@dataclass(frozen=True)
class DataSet:
    """Annotated images and how to treat them.

    Attributes
    ----------
    name : str
        One of ``NAMES``, or several joined by "+".
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
    parts : tuple of Part
        Of several data sets with common folds; none for one alone.
    """

    name: str
    title: str
    images: Callable[[], Iterator[AnnotatedImage]]
    groups: Callable[[Sequence[str]], list[int] | None]
    printed: Literal["pap", "he"] | None
    note: str
    parts: tuple[Part, ...] = ()


def open_data(name: str, place: Path | None, *, count: int = 20, cells: int = CELLS, seed: int = 0) -> DataSet:
    """Open a data set by its name.

    Parameters
    ----------
    name : str
        One of ``NAMES``; or several joined by "+", whose images are divided into folds together, as the paper does with
        its two stains.
    place : Path, optional
        The data set, or the folder that holds it under its name; a COCO file for ``"coco"``. None for simulated ones.
    count, cells, seed : int
        Number of simulated smears, cells of each, and what they follow from.

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
    words = name.split("+")
    if len(words) > 1:
        if len(set(words)) < len(words):
            raise ValueError(f"data sets are pooled once each; given was {name}")
        drawn = [word.startswith("simulated-") for word in words]
        opened = [
            open_data(word, None if made else place, count=count, cells=cells, seed=seed)
            for word, made in zip(words, drawn, strict=True)
        ]
        return _pool(name, opened)
    if name not in NAMES:
        raise ValueError(f"there is no data set {name!r}; the data sets are {', '.join(NAMES)}")
    if name.startswith("simulated-"):
        if place is not None:
            raise ValueError(f"{name} is drawn, not read; it has no place")
        return _simulate(name, count, cells, seed)
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


def _pool(name: str, opened: Sequence[DataSet]) -> DataSet:
    """Several data sets as one, each image named after its own."""
    parts = tuple(Part(one.name, one.title, f"{one.name}/", one.printed) for one in opened)

    def images() -> Iterator[AnnotatedImage]:
        for one, part in zip(opened, parts, strict=True):
            for image in one.images():
                yield replace(image, name=f"{part.prefix}{image.name}")

    def groups(names: Sequence[str]) -> list[int]:
        found: list[int] = []
        for one, part in zip(opened, parts, strict=True):
            own = [image.removeprefix(part.prefix) for image in names if image.startswith(part.prefix)]
            first = max(found, default=-1) + 1
            numbers = one.groups(own)
            found += [first + number for number in (range(len(own)) if numbers is None else numbers)]
        return found

    note = " ".join(f"{one.title}: {one.note}" for one in opened if one.note)
    title = " with ".join(one.title for one in opened)
    return DataSet(name, title, images, groups, None, f"Divided into folds together. {note}", parts)


def _simulate(name: str, count: int, cells: int, seed: int) -> DataSet:
    stain: Literal["pap", "he"] = "he" if name == "simulated-he" else "pap"
    side = round(SIDE * max(1.0, cells / CELLS) ** 0.5)

    def images() -> Iterator[AnnotatedImage]:
        for index in range(count):
            made = smear((side, side), cells=cells, overlap=OVERLAP, stain=stain, rng=seed * 1_000_003 + index)
            labels = np.zeros(made.clump.shape, dtype=np.int32)
            for number, nucleus in enumerate(made.nuclei, start=1):
                labels[nucleus] = number
            yield AnnotatedImage(f"smear{index:03d}", made.image, made.cells, labels, made.seeds)

    stained = "H&E" if stain == "he" else "Pap"
    note = f"{count} simulated smears with {stained} colours, exact truth, {cells} cells each."
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
