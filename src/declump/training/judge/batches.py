"""Random spots, seen in every way that must not change the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage
from torch import Tensor

from declump.regions.judge import SpotView, SpotWindows
from declump.training.judge.examples import JudgeExample

JITTER = 1.5
"""Standard deviation in pixels, as the judge sees them, by which a spot is moved."""
UNSEEN_MAPS = 0.5
"""Share of the windows without the maps of nuclei: the image must tell, too, for the maps know the training images."""
LUMINANCES = [0, 5]
NUCLEUS_MAPS = [2, 3, 7]


@dataclass(frozen=True, eq=False)
class JudgeViews:
    """An example with its windows, ready to draw from."""

    example: JudgeExample
    windows: SpotWindows


def draw_batch(groups: Sequence[Sequence[JudgeViews]], size: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw a batch: windows (B, 9, 64, 64), and whether each shows a nucleus (B,).

    Parameters
    ----------
    groups : sequence of sequences of JudgeViews
        A group counts by the root of its number of spots, so that a large one does not drown a small one.
    size : int
    seed : int
        The same seed gives the same batch.
    """
    rng = np.random.default_rng(seed)
    counts = [np.array([len(views.example.nucleus) for views in group], float) for group in groups]
    weights = np.sqrt([count.sum() for count in counts])
    windows, answers = [], []
    for which in rng.choice(len(groups), size, p=weights / weights.sum()):
        chosen = int(rng.choice(len(counts[which]), p=counts[which] / counts[which].sum()))
        views = groups[which][chosen]
        spot = int(rng.integers(len(views.example.nucleus)))
        windows.append(_change_look(_draw_window(views, spot, rng), rng))
        answers.append(views.example.nucleus[spot])
    return torch.from_numpy(np.stack(windows)), torch.from_numpy(np.array(answers, np.float32))


def _draw_window(views: JudgeViews, spot: int, rng: np.random.Generator) -> NDArray[np.float32]:
    scale = float(np.exp(rng.uniform(np.log(0.8), np.log(1.25))))
    view = SpotView(views.example.step * scale, float(rng.uniform(0, 2 * np.pi)), bool(rng.random() < 0.5))
    return views.windows.sample(
        views.example.places[spot] + rng.normal(0, JITTER * views.example.step, 2), spot + 1, view
    )


def _change_look(window: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """Another exposure, stain and focus of a window, and other doubts of the region network."""
    density = -np.log(np.clip(window[LUMINANCES], 0.02, 2)) * np.exp(rng.normal(0, 0.25))
    luminance = np.exp(-density) * rng.uniform(0.92, 1.08) + rng.normal(0, 0.02)
    if rng.random() < 0.3:
        luminance[0] = ndimage.gaussian_filter(luminance[0], rng.uniform(0.3, 1.3))
    luminance += rng.normal(0, abs(rng.normal(0, 0.02)), luminance.shape)
    window[LUMINANCES] = luminance
    if rng.random() < UNSEEN_MAPS:
        window[NUCLEUS_MAPS] = 0
    else:
        window[NUCLEUS_MAPS] **= np.float32(np.exp(rng.normal(0, 0.35)))
    return window
