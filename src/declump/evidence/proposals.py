"""Ray proposals: a network tells how far each whole cell reaches in every direction, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
Key = Hashable
"""What an answer follows from, within one clump mask: the nucleus asked for, and those near it."""

SHIPPED = "rays-8bit.onnx"
"""The network that serves by default; ``rays.onnx``, which it was made of, is what trainings begin with."""
SMOOTHED = 2 * SMOOTHING
"""Steps beyond a window that the smoothing of the image brings into it: four of its widths."""


@dataclass(frozen=True, eq=False)
class RayProposer:
    """The ray network before one image, or before a box of one.

    Attributes
    ----------
    channels : (3, H, W) float32
        See :func:`declump.regions.channels.to_channels`.
    clump : (H, W) bool
        Where there is any cell.
    diameter : float
        Usual diameter of a nucleus in pixels.
    model : str or Path
        ``"default"``, or an ONNX file of ``declump train rays``; opened at the first proposal.
    answers : dict
        What the network said, by keys that the caller gives. Whoever keeps it gives it again for the same channels and
        clump only.
    """

    channels: Floats
    clump: NDArray[np.bool_]
    diameter: float
    model: str | Path = "default"
    answers: dict[Key, Floats] = field(default_factory=dict)

    @cached_property
    def _network(self) -> tuple[Model, View]:
        model, layout = open_ray_model(self.model)
        return model, layout.view(self.diameter)

    @cached_property
    def _planes(self) -> Floats:
        return join_planes(smooth_channels(self.channels, self._network[1].step), self.clump)

    def propose(
        self,
        labels: NDArray[np.int32],
        seeds: NDArray[np.float64],
        asked: Sequence[int],
        names: Sequence[Key] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Propose whole outlines.

        Parameters
        ----------
        labels : (H, W) int32
            Number of the nucleus, from 1, at each of its pixels.
        seeds : (N, 2)
            Of all nuclei, in the order of their numbers.
        asked : sequence of int
            Rows of the nuclei that an outline is proposed for.
        names : sequence of N keys, optional
            Tell nuclei apart: an answer is kept by that of its nucleus and those of the nuclei near it. By default
            nothing is kept.

        Returns
        -------
        radii, std : (len(asked), 64)
            In pixels.
        """
        model, view = self._network
        output = np.empty((len(asked), 2, view.angles))
        for row, index in enumerate(asked):
            squared = np.sum((seeds - seeds[index]) ** 2, axis=1)
            # A point of the window can be nearer to these; the nuclei of others do not reach into it.
            near = np.flatnonzero((squared < (view.step * 2 * view.depths) ** 2) & (squared > 0))
            key = None if names is None else (names[index], frozenset(names[other] for other in near.tolist()))
            if key is None or key not in self.answers:
                around = Surroundings(self._planes, labels)
                answer = _ask(model, sample_window(around, seeds[index], index + 1, seeds[near], view))
                if key is None:
                    output[row] = answer
                    continue
                self.answers[key] = answer
            output[row] = self.answers[key]
        return view.step * output[:, 0], view.step * output[:, 1]

    def window(self, labels: NDArray[np.int32], seeds: NDArray[np.float64], index: int) -> Floats:
        """Give what the network sees of one nucleus: (9, A, D), as the windows are laid out."""
        _, view = self._network
        others = np.delete(seeds, index, axis=0)
        return sample_window(Surroundings(self._planes, labels), seeds[index], index + 1, others, view)


def _ask(model: Model, window: Floats) -> Floats:
    """What the network says (2, A) of a window, in steps; of a mirrored one the same, mirrored.

    A window goes through the network alone, so that its answer does not depend on the others.
    """
    if is_left_handed(window):
        return mirror_rows(model.run(mirror_rows(window)))
    answer: Floats = model.run(window)
    return answer


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


def find_ray_diameter(regions: Regions, model: str | Path = "default", diameter: float | None = None) -> float:
    """Diameter of a nucleus in pixels by which the network looks at given regions.

    As given; else that of the regions, or where they have none that of the training images, unless their nuclei are
    much smaller or larger.
    """
    if diameter is not None or regions.diameter is not None:
        return float(diameter or regions.diameter or 0)
    return resolution(regions.nuclei, open_ray_model(model)[1].nucleus_diameter)


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
    model : str or Path
        ``"default"``, or an ONNX file of ``declump train rays``.
    diameter : float, optional
        See :func:`find_ray_diameter`.

    Returns
    -------
    Evidence
        With ``radii`` and ``radii_std`` (N, 64) in pixels.
    """
    channels = ImageChannels(to_pixels(image)).channels
    proposer = RayProposer(channels, regions.clump, find_ray_diameter(regions, model, diameter), model)
    return Evidence(*proposer.propose(regions.nuclei, regions.seeds, range(len(regions.seeds))))
