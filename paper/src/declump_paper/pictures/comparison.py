"""Several segmentations of the same images side by side: one row an image, one column a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.drawing import pen
from declump.drawing.display import to_display
from declump.drawing.palette import COLOURS
from declump.pictures.colouring import category_colours
from declump.pictures.outlines import background, draw_cells
from declump.pictures.sheet import mosaic
from declump.records.segmentation import Segmentation

SIDE = 320
"""Longer side of one panel in pixels."""
GAP = 8
"""White pixels between two panels."""

Window = tuple[int, int, int, int]


def comparison_picture(
    examples: Sequence[tuple[ArrayLike, Sequence[Segmentation | None]]],
    titles: Sequence[str],
    *,
    windows: Sequence[Window | None] | None = None,
    captions: Sequence[Sequence[str]] | None = None,
    columns: int | None = None,
    side: int = SIDE,
) -> NDArray[np.uint8]:
    """Show what several methods made of the same images: one row an example, one column a method.

    A cell has the same colour in all columns: that of the cell of the row's first segmentation whose seed is nearest.

    Parameters
    ----------
    examples : sequence of (image, segmentations)
        Each image (H, W), (H, W, 3) or (H, W, 4) with one segmentation a column, in the order of the titles. None, for
        a method that failed, gives the image alone.
    titles : sequence of str
        What stands above each column; long ones go over several lines.
    windows : sequence of (top, left, bottom, right), optional
        What to show of each image, in pixels; None for one that is shown whole. By default all are.
    captions : sequence of sequence of str, optional
        What stands beneath each panel, for each example one text a column.
    columns : int, optional
        Panels side by side; by default one a title. With fewer, an example takes several rows, and every panel has its
        title above it.
    side : int
        Longer side of one panel in pixels: what is shown is magnified or reduced to it.

    Returns
    -------
    (H, W, 3) uint8

    Raises
    ------
    ValueError
        If there is nothing to show, the numbers of titles, segmentations, windows and captions do not agree, a window
        lies outside its image, or a segmentation is of another image.
    """
    _check_counts(examples, titles, windows, captions)
    if side < 16 or (columns is not None and columns < 1):
        raise ValueError(f"a panel has a side of at least 16 pixels, a row a column; given were {side}, {columns}")
    wide = len(titles) if columns is None else min(columns, len(titles))
    rows: list[NDArray[np.uint8]] = []
    for index, (image, segmentations) in enumerate(examples):
        panels = _draw_panels(image, segmentations, None if windows is None else windows[index], side)
        if index == 0 or wide < len(titles):
            panels = [np.vstack(pair) for pair in zip(_write_strips(titles, side), panels, strict=True)]
        if captions is not None:
            panels = [np.vstack(pair) for pair in zip(panels, _write_strips(captions[index], side), strict=True)]
        # Row by row, as two rows may differ in height.
        rows += [np.full((GAP, rows[0].shape[1], 3), 255, np.uint8)] if rows else []
        rows.append(mosaic(panels, columns=wide, gap=GAP))
    return np.vstack(rows)


def _check_counts(
    examples: Sequence[tuple[ArrayLike, Sequence[Segmentation | None]]],
    titles: Sequence[str],
    windows: Sequence[Window | None] | None,
    captions: Sequence[Sequence[str]] | None,
) -> None:
    if not examples or not titles:
        raise ValueError(f"a comparison has examples and titles; given were {len(examples)} and {len(titles)}")
    for name, rows in (("segmentations", [shown for _, shown in examples]), ("captions", captions or ())):
        counts = {len(row) for row in rows} - {len(titles)}
        if counts:
            raise ValueError(f"there are {len(titles)} titles, but an example has {min(counts)} {name}; give one each")
    for name, given in (("windows", windows), ("captions", captions)):
        if given is not None and len(given) != len(examples):
            raise ValueError(f"there are {len(examples)} examples and {len(given)} {name}; give one an example")


def _draw_panels(
    image: ArrayLike, segmentations: Sequence[Segmentation | None], window: Window | None, side: int
) -> list[NDArray[np.uint8]]:
    """Give the panels of one row, all of them as wide as a side; white beside what is higher than wide."""
    from PIL import Image

    picture = to_display(image)
    height, width = picture.shape[:2]
    top, left, bottom, right = (0, 0, height, width) if window is None else window
    if not (0 <= top < bottom <= height and 0 <= left < right <= width):
        raise ValueError(
            f"a window is (top, left, bottom, right) within its image of {height} x {width} pixels; given was {window}"
        )
    factor = side / max(bottom - top, right - left)
    size = (max(round((right - left) * factor), 1), max(round((bottom - top) * factor), 1))
    beside = ((side - size[0]) // 2, side - size[0] - (side - size[0]) // 2)
    shown = Image.fromarray(picture[top:bottom, left:right]).resize(size, Image.Resampling.BICUBIC)
    first = next((one for one in segmentations if one is not None), None)
    panels = []
    for segmentation in segmentations:
        panel = np.array(shown)
        if segmentation is not None and first is not None:
            background(segmentation, picture)  # refuses an image of another size
            colours = np.array(COLOURS)[_match_colours(first, segmentation)]
            # Pixel centres are whole numbers on both grids, hence the halves.
            seeds = (segmentation.seeds + 0.5 - (top, left)) * factor - 0.5
            draw_cells(panel, replace(segmentation, seeds=seeds, radii=segmentation.radii * factor), colours)
        panels.append(np.pad(panel, ((0, 0), beside, (0, 0)), constant_values=255))
    return panels


def _match_colours(first: Segmentation, segmentation: Segmentation) -> NDArray[np.int64]:
    """Colours (N,) of cells: those of the cells of another segmentation whose seeds are nearest."""
    if not len(first) or not len(segmentation):
        return category_colours(segmentation)
    from scipy.spatial import KDTree

    _, nearest = KDTree(first.seeds).query(segmentation.seeds)
    return np.asarray(category_colours(first)[nearest])


def _wrap(text: str, width: int) -> list[str]:
    """Lines of a text that fit a width, as far as its words do."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and pen.text_width(longer, pen.SMALLEST_TEXT) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _write_strips(texts: Sequence[str], width: int) -> list[NDArray[np.uint8]]:
    """Texts on white, all in as many lines as the longest needs, so that what is above or below stands in line."""
    line = pen.SMALLEST_TEXT + 4
    wrapped = [_wrap(text, width) for text in texts]
    strips = []
    for lines in wrapped:
        strip = np.full((line * max(map(len, wrapped)), width, 3), 255, np.uint8)
        pen.write(strip, [(part, (line * (index + 0.5), 1.0)) for index, part in enumerate(lines)])
        strips.append(strip)
    return strips
