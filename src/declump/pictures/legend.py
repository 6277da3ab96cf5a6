"""What the colours of a picture stand for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.drawing import pen
from declump.drawing.palette import UNKNOWN, Scale

BAR = 160
"""Length in pixels of the bar of colours, for text of the smallest size."""


def add_legend(picture: NDArray[np.uint8], values: NDArray[np.float64], title: str) -> NDArray[np.uint8]:
    """Add a legend beneath a picture: a title, and a bar from the lowest to the highest value.

    Parameters
    ----------
    picture : (H, W, 3) uint8
    values : (N,) float64
        What was measured; the colour of what is not known is explained if there is any.
    title : str
        The name of that.

    Returns
    -------
    (H + h, W, 3) uint8
        On white; wider than the picture if the legend is.
    """
    size = pen.text_size(picture.shape)
    bar, edge = BAR * size // pen.SMALLEST_TEXT, size // 2
    scale, known = Scale.of(values), np.isfinite(values)
    low, high = readable(scale.low), readable(scale.high)
    # Pieces from left to right with their widths: text, or the colours of a bar.
    pieces: list[tuple[str | NDArray[np.uint8], int]] = []
    if known.any():
        colours = scale.colours(np.linspace(scale.low, scale.high, bar))
        pieces += [(low, pen.text_width(low, size)), (colours, bar), (high, pen.text_width(high, size))]
    if not known.all():
        label = "not known"
        pieces += [(np.full((size, 3), UNKNOWN, np.uint8), size), (label, pen.text_width(label, size))]
    width = edge + max(sum(extent + edge for _, extent in pieces), pen.text_width(title, size) + edge)
    height = 2 * edge + (2 * size + edge if title else size)
    strip = np.full((height, max(width, picture.shape[1]), 3), 255, np.uint8)
    texts = [(title, (edge + size / 2, float(edge)))] if title else []
    top, left = height - edge - size, edge
    for piece, extent in pieces:
        if isinstance(piece, str):
            texts.append((piece, (top + size / 2, float(left))))
        else:
            strip[top : top + size, left : left + extent] = piece
        left += extent + edge
    pen.write(strip, texts, size=size)
    room = ((0, 0), (0, strip.shape[1] - picture.shape[1]), (0, 0))
    return np.vstack([np.pad(picture, room, constant_values=255), strip])


def readable(value: float) -> str:
    """Write a number with four digits, and without an exponent as long as it is not tiny."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
