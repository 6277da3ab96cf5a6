"""Ray proposals: a network tells how far each whole cell reaches in every direction, and how sure it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from declump.evidence.windows import (
    ANGLES,
    CHANNELS,
    DEPTHS,
    REFERENCE_DIAMETER,
    STEP,
    View,
    prepare_surroundings,
    sample_window,
)
from declump.models import model_path, onnx_session
from declump.records.evidence import Evidence
from declump.records.regions import Regions

TOGETHER = 16
"""Cells that go through the network in one batch, so that memory does not grow with their number."""


def propose_rays(
    image: ArrayLike,
    regions: Regions,
    *,
    model: str | Path = "default",
    diameter: float | None = None,
) -> Evidence:
    """Propose the whole outline of every cell.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
    regions : Regions
        Clump, nuclei and seeds, one a cell.
    model : str or Path
        ``"default"``, or an ONNX file of ``declump train rays``.
    diameter : float, optional
        Usual diameter of a nucleus in pixels; by default that of the training images, unless the nuclei of the
        regions are much smaller or larger.

    Returns
    -------
    Evidence
        With ``radii`` and ``radii_std`` (N, 64) in pixels.
    """
    from declump.regions.find import resolution

    session = onnx_session(model_path(model, "rays.onnx"), "ray model", (CHANNELS, ANGLES, DEPTHS))
    step = STEP * resolution(regions.nuclei, diameter) / REFERENCE_DIAMETER
    around, view = prepare_surroundings(image, regions.clump, regions.nuclei, step), View(step)
    count = len(regions.seeds)
    told = np.empty((count, 2, ANGLES))
    near = (view.step * 2 * DEPTHS) ** 2
    for first in range(0, count, TOGETHER):
        seen = []
        for index in range(first, min(first + TOGETHER, count)):
            squared = np.sum((regions.seeds - regions.seeds[index]) ** 2, axis=1)
            others = regions.seeds[(squared < near) & (squared > 0)]
            seen.append(sample_window(around, regions.seeds[index], index + 1, others, view))
        (told[first : first + len(seen)],) = session.run(None, {"image": np.stack(seen)})
    return Evidence(radii=step * told[:, 0], radii_std=step * told[:, 1])
