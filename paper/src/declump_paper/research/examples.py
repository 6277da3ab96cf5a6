"""The visual comparison: clumps with heavy overlap, one row each, one column a method."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.datasets import AnnotatedImage
from declump.records.clump import split_clumps
from declump.records.segmentation import Segmentation
from declump_paper.pictures.comparison import comparison_picture
from declump_paper.research.images import Images, true_regions
from declump_paper.research.results import Results

COUNT = 4
MARGIN = 12
"""Pixels shown round a clump."""
MAX_SHARE, MAX_CELLS = 0.6, 10
"""A clump that fills more of its image's width or height, or has more cells, is shown only for want of others."""
Window = tuple[int, int, int, int]


def choose_clumps(images: Images, tested: set[int]) -> list[tuple[int, Window]]:
    """Choose what to show by a rule: of each tested image the clump with the largest mean overlap degree of its cells.

    Clumps have three cells or more; very large ones are passed over as long as there are others.

    Parameters
    ----------
    images : Images
    tested : set of int

    Returns
    -------
    list of (image, (top, left, bottom, right))
        At most ``COUNT``, by falling mean overlap degree.
    """
    found: list[tuple[bool, float, int, Window]] = []
    for index in sorted(tested):
        image, degrees = images.load(index), images.degrees(index)
        ranked = []
        for clump in split_clumps(image.clump, true_regions(image).seeds):
            if len(clump.cells) >= 3:
                window = _window(image, clump.cells)
                height, width = image.clump.shape
                share = max((window[2] - window[0]) / height, (window[3] - window[1]) / width)
                large = share > MAX_SHARE or len(clump.cells) > MAX_CELLS
                ranked.append((large, -float(degrees[clump.cells].mean()), index, window))
        found += [min(ranked)] if ranked else []
    return [(index, window) for _, _, index, window in sorted(found)[:COUNT]]


def draw_comparison(images: Images, results: Results) -> NDArray[np.uint8] | None:
    """Draw the visual comparison; None if no clump has three cells."""
    shown = [method for method in results.methods if method.group != "study"]
    tested = {one.image for _, one in results.tested[shown[0].name]} if shown else set()
    clumps = choose_clumps(images, tested)
    if not clumps:
        return None
    examples: list[tuple[Any, list[Segmentation | None]]] = []
    for index, _ in clumps:
        image = images.load(index)
        truth = Segmentation.from_masks(image.cells, true_regions(image).seeds, clump=image.clump)
        by_method = [_of(results, method.name, index) for method in shown]
        examples.append((image.image, [None, truth, *by_method]))
    titles = ["image", "truth", *(method.title for method in shown)]
    return comparison_picture(examples, titles, windows=[window for _, window in clumps], side=240)


def _window(image: AnnotatedImage, cells: NDArray[np.int64]) -> Window:
    rows, columns = np.nonzero(image.cells[cells].any(axis=0))
    height, width = image.clump.shape
    return (
        max(int(rows.min()) - MARGIN, 0),
        max(int(columns.min()) - MARGIN, 0),
        min(int(rows.max()) + MARGIN + 1, height),
        min(int(columns.max()) + MARGIN + 1, width),
    )


def _of(results: Results, method: str, image: int) -> Segmentation:
    """What a method made of an image in the first fold that tests it."""
    return next(one.segmentation for _, one in results.tested[method] if one.image == image)
