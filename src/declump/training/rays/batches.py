"""Random cells, seen in every way that must not change the answer, and with the errors that regions really have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from declump.evidence.windows import LEAD_CHANNEL, STEP, View, sample_points, sample_window
from declump.training.appearance import restain
from declump.training.rays.examples import ExampleView, RayExample, true_radii

JITTER = 2.0
"""Standard deviation in pixels by which a seed is moved."""
MISSED, FALSE = 0.06, 0.15
"""Share of the other nuclei that are hidden, and of the windows that show one where there is none."""
FALSE_RADIUS = 5.0
SCALES = (0.85, 1.2)
"""Least and largest change of size."""
STRETCH = 0.12
"""Standard deviation of the logarithm by which things are squeezed."""


@dataclass(frozen=True, eq=False)
class DrawnCell:
    """A cell to learn from, and how it is looked at.

    Attributes
    ----------
    example : RayExample
    view : ExampleView
        One of the example's.
    cell, number : int
        Which cell of the example it is, and the number of its nucleus in the view.
    seed : (2,)
        Row and column it is looked at from.
    pose : View
    hidden : (H,) int
        Numbers of nuclei that are not shown.
    """

    example: RayExample
    view: ExampleView
    cell: int
    number: int
    seed: NDArray[np.float64]
    pose: View
    hidden: NDArray[np.int64]


def draw_batch(groups: Sequence[Sequence[RayExample]], size: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw a batch: windows (B, 9, A, D), true radii in steps (B, A), and which of them count (B, A).

    Parameters
    ----------
    groups : sequence of sequences of RayExample
        The cells of a batch are taken from the groups in turn, so that each counts alike.
    size : int
    seed : int
        The same seed gives the same batch.
    """
    rng = np.random.default_rng(seed)
    seen, radii, counted = [], [], []
    for index in range(size):
        drawn = draw_cell(groups[index % len(groups)], rng)
        seen.append(sample_with_errors(drawn, rng))
        true, known = true_radii(drawn.example, drawn.cell, drawn.seed, drawn.pose)
        radii.append(true)
        counted.append(known)
    windows = torch.from_numpy(np.stack(seen))
    for window in windows:
        change_look(window, rng)
    return windows, torch.from_numpy(np.stack(radii)), torch.from_numpy(np.stack(counted))


def change_look(window: Tensor, rng: np.random.Generator) -> None:
    """Give the image in a window (9, A, D) another stain, exposure and noise."""
    window[:3] = restain(window[:3], rng)
    noise = rng.normal(0, abs(rng.normal(0, 0.02)), window.shape[1:]).astype(np.float32)
    window[0] += torch.from_numpy(noise)


def draw_cell(examples: Sequence[RayExample], rng: np.random.Generator) -> DrawnCell:
    """Draw a cell whose nucleus is there, and a way to look at it."""
    example = examples[int(rng.integers(len(examples)))]
    view = example.views[int(rng.integers(len(example.views)))]
    while not view.cells.size:
        example = examples[int(rng.integers(len(examples)))]
        view = example.views[0]
    which = int(rng.integers(view.cells.size))
    scale, stretch = float(np.exp(rng.uniform(*np.log(SCALES)))), float(np.exp(rng.normal(0, STRETCH)))
    pose = View(STEP * scale, float(rng.uniform(0, 2 * np.pi)), bool(rng.random() < 0.5), stretch=stretch)
    number = int(view.numbers[which])
    seed = view.seeds[number - 1] + rng.normal(0, JITTER, 2)
    hidden = 1 + np.flatnonzero(rng.random(len(view.seeds)) < MISSED)
    return DrawnCell(example, view, int(view.cells[which]), number, seed, pose, hidden)


def sample_with_errors(drawn: DrawnCell, rng: np.random.Generator) -> NDArray[np.float32]:
    """Look at a cell through a window (9, A, D) in which some nuclei are missing, and there may be one too many."""
    others = np.delete(drawn.view.seeds, np.union1d(drawn.hidden, drawn.number) - 1, axis=0)
    if rng.random() >= FALSE:
        return sample_squeezed(drawn, others)
    distance, angle = rng.uniform(15, 80), rng.uniform(0, 2 * np.pi)
    false = drawn.seed + distance * np.array([np.sin(angle), np.cos(angle)])
    seen = sample_squeezed(drawn, np.vstack([others, false]))
    rows, columns = sample_points(drawn.seed, drawn.pose)
    seen[4][np.hypot(rows - false[0], columns - false[1]) < rng.uniform(1, 2) * FALSE_RADIUS] = 1
    return seen


def sample_squeezed(drawn: DrawnCell, others: NDArray[np.float64]) -> NDArray[np.float32]:
    """Look at a cell with other seeds (M, 2), the lead over which is told by the distances that are seen."""
    around, seed, pose = drawn.view.around, drawn.seed, drawn.pose
    seen = sample_window(around, seed, drawn.number, others, pose, drawn.hidden)
    apparent = sample_window(around, seed, drawn.number, pose.unstretch(others, seed), replace(pose, stretch=1.0))
    seen[LEAD_CHANNEL] = apparent[LEAD_CHANNEL]
    return seen
