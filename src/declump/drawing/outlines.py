"""Outlines of many cells, drawn into a picture or into the axes of matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.drawing import pen
from declump.drawing.palette import COLOURS, separate_colours
from declump.drawing.strokes import outline_strokes, runs
from declump.shapes import contours

LARGEST = 800
"""Longer side in pixels of the picture that a notebook shows."""


def picture_outlines(
    shape: tuple[int, int], seeds: NDArray[np.float64], radii: NDArray[np.float64], hidden: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Draw cells (N) on white, at a size that fits a page, with dashes where an outline is hidden.

    Parameters
    ----------
    shape : (H, W)
        Of their image; the picture is smaller where that is larger than ``LARGEST``.
    seeds, radii, hidden : (N, 2), (N, K), (N, K)
        See :class:`declump.Segmentation`.

    Returns
    -------
    (h, w, 3) uint8
    """
    scale = min(1.0, LARGEST / max(*shape, 1))
    height, width = (max(1, round(side * scale)) for side in shape)
    picture = np.full((height, width, 3), 255, np.uint8)
    places = (seeds + 0.5) * scale - 0.5
    outlines = places[:, None, :] + scale * radii[:, :, None] * np.column_stack(contours.directions(radii.shape[1]))
    for index, colour in enumerate(np.array(COLOURS)[separate_colours(seeds, radii)]):
        strokes = list(outline_strokes(outlines[index], hidden[index])) if radii[index].any() else []
        pen.draw(picture, strokes, colour, dot=places[index])
    return picture


def plot_outlines(
    axes: Any, outlines: NDArray[np.float64], hidden: NDArray[np.bool_], colours: ArrayLike, **style: Any
) -> None:
    """Add outlines (N, K, 2) to axes of matplotlib: solid where they are open, dashed where hidden.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    outlines : (N, K, 2) float64
        Row and column of the vertices.
    hidden : (N, K) bool
        Of their edges.
    colours : (N, 3)
        Red, green and blue from 0 to 255.
    **style
        Further arguments of ``matplotlib.collections.LineCollection``.
    """
    from matplotlib.collections import LineCollection

    for dashed in (False, True):
        lines, tones = [], []
        for outline, edges, colour in zip(outlines, hidden, np.asarray(colours) / 255, strict=True):
            for first, count, kind in runs(edges):
                if kind == dashed:
                    lines.append(np.take(outline, range(first, first + count + 1), axis=0, mode="wrap")[:, ::-1])
                    tones.append(colour)
        axes.add_collection(LineCollection(lines, colors=tones, linestyles="--" if dashed else "-", **style))
