"""What the judge is taught, and the calibration of its probability."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from torch import Tensor
from torch.nn import functional

from declump.regions.judge import WAYS, SpotView, is_doubtful, turn_window
from declump.training.judge.batches import JudgeViews, draw_batch
from declump.training.judge.network import JudgeNetwork
from declump.training.loop import Lesson

SMOOTHING = 0.03
"""Share of the spots that are taken to be marked wrongly, or not at all."""


def _loss(scores: Tensor, nucleus: Tensor) -> Tensor:
    wanted = nucleus * (1 - 2 * SMOOTHING) + SMOOTHING
    return functional.binary_cross_entropy_with_logits(scores, wanted)


def validate(network: JudgeNetwork, examples: Sequence[JudgeViews]) -> dict[str, float]:
    """F1 of nuclei at the best limit, Brier score, and what calibrates the probability, over all spots of images."""
    scores, nucleus = predict(network, examples)
    if not nucleus.any() or nucleus.all():
        return {}
    slope, shift = calibrate(scores, nucleus)
    probability = expit(slope * scores + shift)
    order = np.argsort(-scores, kind="stable")
    marked = sum(views.example.marked for views in examples)
    f1 = 2 * np.cumsum(nucleus[order]) / (np.arange(1, scores.size + 1) + marked)
    return {
        "f1": float(f1.max()),
        "limit": float(probability[order][f1.argmax()]),
        "brier": float(np.mean((probability - nucleus) ** 2)),
        "slope": slope,
        "shift": shift,
    }


@torch.no_grad()
def predict(network: JudgeNetwork, examples: Sequence[JudgeViews]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Scores (S,) of all spots of images, looked at as the judge will, and whether they are nuclei."""
    scores, nucleus = [np.empty(0)], [np.empty(0, np.bool_)]
    for views in examples:
        places, view = views.example.places, SpotView(views.example.step)
        if len(places):
            seen = [turn_window(views.windows.sample(place, index + 1, view)) for index, place in enumerate(places)]
            scores.append(_score(network, seen))
            doubtful = np.flatnonzero(is_doubtful(expit(scores[-1])))
            if doubtful.size:
                ways = [_score(network, [way.see(seen[index]) for index in doubtful]) for way in WAYS]
                scores[-1][doubtful] = np.mean(ways, axis=0)
            nucleus.append(views.example.nucleus)
    return np.concatenate(scores), np.concatenate(nucleus)


def _score(network: JudgeNetwork, windows: Sequence[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Scores (S,) of windows (9, W, W)."""
    scores: NDArray[np.float64] = network(torch.from_numpy(np.stack(windows))).numpy().astype(np.float64)
    return scores


def calibrate(scores: NDArray[np.float64], nucleus: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and shift with which the logistic function makes probabilities of scores (Platt's scaling)."""

    def surprise(pair: NDArray[np.float64]) -> float:
        signed = np.where(nucleus, 1, -1) * (pair[0] * scores + pair[1])
        return float(np.logaddexp(0, -signed).sum())

    slope, shift = minimize(surprise, np.array([1.0, 0.0]), method="Nelder-Mead").x
    return float(slope), float(shift)


LESSON = Lesson(JudgeNetwork, draw_batch, _loss, validate)
"""All that is particular to the training of a judge."""
