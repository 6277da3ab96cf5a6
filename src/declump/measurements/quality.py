"""Whether an image is one that the method can judge: sharp, lit, with cells, not covered by leukocytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import ndimage

from declump.models import NUCLEUS_DIAMETER
from declump.regions.channels import ImageChannels

DARKER = 0.92
"""Only what is darker than this share of the background is looked at: the background itself has no detail."""
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

GOOD = "good"
VERDICTS = {
    "empty": "no cell was found in it",
    "blurred": "it is out of focus, so that outlines and nuclei are uncertain",
    "inflamed": "leukocytes outnumber the cells by far, so that many cells are covered and counts are uncertain",
    "shaded": "a shadow lies on it, and no cells were looked for where it is dark",
    "not a smear": "its cells look like none that declump knows; results are not to be trusted",
}
"""What may be wrong with an image, with a sentence for people."""


def measure_focus(picture: ImageChannels | None, diameter: float) -> float:
    """How much fine detail an image has, relative to twice as coarse detail, where it is dark.

    Parameters
    ----------
    picture : ImageChannels, optional
    diameter : float
        Usual diameter of a nucleus in pixels; NaN stands for that of the training images.

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
    width = (NUCLEUS_DIAMETER if not np.isfinite(diameter) else diameter) / NUCLEUS_DIAMETER
    fine, middle, coarse = (ndimage.gaussian_filter(luminance, width * size) for size in (1, 2, 4))
    spread = float(np.std((middle - coarse)[dark])) if dark.any() else 0.0
    return float(np.std((fine - middle)[dark])) / spread if spread > 0 else float("nan")


def judge_quality(summary: Mapping[str, Any]) -> str:
    """Give the verdict on an image, ``"good"`` or one of ``VERDICTS``, from the figures of the whole image."""
    cells, leukocytes = summary["cells"], summary["leukocytes"]
    if not cells:
        return "empty"
    if summary["focus"] < MIN_FOCUS:
        return "blurred"
    if leukocytes >= ENOUGH and leukocytes > MANY_LEUKOCYTES * (leukocytes + cells):
        return "inflamed"
    if cells >= ENOUGH and summary["mean_confidence"] < MIN_CONFIDENCE:
        return "not a smear"
    if summary["shadow_share"] >= MANY_SHADED:
        return "shaded"
    return GOOD
