"""A comparison on paper: a picture, a table and a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image
from scipy import ndimage

from declump._files import atomic_folder
from declump.evaluation.metrics import FIGURES
from declump.io.formats.csv_table import write_table
from declump.records.segmentation import Segmentation
from declump.shapes import contours
from declump_paper.comparison.running import Compared
from declump_paper.pictures import comparison_picture

FILES = ("comparison.csv", "comparison.md", "comparison.png")
COLUMNS = 4
"""Panels side by side in the picture, at most."""
MAX_PANEL = 640
"""Longer side of a panel of the picture in pixels, at most."""
IN_TEXT = ("dice_all", "dice_overlapping", "dice_good", "fno")
"""Figures in the text; the table has all."""


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
    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, own=FILES) as draft:
        write_table(table(compared), draft / "comparison.csv")
        (draft / "comparison.md").write_text(page(compared), encoding="utf-8")
        Image.fromarray(draw_comparison(compared, image, truth)).save(draft / "comparison.png")
    return {Path(name).suffix[1:]: folder / name for name in FILES}


def table(compared: Sequence[Compared]) -> dict[str, Sequence[Any]]:
    """Columns of the table, one row a method: cells, seconds, and every figure of :class:`declump.evaluation.Score`."""
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
    heads = ["method", "cells", "seconds", *(name.replace("_", " ") for name in IN_TEXT if scored)]
    lines = ["# Comparison", "", "![What each method found](comparison.png)", ""]
    lines += [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for one in compared:
        cells = "failed" if one.segmentation is None else str(len(one.segmentation))
        figures = {} if one.score is None else one.score.figures()
        values = [_finite_or_none(figures.get(name)) for name in IN_TEXT if scored]
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
    caption = f"{len(one.segmentation)} cells, {one.seconds:.2f} s"
    return caption if one.score is None else f"Dice {one.score.dice_all:.3f}, {caption}"


def _outline_truth(truth: NDArray[np.bool_]) -> Segmentation:
    """Outlines of true cells, each seen from its deepest place."""
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
