"""Pictures for people: outlines drawn over an image, and pictures side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump import contours
from declump.segmentation import Segmentation

COLOURS = (
    (230, 159, 0),  # orange
    (86, 180, 233),  # sky blue
    (0, 158, 115),  # bluish green
    (213, 94, 0),  # vermilion
    (204, 121, 167),  # reddish purple
    (0, 114, 178),  # blue
    (240, 228, 66),  # yellow
)
"""Colours that people with any colour vision tell apart (Okabe and Ito, 2008), without black."""
WIDTH = 2.0
"""Width of an outline in pixels."""
DASH, GAP = 6.0, 5.0
"""Lengths in pixels of the dashes of hidden outlines and of the gaps between them."""
DOT = 2.5
"""Radius in pixels of the dot at a seed."""
TOUCHING = 10.0
"""Cells nearer to each other than this, in pixels, get different colours as far as there are enough."""
_FINER = 4
_RIM = 0.55
"""Opacity of the dark rim that sets an outline off from a bright image."""


def overlay(segmentation: Segmentation, image: ArrayLike | None = None) -> NDArray[np.uint8]:
    """Draw the outline of every cell: solid where it is open, dashed where it lies inside another cell.

    Parameters
    ----------
    segmentation : Segmentation
    image : (H, W) or (H, W, 3), optional
        What to draw over: bytes as they are; other numbers with their usual range stretched to black and white; a bool
        mask as light grey on white. White by default.

    Returns
    -------
    (H, W, 3) uint8
        Red, green and blue. Cells that touch have different colours; a dot marks each seed, also that of a cell without
        an outline.

    Raises
    ------
    ValueError
        If the image has another size than the segmentation, or holds NaN.
    """
    picture = np.full((*segmentation.shape, 3), 255, np.uint8) if image is None else displayed(image)
    if picture.shape[:2] != segmentation.shape:
        raise ValueError(
            f"the image is {picture.shape[0]} x {picture.shape[1]} pixels, the segmentation "
            f"{segmentation.shape[0]} x {segmentation.shape[1]}; give the image that was segmented"
        )
    hidden = contours.hidden_edges(segmentation.seeds, segmentation.radii)
    colours = _chosen_colours(_touching(segmentation))
    for index, vertices in enumerate(segmentation.polygons):
        strokes = list(_strokes(vertices, hidden[index])) if segmentation.radii[index].any() else []
        _draw(picture, strokes, segmentation.seeds[index], COLOURS[colours[index]])
    return picture


def displayed(image: ArrayLike) -> NDArray[np.uint8]:
    """Make an image fit to look at.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
        See :func:`overlay`; a fourth channel is dropped.

    Returns
    -------
    (H, W, 3) uint8
    """
    pixels = np.asarray(image)
    if pixels.ndim not in (2, 3) or pixels.shape[2:] not in ((), (3,), (4,)) or pixels.size == 0:
        raise ValueError(f"an image is (H, W) or (H, W, 3); given was an array of shape {pixels.shape}")
    if pixels.dtype == np.bool_:
        grey = np.where(pixels, np.uint8(214), np.uint8(255))
    elif pixels.dtype == np.uint8:
        grey = pixels
    else:
        values = pixels.astype(np.float64)
        if not np.isfinite(values).all():
            raise ValueError("an image to look at holds finite numbers; this one has NaN or infinity")
        low, high = np.percentile(values, (0.5, 99.5))
        if high <= low:
            low, high = values.min(), values.max()
        share = (values - low) / (high - low) if high > low else np.zeros_like(values)
        grey = np.rint(255 * np.clip(share, 0, 1)).astype(np.uint8)
    return grey[..., :3].copy() if grey.ndim == 3 else np.repeat(grey[..., None], 3, axis=2)


def mosaic(pictures: Sequence[ArrayLike], columns: int | None = None, gap: int = 8) -> NDArray[np.uint8]:
    """Lay pictures side by side on white, row by row.

    Parameters
    ----------
    pictures : sequence of (H, W) or (H, W, 3)
        Of any sizes; each stands in the middle of its place.
    columns : int, optional
        Pictures in a row; by default all.
    gap : int
        White pixels between two pictures.

    Returns
    -------
    (H, W, 3) uint8
    """
    shown = [displayed(picture) for picture in pictures]
    columns = len(shown) if columns is None else columns
    if not shown or columns < 1 or gap < 0:
        raise ValueError(f"a mosaic has pictures, columns >= 1 and gap >= 0; given were {len(shown)}, {columns}, {gap}")
    height, width = np.max([picture.shape[:2] for picture in shown], axis=0)
    columns, rows = min(columns, len(shown)), -(-len(shown) // columns)
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 3), 255, np.uint8)
    for index, picture in enumerate(shown):
        top = index // columns * (height + gap) + (height - picture.shape[0]) // 2
        left = index % columns * (width + gap) + (width - picture.shape[1]) // 2
        sheet[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return sheet


def _touching(segmentation: Segmentation) -> NDArray[np.bool_]:
    """Which cells (N, N) touch or nearly touch."""
    seeds, radii, vertices = segmentation.seeds, segmentation.radii, segmentation.polygons
    touching = np.zeros((len(seeds), len(seeds)), np.bool_)
    reach = radii.max(axis=1, initial=0)
    for index in np.flatnonzero(reach):
        distance = np.hypot(*(seeds - seeds[index]).T)
        for other in np.flatnonzero((distance < reach + reach[index] + TOUCHING) & (reach > 0)):
            if other != index:
                near = contours.inside(vertices[index], seeds[other], radii[other] + TOUCHING).any()
                touching[index, other] |= near
                touching[other, index] |= near
    return touching


def _chosen_colours(touching: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Colour cells, those with most neighbours first, each unlike its neighbours and else with the rarest colour."""
    colours = np.full(len(touching), -1, dtype=np.int64)
    for index in np.argsort(-touching.sum(axis=1), kind="stable"):
        around = np.bincount(colours[touching[index] & (colours >= 0)], minlength=len(COLOURS))
        anywhere = np.bincount(colours[colours >= 0], minlength=len(COLOURS))
        colours[index] = np.lexsort((anywhere, around))[0]
    return colours


def _strokes(vertices: NDArray[np.float64], hidden: NDArray[np.bool_]) -> Iterator[NDArray[np.float64]]:
    """Polylines (n, 2) of a closed outline: whole where it is open, dashes where it is hidden."""
    count = len(vertices)
    if not hidden.any():
        yield np.vstack([vertices, vertices[:2]])
        return
    # Begin where the kind changes, so that every run of edges is met in one piece.
    start = int(np.flatnonzero(hidden != np.roll(hidden, 1))[0]) if not hidden.all() else 0
    hidden = np.roll(hidden, -start)
    line = np.vstack([np.roll(vertices, -start, axis=0), vertices[start]])
    ends = [*np.flatnonzero(np.diff(hidden)) + 1, count]
    for first, end in zip([0, *ends[:-1]], ends, strict=True):
        run = line[first : end + 1]
        if hidden[first]:
            yield from _dashes(run)
        else:
            yield run


def _dashes(line: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Cut a polyline into dashes, spaced so that a gap stands at both ends."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    period = along[-1] / max(round((along[-1] - GAP) / (DASH + GAP)), 1)
    for middle in np.arange(period / 2, along[-1], period):
        ends = np.array([middle - DASH / 2, middle + DASH / 2])
        stops = np.concatenate([ends[:1], along[(along > ends[0]) & (along < ends[1])], ends[1:]])
        yield np.column_stack([np.interp(stops, along, part) for part in line.T])


def _draw(
    picture: NDArray[np.uint8],
    strokes: list[NDArray[np.float64]],
    seed: NDArray[np.float64],
    colour: tuple[int, int, int],
) -> None:
    """Draw the strokes and the seed of one cell into its part of the picture, smoothly."""
    points = np.vstack([*strokes, seed[None]])
    top, left = np.maximum(np.floor(points.min(axis=0) - 2 * DOT), 0).astype(int)
    bottom, right = np.minimum(np.ceil(points.max(axis=0) + 2 * DOT) + 1, picture.shape[:2]).astype(int)
    if top >= bottom or left >= right:
        return
    part = picture[top:bottom, left:right]
    for tone, opacity, wider in (((0, 0, 0), _RIM, 1.0), (colour, 1.0, 0.0)):
        cover = opacity * _coverage(strokes, seed, (top, left), part.shape[:2], wider)[..., None]
        part[...] = (part * (1 - cover) + np.array(tone) * cover + 0.5).astype(np.uint8)


def _coverage(
    strokes: list[NDArray[np.float64]],
    seed: NDArray[np.float64],
    origin: tuple[Any, Any],
    shape: tuple[int, ...],
    wider: float,
) -> NDArray[np.float64]:
    """Share (h, w) of each pixel under the strokes and the dot, drawn on a finer grid and averaged."""
    from PIL import Image, ImageDraw

    fine = Image.new("L", (shape[1] * _FINER, shape[0] * _FINER))
    pen = ImageDraw.Draw(fine)
    width = round((WIDTH + wider) * _FINER)
    for stroke in strokes:
        path = (stroke - origin + 0.5)[:, ::-1] * _FINER
        pen.line([tuple(point) for point in path.tolist()], fill=255, width=width, joint="curve")
    pen.circle(tuple(((seed - origin + 0.5)[::-1] * _FINER).tolist()), (DOT + wider / 2) * _FINER, fill=255)
    return np.asarray(fine.reduce(_FINER), dtype=np.float64) / 255
