"""Outlines drawn over an image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.drawing import pen
from declump.drawing.display import to_display
from declump.drawing.palette import COLOURS, UNKNOWN, Scale
from declump.drawing.strokes import outline_strokes
from declump.images.accepting import ImageLike
from declump.pictures.colouring import category_colours
from declump.pictures.legend import add_legend
from declump.pictures.nuclei import nucleus_outlines
from declump.records.others import LEUKOCYTE, Others
from declump.records.segmentation import Segmentation

MARK = 3.0
"""Least reach in pixels of the mark of what is no nucleus."""


def overlay(
    segmentation: Segmentation,
    image: ImageLike | None = None,
    *,
    nuclei: bool = False,
    numbers: bool = False,
    values: ArrayLike | None = None,
    title: str = "",
    others: bool = False,
) -> NDArray[np.uint8]:
    """Draw the outline of every cell: solid where it is open, dashed where it lies inside another cell.

    Parameters
    ----------
    segmentation : Segmentation
    image : (H, W) or (H, W, 3), optional
        What to draw over: bytes as they are; other numbers with their usual range stretched to black and white; a bool
        mask as light grey on white. White by default.
    nuclei : bool
        Whether to draw the outlines of the nuclei, too, where the segmentation knows them.
    numbers : bool
        Whether to write the number of each cell, from 1, beside its seed.
    values : (N,) float, optional
        A measurement to colour the cells by, such as ``declump.measure(...).cells["area_px2"]``: from dark to light,
        grey where it is NaN. By default cells that touch have different colours.
    title : str
        Name of that measurement, for the legend.
    others : bool
        Whether to mark what was judged to be no nucleus: leukocytes by a cross, others by a stroke.

    Returns
    -------
    (H, W, 3) uint8
        Red, green and blue. A dot marks each seed, also that of a cell without an outline. With ``values`` the picture
        goes on with a legend beneath the image.

    Raises
    ------
    ValueError
        If the image has another size than the segmentation, or holds NaN, or there is not one value a cell.
    """
    picture = background(segmentation, image)
    if values is None:
        colours: NDArray[Any] = np.array(COLOURS)[category_colours(segmentation)]
    else:
        measured = check_values(segmentation, values)
        colours = Scale.of(measured).colours(measured)
    draw_cells(picture, segmentation, colours, nuclei=nuclei)
    if others and segmentation.others is not None:
        mark_others(picture, segmentation.others)
    if numbers:
        size = pen.text_size(picture.shape)
        beside = 2 * pen.DOT + size / 8
        seeds = enumerate(segmentation.seeds.tolist(), start=1)
        texts = [(str(number), (row, column + beside)) for number, (row, column) in seeds]
        pen.write(picture, texts, size=size)
    return picture if values is None else add_legend(picture, measured, title)


def draw_cells(
    picture: NDArray[np.uint8], segmentation: Segmentation, colours: NDArray[Any], *, nuclei: bool = False
) -> None:
    """Draw outlines and seeds of all cells, and their nuclei if asked, in colours (N, 3) into a picture (H, W, 3)."""
    hidden = segmentation.hidden_edges
    traced = nucleus_outlines(segmentation) if nuclei else [[] for _ in range(len(segmentation))]
    for index, vertices in enumerate(segmentation.polygons):
        strokes = list(outline_strokes(vertices, hidden[index])) if segmentation.radii[index].any() else []
        pen.draw(picture, strokes, colours[index], dot=segmentation.seeds[index])
        pen.draw(picture, traced[index], colours[index], width=pen.WIDTH / 2)


def mark_others(picture: NDArray[np.uint8], others: Others) -> None:
    """Draw a cross over every leukocyte and a stroke over every other spot that is no nucleus."""
    for kind, place, area in zip(others.kinds, others.places, others.areas, strict=True):
        reach = max(float(np.sqrt(area / np.pi)), MARK)
        strokes = [place + reach * np.array([(-1, -1), (1, 1)])]
        if kind == LEUKOCYTE:
            strokes.append(place + reach * np.array([(-1, 1), (1, -1)]))
        pen.draw(picture, strokes, np.array(UNKNOWN), width=pen.WIDTH / 2)


def background(segmentation: Segmentation, image: ImageLike | None) -> NDArray[np.uint8]:
    """Give the picture (H, W, 3) to draw a segmentation over: the image, or white."""
    picture = np.full((*segmentation.shape, 3), 255, np.uint8) if image is None else to_display(image)
    if picture.shape[:2] != segmentation.shape:
        raise ValueError(
            f"the image is {picture.shape[0]} x {picture.shape[1]} pixels, the segmentation "
            f"{segmentation.shape[0]} x {segmentation.shape[1]}; give the image that was segmented"
        )
    return picture


def check_values(segmentation: Segmentation, values: ArrayLike) -> NDArray[np.float64]:
    """Give the values (N,) of a measurement as floats, one a cell."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (len(segmentation),):
        raise ValueError(
            f"a measurement has one value a cell, here {len(segmentation)}; given was an array of shape {numbers.shape}"
        )
    return numbers
