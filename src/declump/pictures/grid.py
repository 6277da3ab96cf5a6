"""Small multiples: every cell by itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.drawing import pen
from declump.drawing.palette import COLOURS
from declump.drawing.strokes import outline_strokes
from declump.pictures.legend import readable
from declump.pictures.outlines import background, check_values
from declump.pictures.sheet import mosaic
from declump.records.segmentation import Segmentation

SIDE = 160
"""Side of the picture of one cell in pixels."""
MARGIN = 1.1
"""Side of what is shown of the image, in sides of the largest cell's box."""


def cell_grid(
    segmentation: Segmentation,
    image: ArrayLike | None = None,
    *,
    values: ArrayLike | None = None,
    title: str = "",
    columns: int = 6,
    most: int | None = None,
    side: int = SIDE,
) -> NDArray[np.uint8]:
    """Show every cell by itself, all at the same magnification, with its outline, its number and a measurement.

    Parameters
    ----------
    segmentation : Segmentation
    image : (H, W) or (H, W, 3), optional
        See :func:`declump.pictures.overlay`.
    values : (N,) float, optional
        A measurement to sort the cells by, lowest first and NaN last, such as
        ``declump.measure(...).cells["confidence"]``. By default cells stand in the order of their numbers.
    title : str
        Name of that measurement; written before its value.
    columns : int
        Cells in a row.
    most : int, optional
        Number of cells to show at most: the first ones in their order. By default all.
    side : int
        Side of the picture of one cell in pixels.

    Returns
    -------
    (H, W, 3) uint8

    Raises
    ------
    ValueError
        If the image or the values do not belong to the segmentation, there is no cell, or a number is too small.
    """
    if side < 16 or (most is not None and most < 1):
        raise ValueError(f"a picture of a cell has a side >= 16, and there is at least one; given were {side}, {most}")
    if not len(segmentation):
        raise ValueError("there is no cell to show; give a segmentation with at least one")
    picture = background(segmentation, image)
    numbers = None if values is None else check_values(segmentation, values)
    order = np.arange(len(segmentation)) if numbers is None else np.argsort(numbers, kind="stable")
    order = order[:most]
    hidden, polygons = segmentation.hidden_edges, segmentation.polygons
    lowest, highest = polygons.min(axis=1), polygons.max(axis=1)
    extent = max(2.0, MARGIN * float((highest - lowest).max()))
    shown = []
    for index in order:
        first = (lowest[index] + highest[index] - extent) / 2
        crop = _magnify(picture, first, extent, side)
        # Pixel centres are whole numbers on both grids, hence the halves.
        outline, seed = (
            (points + 0.5 - first) * side / extent - 0.5 for points in (polygons[index], segmentation.seeds[index])
        )
        drawn = segmentation.radii[index].any()
        pen.draw(crop, list(outline_strokes(outline, hidden[index])) if drawn else [], COLOURS[0], dot=seed)
        shown.append(crop)
    values_of = [""] * len(shown) if numbers is None else [_format_value(title, numbers[index]) for index in order]
    captions = [(str(index + 1), value) for index, value in zip(order, values_of, strict=True)]
    # All get as many lines, so that they stand in line.
    lines = max(_count_lines(*caption, side) for caption in captions)
    captioned = [_add_caption(crop, *caption, lines) for crop, caption in zip(shown, captions, strict=True)]
    return mosaic(captioned, columns=columns)


def _magnify(picture: NDArray[np.uint8], first: NDArray[np.float64], extent: float, side: int) -> NDArray[np.uint8]:
    """Square of a picture from a corner on, to another size; white outside the picture."""
    from PIL import Image

    # Padded by whole pixels to where the square reaches, as Pillow reads nothing outside of an image.
    corner = np.floor(first).astype(int)
    window = int(np.ceil(extent)) + 2
    cut = np.full((window, window, 3), 255, np.uint8)
    low = np.clip(corner, 0, picture.shape[:2])
    high = np.clip(corner + window, 0, picture.shape[:2])
    inner, outer = low - corner, high - corner
    cut[inner[0] : outer[0], inner[1] : outer[1]] = picture[low[0] : high[0], low[1] : high[1]]
    top, left = first - corner
    box = (left, top, left + extent, top + extent)
    return np.array(Image.fromarray(cut).resize((side, side), Image.Resampling.BICUBIC, box=box))


def _format_value(title: str, value: float) -> str:
    return f"{title} {readable(value) if np.isfinite(value) else 'not known'}".strip()


def _count_lines(number: str, value: str, side: int) -> int:
    """Lines that a caption needs: one, or two if number and value do not fit side by side."""
    size = pen.SMALLEST_TEXT
    return 1 if pen.text_width(number, size) + pen.text_width(value, size) + size <= side else 2


def _add_caption(crop: NDArray[np.uint8], number: str, value: str, lines: int) -> NDArray[np.uint8]:
    """Add lines beneath: the number to the left of the first, the value to the right of the last."""
    size, side = pen.SMALLEST_TEXT, crop.shape[1]
    strip = np.full((lines * (size + 4), side, 3), 255, np.uint8)
    pen.write(strip, [(number, (2 + size / 2, 1.0))], size=size)
    pen.write(strip, [(value, (len(strip) - 2 - size / 2, side - 1.0))], size=size, anchor="rm")
    return np.vstack([crop, strip])
