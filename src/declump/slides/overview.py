"""``overview.png``: the slide at a low resolution, with density, N/C ratio and confidence of its cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import atomic_file
from declump.slides.gathering import Gathered

WIDTH, HEIGHT = 720, 960
"""Pixels that each of the four pictures has at most."""
SMALLEST, CELLS = 6, 1.5
"""Squares that cells are counted in have sides of so many pixels, or so many cells, whichever is more."""
COLOURS = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], np.float64)
"""From low to high: five steps of viridis."""
GAP, HEAD = 12, 34
BAR, LEAST = 100, 500
"""Pixels of the bar that shows the colours from low to high, and of it and a title."""


def write_overview(cells: Gathered, overview: NDArray[Any], path: Path) -> None:
    """Draw the slide and three maps of it."""
    from PIL import Image, ImageDraw, ImageFont

    height, width = cells.store.record.shape
    scale = min(WIDTH / width, HEIGHT / height)
    high, wide = (max(round(side * scale), 1) for side in (height, width))
    small = Image.fromarray(_to_display(overview)).convert("RGB").resize((wide, high))
    usual = np.sqrt(cells.store.statistics.cell_area or 0) * scale
    square = min(max(SMALLEST, round(CELLS * usual)), max(high, wide))
    count, ratio, confidence = _count(cells, (high, wide), square)
    known = np.maximum(count, 1)
    area = (square / scale) ** 2
    unit, per = _unit(cells.store.statistics.pixel_size)
    maps = (
        (f"cells a {unit}", count / area * per),
        ("mean nucleus-to-cytoplasm area ratio", ratio / known),
        ("mean confidence", confidence / known),
    )
    column_width = max(wide, LEAST)
    canvas = Image.new("RGB", (2 * column_width + 3 * GAP, 2 * (high + HEAD) + GAP), "white")
    draw, font = ImageDraw.Draw(canvas), ImageFont.load_default(size=16)
    places = [(GAP + column * (column_width + GAP), row * (high + HEAD)) for row in (0, 1) for column in (0, 1)]
    canvas.paste(small, (places[0][0], places[0][1] + HEAD))
    draw.text((places[0][0], 8), f"{Path(cells.store.record.slide).name}: {len(cells)} cells", "black", font)
    for (title, values), (left, top) in zip(maps, places[1:], strict=True):
        shown = values[count > 0]
        low, most = (0.0, 1.0) if not shown.size else (0.0, float(np.percentile(shown, 99)))
        picture = _colour(values, low, most, count > 0).repeat(square, axis=0).repeat(square, axis=1)[:high, :wide]
        canvas.paste(Image.fromarray(picture), (left, top + HEAD))
        canvas.paste(_draw_bar(), (left, top + HEAD - 14))
        draw.text((left + BAR + 8, top + 8), f"0 to {most:.3g}: {title}", "black", font)
    with atomic_file(path) as draft:
        canvas.save(draft, format="PNG")


def _count(cells: Gathered, shown: tuple[int, int], square: int) -> NDArray[np.float64]:
    """Number of cells, and sums of their N/C ratios and confidences, in squares of the picture: (3, h, w)."""
    height, width = cells.store.record.shape
    high, wide = shown
    maps = np.zeros((3, -(-high // square), -(-wide // square)))
    names = cells.columns
    for _, group in cells.groups():
        seeds = group["seeds"].astype(np.int64)
        rows = np.minimum((seeds[:, 0] * high // height) // square, maps.shape[1] - 1)
        columns = np.minimum((seeds[:, 1] * wide // width) // square, maps.shape[2] - 1)
        np.add.at(maps[0], (rows, columns), 1)
        for plane, name in ((1, "nucleus_to_cytoplasm_area_ratio"), (2, "confidence")):
            values = group["table"][:, names.index(name)]
            np.add.at(maps[plane], (rows, columns), np.where(np.isfinite(values), values, 0))
    return maps


def _draw_bar() -> Any:
    """Draw the colours from low to high."""
    from PIL import Image

    values = np.linspace(0, 1, BAR)[None].repeat(9, axis=0)
    return Image.fromarray(_colour(values, 0, 1, np.ones(values.shape, np.bool_)))


def _unit(pixel_size: float | None) -> tuple[str, float]:
    """What density is told by, and how many square pixels that has."""
    return ("million pixels", 1e6) if pixel_size is None else ("square millimetre", 1e6 / pixel_size**2)


def _colour(values: NDArray[np.float64], low: float, high: float, known: NDArray[np.bool_]) -> NDArray[np.uint8]:
    place = np.clip((values - low) / max(high - low, 1e-12), 0, 1) * (len(COLOURS) - 1)
    steps = np.arange(len(COLOURS))
    colours = np.stack([np.interp(place, steps, COLOURS[:, channel]) for channel in range(3)], axis=-1)
    return np.where(known[..., None], colours, 240.0).astype(np.uint8)


def _to_display(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    if pixels.dtype == np.uint8:
        return pixels
    values = pixels.astype(np.float64)
    low, high = np.percentile(values, (0.5, 99.5))
    return np.asarray(np.clip((values - low) / max(high - low, 1e-12), 0, 1) * 255).astype(np.uint8)
