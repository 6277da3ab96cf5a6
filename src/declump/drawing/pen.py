"""Drawing into pictures: smooth lines and dots with a dark rim, and text with a light one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

WIDTH = 2.0
"""Width of an outline in pixels."""
DOT = 2.5
"""Radius in pixels of the dot at a seed."""
SMALLEST_TEXT = 14
"""Height of text in pixels in a small picture."""
_FINER = 4
_RIM = 0.55
"""Opacity of the dark rim that sets an outline off from a bright image."""


def draw(
    picture: NDArray[np.uint8],
    strokes: Sequence[NDArray[np.float64]],
    colour: ArrayLike,
    *,
    dot: NDArray[np.float64] | None = None,
    width: float = WIDTH,
) -> None:
    """Draw strokes and a dot of one colour into a picture (H, W, 3).

    Parameters
    ----------
    picture : (H, W, 3) uint8
        Changed in place; what lies outside is cut off.
    strokes : sequence of (n, 2) float
        Row and column of the points of each polyline.
    colour : (3,)
        Red, green and blue.
    dot : (2,) float, optional
        Row and column of the middle of a dot.
    width : float
        Of the strokes, in pixels.
    """
    places = [*strokes] if dot is None else [*strokes, dot[None]]
    if not places:
        return
    points = np.vstack(places)
    top, left = np.maximum(np.floor(points.min(axis=0) - 2 * DOT), 0).astype(int)
    bottom, right = np.minimum(np.ceil(points.max(axis=0) + 2 * DOT) + 1, picture.shape[:2]).astype(int)
    if top >= bottom or left >= right:
        return
    part = picture[top:bottom, left:right]
    for tone, opacity, wider in (((0, 0, 0), _RIM, 1.0), (colour, 1.0, 0.0)):
        cover = _coverage(strokes, dot, (top, left), part.shape[:2], width, wider)
        where = np.nonzero(cover)  # few of the pixels of the box
        share = opacity / 255 * cover[where][:, None]
        part[where] = (part[where] * (1 - share) + np.array(tone) * share + 0.5).astype(np.uint8)


def text_size(shape: tuple[int, ...]) -> int:
    """Height of text in pixels that can be read in a picture of this shape, also when it is shown on one screen."""
    return int(np.clip(max(shape[:2]) / 60, SMALLEST_TEXT, 3 * SMALLEST_TEXT))


def text_width(text: str, size: int) -> int:
    """Width of a text in pixels."""
    return int(np.ceil(_font(size).getlength(text)))


def write(
    picture: NDArray[np.uint8],
    texts: Sequence[tuple[str, tuple[float, float]]],
    *,
    size: int = SMALLEST_TEXT,
    anchor: str = "lm",
) -> None:
    """Write texts into a picture (H, W, 3), in black with a white rim.

    Parameters
    ----------
    picture : (H, W, 3) uint8
        Changed in place.
    texts : sequence of (str, (row, column))
        Each with its place.
    size : int
        Height in pixels.
    anchor : str
        What of the text stands at the place: left, middle or right ("l", "m", "r"), then ascender, middle or
        descender ("a", "m", "d").
    """
    if not texts:
        return
    from PIL import Image, ImageDraw

    sheet = Image.fromarray(picture)
    pen = ImageDraw.Draw(sheet)
    rim = max(size // 8, 1)
    for text, (row, column) in texts:
        place = (column, row)
        pen.text(place, text, (0, 0, 0), _font(size), anchor, stroke_width=rim, stroke_fill=(255, 255, 255))
    picture[...] = np.asarray(sheet)


def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _coverage(
    strokes: Sequence[NDArray[np.float64]],
    dot: NDArray[np.float64] | None,
    origin: tuple[Any, Any],
    shape: tuple[int, ...],
    width: float,
    wider: float,
) -> NDArray[np.uint8]:
    """Share (h, w), 255 for all, of each pixel under the strokes and the dot, drawn on a finer grid and averaged."""
    from PIL import Image, ImageDraw

    fine = Image.new("L", (shape[1] * _FINER, shape[0] * _FINER))
    pen = ImageDraw.Draw(fine)
    for stroke in strokes:
        path = (stroke - origin + 0.5)[:, ::-1] * _FINER
        pen.line(path.ravel().tolist(), fill=255, width=round((width + wider) * _FINER))
    if dot is not None:
        pen.circle(tuple(((dot - origin + 0.5)[::-1] * _FINER).tolist()), (DOT + wider / 2) * _FINER, fill=255)
    return np.asarray(fine.reduce(_FINER))
