"""Ray proposals: a network tells how far each whole cell reaches in every direction, and how sure it is."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.evidence.windows import (
    CHANNELS,
    SMOOTHING,
    Surroundings,
    View,
    WindowLayout,
    is_left_handed,
    join_planes,
    mirror_rows,
    sample_window,
    smooth_channels,
)
from declump.images.accepting import ImageLike, to_pixels
from declump.models import Model, model_path, open_model
from declump.records.evidence import Evidence
from declump.records.regions import Regions
from declump.regions.channels import ImageChannels
from declump.regions.find import resolution

Floats = NDArray[np.float32]

SHIPPED = "rays-8bit.onnx"
"""The network that serves by default; ``rays.onnx``, which it was made of, is what trainings begin with."""
SMOOTHED = 2 * SMOOTHING
"""Steps beyond a window that the smoothing of the image brings into it: four of its widths."""


@dataclass(frozen=True, eq=False)
class RayProposer:
    """The ray network before one image.

    What it says of a window is kept: where regions change, only the windows that show the change are run again. A
    window goes through the network alone, so that its answer does not depend on the others.

    Attributes
    ----------
    image : ImageChannels
    model : str or Path
        ``"default"``, or an ONNX file of ``declump train rays``; opened at the first proposal.
    diameter : float, optional
        Usual diameter of a nucleus in pixels; by default that of the regions, or where they have none that of the
        training images, unless their nuclei are much smaller or larger.
    beside : Regions, optional
        What is known of the image beside the regions that proposals are asked for: other clumps and their nuclei are
        shown, and get no proposals.
    """

    image: ImageChannels
    model: str | Path = "default"
    diameter: float | None = None
    beside: Regions | None = None
    _answers: dict[bytes, Floats] = field(default_factory=dict, init=False, repr=False)
    _smooth: dict[float, Floats] = field(default_factory=dict, init=False, repr=False)
    _last: list[tuple[Regions, Evidence]] = field(default_factory=list, init=False, repr=False)

    def propose(self, regions: Regions, cells: ArrayLike | None = None) -> Evidence:
        """Propose the whole outline of every cell of regions of the image, or of some; see :func:`propose_rays`."""
        if cells is not None:
            return self._propose(regions, cells)
        if not self._last or self._last[0][0] is not regions:
            self._last[:] = [(regions, self._propose(regions))]
        return self._last[0][1]

    def _propose(self, regions: Regions, cells: ArrayLike | None = None) -> Evidence:
        model, view = self._open(regions)
        chosen = np.arange(len(regions.seeds)) if cells is None else np.asarray(cells, dtype=np.int64)
        output = np.empty((len(chosen), 2, view.angles))
        for row, window in enumerate(self._sample(regions, chosen, view)):
            output[row] = self._answer(model, window)
        return Evidence(radii=view.step * output[:, 0], radii_std=view.step * output[:, 1])

    def window(self, regions: Regions, cell: int) -> Floats:
        """Give what the network sees of one cell of regions of the image: (9, A, D), as the windows are laid out."""
        _, view = self._open(regions)
        return next(self._sample(regions, np.array([cell]), view))

    def _open(self, regions: Regions) -> tuple[Model, View]:
        model, layout = open_ray_model(self.model)
        return model, layout.view(self._find_diameter(regions, layout))

    def _sample(self, regions: Regions, cells: NDArray[np.int64], view: View) -> Iterator[Floats]:
        around = self._surroundings(regions, view.step)
        seeds = regions.seeds if self.beside is None else np.vstack([regions.seeds, self.beside.seeds])
        for index in cells.tolist():
            others = _near_seeds(seeds, index, view)
            yield sample_window(around, regions.seeds[index], index + 1, others, view)

    def find_diameter(self, regions: Regions) -> float:
        """Tell at which diameter of a nucleus, in pixels, the network looks at regions."""
        return self._find_diameter(regions, open_ray_model(self.model)[1])

    def _find_diameter(self, regions: Regions, layout: WindowLayout) -> float:
        known = regions.diameter if self.diameter is None else self.diameter
        return resolution(regions.nuclei, layout.nucleus_diameter) if known is None else known

    def _surroundings(self, regions: Regions, step: float) -> Surroundings:
        if step not in self._smooth:
            self._smooth[step] = smooth_channels(self.image.channels, step)
        clump, nuclei = regions.clump, regions.nuclei
        if self.beside is not None:
            later = np.where(self.beside.nuclei > 0, self.beside.nuclei + len(regions.seeds), 0)
            clump, nuclei = clump | self.beside.clump, np.where(nuclei > 0, nuclei, later)
        return Surroundings(join_planes(self._smooth[step], clump), nuclei)

    def _answer(self, model: Model, window: Floats) -> Floats:
        """What the network says (2, A) of a window, in steps; of a mirrored one the same, mirrored."""
        if is_left_handed(window):
            return mirror_rows(self._answer_seen(model, mirror_rows(window)))
        return self._answer_seen(model, window)

    def _answer_seen(self, model: Model, window: Floats) -> Floats:
        key = hashlib.sha256(window.data).digest()
        if key not in self._answers:
            self._answers[key] = model.run(window)
        return self._answers[key]


def open_ray_model(model: str | Path) -> tuple[Model, WindowLayout]:
    """Open ``"default"``, the ray network that ships with declump, or an ONNX file of ``declump train rays``."""
    opened = open_model(model_path(model, SHIPPED), "ray model")
    layout = WindowLayout.from_card(opened.card)
    opened.check_input(CHANNELS, layout.angles, layout.depths)
    return opened, layout


def find_reach(model: str | Path, diameter: float) -> int:
    """Tell how many pixels round a seed the ray network sees, where nuclei have a diameter in pixels."""
    view = open_ray_model(model)[1].view(diameter)
    return math.ceil(view.step * (view.depths + SMOOTHED)) + 1


def propose_rays(
    image: ImageLike,
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
    model, diameter
        See :class:`RayProposer`.

    Returns
    -------
    Evidence
        With ``radii`` and ``radii_std`` (N, 64) in pixels.
    """
    return RayProposer(ImageChannels(to_pixels(image)), model, diameter).propose(regions)


def _near_seeds(seeds: NDArray[np.float64], index: int, view: View) -> NDArray[np.float64]:
    """Other seeds (M, 2) so near to one that a point of its window can be nearer to them."""
    squared = np.sum((seeds - seeds[index]) ** 2, axis=1)
    return np.asarray(seeds[(squared < (view.step * 2 * view.depths) ** 2) & (squared > 0)])
