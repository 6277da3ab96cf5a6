"""Random cells, seen in every way that must not change the answer, and with the errors that regions really have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
    drawn = [_draw_cell(groups[index % len(groups)], rng) for index in range(size)]
    windows = torch.from_numpy(np.stack([part[0] for part in drawn]))
    for index in range(size):
        windows[index, :3] = restain(windows[index, :3], rng)
        noise = rng.normal(0, abs(rng.normal(0, 0.02)), windows.shape[2:]).astype(np.float32)
        windows[index, 0] += torch.from_numpy(noise)
    radii, counted = (torch.from_numpy(np.stack([part[which] for part in drawn])) for which in (1, 2))
    return windows, radii, counted


def _draw_cell(
    examples: Sequence[RayExample], rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_]]:
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
    seen = _sample_with_errors(view, number, seed, pose, hidden, rng)
    return seen, *true_radii(example, int(view.cells[which]), seed, pose)


def _sample_with_errors(
    view: ExampleView,
    number: int,
    seed: NDArray[np.float64],
    pose: View,
    hidden: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """A window in which some nuclei are missing, and there may be one too many."""
    others = np.delete(view.seeds, np.union1d(hidden, number) - 1, axis=0)
    if rng.random() >= FALSE:
        return _sample_squeezed(view, number, seed, others, pose, hidden)
    distance, angle = rng.uniform(15, 80), rng.uniform(0, 2 * np.pi)
    false = seed + distance * np.array([np.sin(angle), np.cos(angle)])
    seen = _sample_squeezed(view, number, seed, np.vstack([others, false]), pose, hidden)
    rows, columns = sample_points(seed, pose)
    seen[4][np.hypot(rows - false[0], columns - false[1]) < rng.uniform(1, 2) * FALSE_RADIUS] = 1
    return seen


def _sample_squeezed(
    view: ExampleView,
    number: int,
    seed: NDArray[np.float64],
    others: NDArray[np.float64],
    pose: View,
    hidden: NDArray[np.int64],
) -> NDArray[np.float32]:
    """A window in which the lead over other seeds is told by the distances that are seen."""
    seen = sample_window(view.around, seed, number, others, pose, hidden)
    apparent = sample_window(view.around, seed, number, pose.unstretch(others, seed), replace(pose, stretch=1.0))
    seen[LEAD_CHANNEL] = apparent[LEAD_CHANNEL]
    return seen
