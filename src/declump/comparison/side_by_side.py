"""All methods on one image, on the same regions: what each finds, how long it takes, how good it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.compared import METHODS, find_method
from declump.records.segmentation import Segmentation
from declump.regions import Regions, find_regions
from declump.shapes.prior import ShapePrior

if TYPE_CHECKING:
    from declump.evaluation import Score

__all__ = ["Compared", "compare", "method_names", "write_comparison"]

OURS = "declump"
FILES = ("comparison.csv", "comparison.md", "comparison.png")
COLUMNS = 4
"""Panels side by side in the picture, at most."""
MAX_PANEL = 640
"""Longer side of a panel of the picture in pixels, at most."""
TOLD = ("dice_all", "dice_overlapping", "dice_good", "fno")
"""Figures in the text; the table has all."""


@dataclass(frozen=True, eq=False)
class Compared:
    """What became of one method.

    Attributes
    ----------
    name : str
    title : str
        As in tables.
    reference : str
        Who published it.
    seconds : float
        How long it took, the search for regions not included.
    segmentation : Segmentation, optional
        None if it failed.
    score : Score, optional
        Where the truth is known.
    reason : str
        Why it failed.
    """

    name: str
    title: str
    reference: str
    seconds: float
    segmentation: Segmentation | None = None
    score: Score | None = None
    reason: str = ""


def method_names(given: Sequence[str] | None = None) -> tuple[str, ...]:
    """Names of the methods that are meant, by default all: our own first, then those of ``declump.compared.METHODS``.

    Raises
    ------
    ValueError
        If there is no method of a name, or none is given.
    """
    known = (OURS, *METHODS)
    if given is None:
        return known
    unknown = [name for name in given if name not in known]
    if unknown or not given:
        told = f"there is no method {unknown[0]!r}" if unknown else "no method is given"
        raise ValueError(f"{told}; the methods are {', '.join(known)}")
    return tuple(dict.fromkeys(given))


def compare(
    image: ArrayLike,
    *,
    methods: Sequence[str] | None = None,
    regions: Regions | str | Path = "default",
    prior: ShapePrior | str | Path = "default",
    truth: NDArray[np.bool_] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Compared]:
    """Let methods segment the same image from the same regions. One that fails does not stop the others.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
        See :func:`declump.segment`.
    methods : sequence of str, optional
        See :func:`method_names`.
    regions : Regions, str or Path
        See :func:`declump.segment`; found once.
    prior : ShapePrior, str or Path
        Shapes to expect, for the methods that heed any.
    truth : (N, H, W) bool, optional
        Whole masks of the true cells.
    progress : callable, optional
        Called with the number of methods done and in all.

    Returns
    -------
    list of Compared
        In the order of the methods.

    Raises
    ------
    ValueError
        If there is no such method, regions or truth are of another image, or a true cell is empty.
    """
    from declump.errors import sentence
    from declump.evaluation import score

    names, picture = method_names(methods), np.asarray(image)
    if truth is not None and truth.shape[1:] != picture.shape[:2]:
        raise ValueError(
            f"the truth is of another image: {truth.shape[1:]} pixels against {picture.shape[:2]}; give the cells of "
            "this one"
        )
    if truth is not None and not truth.any(axis=(1, 2)).all():
        raise ValueError("a true cell has an empty mask; leave it out of the truth")
    shapes = prior if isinstance(prior, ShapePrior) else ShapePrior.load(prior)
    known = regions if isinstance(regions, Regions) else find_regions(picture, model=regions)
    if known.clump.shape != picture.shape[:2]:
        raise ValueError(f"the regions are of another image: {known.clump.shape} pixels against {picture.shape[:2]}")
    compared = []
    for done, name in enumerate(names, start=1):
        title, reference = _describe(name)
        start = time.perf_counter()
        try:
            # What is compiled or loaded at first use is no part of the method.
            _segment(name, *_two_discs(), shapes)
            start = time.perf_counter()
            found = _segment(name, picture, known, shapes)
        except Exception as error:  # whatever it is, the others can still be compared
            compared.append(Compared(name, title, reference, time.perf_counter() - start, reason=sentence(error)))
        else:
            seconds = time.perf_counter() - start
            figures = None if truth is None else score(truth, found.masks)
            compared.append(Compared(name, title, reference, seconds, found, figures))
        if progress:
            progress(done, len(names))
    return compared


def _describe(name: str) -> tuple[str, str]:
    if name == OURS:
        return "declump", "this package; after Y. Song et al., constrained multi-shape evolution"
    method = find_method(name)
    return method.title, method.reference


def _segment(name: str, image: NDArray[Any], regions: Regions, prior: ShapePrior) -> Segmentation:
    if name == OURS:
        from declump.pipelines.cells import segment

        return segment(image, regions=regions, prior=prior)
    return find_method(name)(image, regions, prior=prior)


def _two_discs() -> tuple[NDArray[np.uint8], Regions]:
    """Give a small image of two overlapping cells, and its regions."""
    rows, columns = np.mgrid[:48, :64]
    distance = np.minimum(*(np.hypot(rows - 24, columns - column) for column in (24, 40)))
    image = np.full((48, 64), 240, np.uint8)
    image[distance < 14] = 180
    image[distance < 4] = 60
    return image, Regions(distance < 14, distance < 4)


def write_comparison(
    compared: Sequence[Compared],
    image: ArrayLike,
    folder: str | Path,
    *,
    truth: NDArray[np.bool_] | None = None,
    overwrite: bool = False,
) -> dict[str, Path]:
    """Write a comparison as a picture, a table and a page; all of them or none.

    Parameters
    ----------
    compared : sequence of Compared
    image : (H, W), (H, W, 3) or (H, W, 4)
    folder : str or Path
        Gets ``comparison.png``, ``comparison.csv`` and ``comparison.md``.
    truth : (N, H, W) bool, optional
        Drawn as the first panel.
    overwrite : bool
        Whether the folder may hold something already.

    Returns
    -------
    dict of str to Path
        Files by "csv", "md" and "png".
    """
    from PIL import Image

    from declump._files import atomic_folder
    from declump.io.formats.csv_table import write_table

    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, own=FILES) as draft:
        write_table(table(compared), draft / "comparison.csv")
        (draft / "comparison.md").write_text(page(compared), encoding="utf-8")
        Image.fromarray(draw_comparison(compared, image, truth)).save(draft / "comparison.png")
    return {Path(name).suffix[1:]: folder / name for name in FILES}


def table(compared: Sequence[Compared]) -> dict[str, Sequence[Any]]:
    """Columns of the table, one row a method: cells, seconds, and every figure of :class:`declump.evaluation.Score`."""
    from declump.evaluation.metrics import FIGURES

    columns: dict[str, Sequence[Any]] = {
        "method": [one.name for one in compared],
        "status": ["done" if one.segmentation is not None else "failed" for one in compared],
        "reason": [one.reason for one in compared],
        "cells": [None if one.segmentation is None else len(one.segmentation) for one in compared],
        "seconds": [round(one.seconds, 3) for one in compared],
    }
    if any(one.score is not None for one in compared):
        figures = [{} if one.score is None else one.score.figures() for one in compared]
        columns |= {name: [_finite_or_none(row.get(name)) for row in figures] for name in FIGURES}
    return columns


def page(compared: Sequence[Compared]) -> str:
    """Give the table for people, in Markdown: the figures most looked at, what failed, and who published what."""
    scored = any(one.score is not None for one in compared)
    heads = ["method", "cells", "seconds", *(name.replace("_", " ") for name in TOLD if scored)]
    lines = ["# Comparison", "", "![What each method found](comparison.png)", ""]
    lines += [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for one in compared:
        cells = "failed" if one.segmentation is None else str(len(one.segmentation))
        figures = {} if one.score is None else one.score.figures()
        values = [_finite_or_none(figures.get(name)) for name in TOLD if scored]
        texts = [
            one.title,
            cells,
            f"{one.seconds:.2f}",
            *("-" if value is None else f"{value:.3f}" for value in values),
        ]
        lines.append(f"| {' | '.join(texts)} |")
    lines += [
        "",
        "All methods had the same regions; finding those is not in the seconds. declump may count spots as nuclei that "
        "the others are not shown, and add cells where no nucleus was found: that is part of it.",
        "",
    ]
    lines += [f"- {one.title} failed: {one.reason}" for one in compared if one.reason]
    lines += [f"- {one.title}: {one.reference}." for one in compared]
    return "\n".join(lines) + "\n"


def draw_comparison(
    compared: Sequence[Compared], image: ArrayLike, truth: NDArray[np.bool_] | None = None
) -> NDArray[np.uint8]:
    """Draw what each method found, the truth first where it is known, with Dice and seconds beneath."""
    from declump.pictures import comparison_picture

    shown: list[Segmentation | None] = [one.segmentation for one in compared]
    titles, captions = [one.title for one in compared], [_caption(one) for one in compared]
    if truth is not None:
        shown, titles, captions = (
            [_outline_truth(truth), *shown],
            ["Truth", *titles],
            [f"{len(truth)} cells", *captions],
        )
    side = int(np.clip(max(np.shape(image)[:2]), MAX_PANEL // 2, MAX_PANEL))
    rows = -(-len(titles) // COLUMNS)
    columns = -(-len(titles) // rows)  # as many in each row, as far as that goes
    return comparison_picture([(image, shown)], titles, captions=[captions], columns=columns, side=side)


def _caption(one: Compared) -> str:
    if one.segmentation is None:
        return f"failed: {one.reason}"
    told = f"{len(one.segmentation)} cells, {one.seconds:.2f} s"
    return told if one.score is None else f"Dice {one.score.dice_all:.3f}, {told}"


def _outline_truth(truth: NDArray[np.bool_]) -> Segmentation:
    """Outlines of true cells, each seen from its deepest place."""
    from scipy import ndimage

    from declump.shapes import contours

    seeds, radii = np.zeros((len(truth), 2)), np.zeros((len(truth), 360))
    for index, mask in enumerate(truth):
        if mask.any():
            box = ndimage.find_objects(mask.astype(np.int8))[0]
            depth = ndimage.distance_transform_edt(np.pad(mask[box], 1))
            deepest = np.unravel_index(int(depth.argmax()), depth.shape)
            seeds[index] = [int(place) - 1 + part.start for place, part in zip(deepest, box, strict=True)]
            radii[index], _ = contours.outermost_crossings(mask, seeds[index])
    return Segmentation((truth.shape[1], truth.shape[2]), seeds, radii, np.zeros(len(truth), dtype=np.int64))


def _finite_or_none(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else value
