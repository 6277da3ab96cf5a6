"""Whether an image is a smear that can be segmented: lit, sharp, with cells, neither too thick nor too bloody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.models import NUCLEUS_DIAMETER
from declump.regions.channels import LUMINANCE, ImageChannels
from declump.regions.resizing import resize_channels

DARKER = 0.92
"""Only what is darker than this share of the background is foreground: the background itself has no detail."""
MIN_FOCUS = 0.46
"""Sharp frames of ISBI, Cervix93 and colour smears have 0.66 or more; blurred by a tenth of a nucleus 0.42 to 0.55."""
MANY_LEUKOCYTES = 0.8
"""Share of leukocytes among leukocytes and cells from which an image counts as inflamed."""
ENOUGH = 10
"""With fewer leukocytes than this an image is not inflamed; with fewer cells, nothing is said of their mean."""
MIN_CONFIDENCE = 0.38
"""An image whose cells have less mean confidence than this is none of a smear, or beyond the method."""
MANY_SHADED = 0.05
"""Share of an image in a shadow from which that is told."""
# The limits below were chosen on the training and choosing parts of CRIC: `python benchmarks/verdicts.py`.
MANY_RED_CELLS = 0.06
"""Share of an image covered by red cells from which it is too bloody."""
MOSTLY_RED_CELLS, SOME_RED_CELLS = 0.18, 0.02
"""It also is if red cells are this share of the foreground, and cover this share of the image."""
MUCH_THICK, SOME_THICK = 0.45, 0.05
"""Share of the cell sheets, and of the image, that is too thick to see through in an image that is too thick."""
MANY_STROKES = 0.7
"""Share of dark structures that are thin lines from which an image shows text; smears have up to 0.55."""
ALL_MAGENTA, LITTLE_BACKGROUND, FINE_TEXTURE = 0.96, 0.35, 0.5
"""Tissue in H&E: pink to violet is this share of the foreground, empty less than this share of the image, and of its
dark structures more than this share is thin."""
BLACK = 0.03
"""An image whose background is below this share of the range of its integers is black: 12 bits in 16 reach 0.06."""

GOOD = "good"
VERDICTS = {
    "empty": "no cell was found in it",
    "out of focus": "it is out of focus, so that outlines and nuclei are uncertain",
    "too thick": "much of it is too thick to see through, so that cells in the dark parts are missing or guessed",
    "too bloody": "red cells cover much of it, so that cells are hidden and some outlines may be of red cells",
    "inflamed": "leukocytes outnumber the cells by far, so that many cells are covered and counts are uncertain",
    "shaded": "a shadow lies on it, and no cells were looked for where it is dark",
    "not a smear": "it does not look like a smear (tissue, text, a black frame, ...); results are not to be trusted",
}
"""What may be wrong with an image, with a sentence for people."""


def measure_focus(picture: ImageChannels | None, diameter: float) -> float:
    """How much fine detail an image has, relative to twice as coarse detail, where it is dark.

    Parameters
    ----------
    picture : ImageChannels, optional
    diameter : float
        Usual diameter of a nucleus in pixels; NaN, or what is too small to be one, stands for that of the training
        images.

    Returns
    -------
    float
        Standard deviation of what lies between Gaussians of 1 and 2 pixels over that between 2 and 4, where nuclei are
        22 pixels wide; NaN without an image, or where nothing is dark.
    """
    if picture is None:
        return float("nan")
    luminance = picture.channels[0]
    dark = luminance < DARKER
    width = (diameter if diameter >= NUCLEUS_DIAMETER / 4 else NUCLEUS_DIAMETER) / NUCLEUS_DIAMETER
    fine, middle, coarse = (ndimage.gaussian_filter(luminance, width * size) for size in (1, 2, 4))
    spread = float(np.std((middle - coarse)[dark])) if dark.any() else 0.0
    return float(np.std((fine - middle)[dark])) / spread if spread > 0 else float("nan")


@dataclass(frozen=True)
class Appearance:
    """Shares that tell what an image shows, before any cell is looked for.

    A network that names red cells can give ``red_cells`` instead of the colours; :func:`judge_quality` stays the same.

    Attributes
    ----------
    black : bool
        Whether the image is black.
    foreground : float
        Share of the image that is darker than the background.
    red_cells : float
        Share of the image in red cells: orange pieces as large as nuclei.
    thick : float
        Share of sheets (foreground wider than three nuclei) that is so dark that nothing is seen through it.
    sheets : float
        Share of the image in sheets.
    strokes : float
        Share of what is darker than its surroundings that is thinner than half a nucleus; 0 if hardly anything is.
    magenta : float
        Share of the foreground that is pink to violet.
    """

    black: bool = False
    foreground: float = 0.0
    red_cells: float = 0.0
    thick: float = 0.0
    sheets: float = 0.0
    strokes: float = 0.0
    magenta: float = 0.0


def measure_appearance(picture: ImageChannels | None, diameter: float) -> Appearance | None:
    """Measure what an image shows.

    Parameters
    ----------
    picture : ImageChannels, optional
    diameter : float
        Usual diameter of a nucleus in pixels; NaN, or what is too small to be one, stands for that of the training
        images.

    Returns
    -------
    Appearance, optional
        None without an image.
    """
    if picture is None:
        return None
    usual = diameter if diameter >= NUCLEUS_DIAMETER / 4 else NUCLEUS_DIAMETER
    scale = min(_NUCLEUS / usual, 1.0)
    unit = usual * scale / _NUCLEUS
    luminance, blueness, redness = resize_channels(picture.channels, scale)
    red, blue = luminance + redness, luminance + blueness
    green = (luminance - LUMINANCE[0] * red - LUMINANCE[2] * blue) / LUMINANCE[1]
    dense_red, dense_green, dense_blue = (-np.log(np.maximum(colour, 1e-3)) for colour in (red, green, blue))
    foreground = luminance < DARKER

    orange = (dense_blue > 0.35) & (dense_red < 0.35 * dense_blue) & (dense_green < 0.9 * dense_blue)
    # Nuclei and leukocytes do not cut an orange cell into pieces as small as red cells.
    wide = _opened(orange | (luminance < 0.45), 5.5 * unit)
    red_cells = _opened(orange, 2.2 * unit) & ~wide

    sheets = _opened(foreground, 6 * unit)
    thick = sheets & (ndimage.gaussian_filter(luminance, 8 * unit) < 0.45)

    local = ndimage.grey_closing(luminance, size=2 * round(6 * unit) + 1) - luminance > 0.2
    strokes = local & ~_opened(local, 1.5 * unit)

    strongest, weakest = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
    hue = np.degrees(np.arctan2(np.sqrt(3) * (green - blue), 2 * red - green - blue)) % 360
    magenta = foreground & (strongest - weakest > 0.08) & (hue > 255)
    return Appearance(
        black=_is_black(picture.pixels),
        foreground=float(foreground.mean()),
        red_cells=float(red_cells.mean()),
        thick=float(thick.sum() / max(int(sheets.sum()), 1)),
        sheets=float(sheets.mean()),
        strokes=float(strokes.sum() / local.sum()) if local.mean() > 0.01 else 0.0,
        magenta=float(magenta.sum() / max(int(foreground.sum()), 1)),
    )


_NUCLEUS = 8.0
"""Diameter of a nucleus in pixels at the resolution at which shares are measured."""


def _opened(mask: NDArray[np.bool_], radius: float) -> NDArray[np.bool_]:
    """What of a mask a disc fits into; the border of the image cuts nothing."""
    inner = ndimage.distance_transform_edt(np.pad(mask, 1, mode="edge"))[1:-1, 1:-1] > radius
    return np.asarray(ndimage.distance_transform_edt(~inner) <= radius) if inner.any() else inner


def _is_black(pixels: NDArray[Any]) -> bool:
    """Whether the brightest part of an image of integers is nearly 0."""
    if pixels.dtype.kind not in "iu":
        return False
    grey = pixels if pixels.ndim == 2 else pixels[..., :3].mean(axis=2)
    return bool(np.percentile(grey, 99.5) < BLACK * np.iinfo(pixels.dtype).max)


def judge_quality(summary: Mapping[str, Any], seen: Appearance | None = None) -> str:
    """Give the verdict on an image.

    Parameters
    ----------
    summary : mapping of str to number
        Columns of the image: see docs/measurements.md.
    seen : Appearance, optional
        See :func:`measure_appearance`; None leaves out what follows from it.

    Returns
    -------
    str
        ``"good"``, or the first of ``VERDICTS`` that holds, by what spoils most.
    """
    seen = Appearance() if seen is None else seen
    cells, leukocytes = summary["cells"], summary["leukocytes"]
    dense = 1 - seen.foreground < LITTLE_BACKGROUND and seen.strokes > FINE_TEXTURE
    mostly_red = seen.red_cells > max(MOSTLY_RED_CELLS * seen.foreground, SOME_RED_CELLS)
    if seen.black or seen.strokes > MANY_STROKES or (dense and seen.magenta > ALL_MAGENTA):
        return "not a smear"
    if seen.red_cells > MANY_RED_CELLS or mostly_red:
        return "too bloody"
    if not cells:
        return "empty"
    if summary["focus"] < MIN_FOCUS:
        return "out of focus"
    if seen.thick > MUCH_THICK and seen.thick * seen.sheets > SOME_THICK:
        return "too thick"
    if leukocytes >= ENOUGH and leukocytes > MANY_LEUKOCYTES * (leukocytes + cells):
        return "inflamed"
    if cells >= ENOUGH and summary["mean_confidence"] < MIN_CONFIDENCE:
        return "not a smear"
    if summary["shadow_share"] >= MANY_SHADED:
        return "shaded"
    return GOOD
