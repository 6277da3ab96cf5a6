"""What the ray network is taught, and the calibration of its standard deviation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from declump.evidence.windows import ANGLES, DEPTHS, STEP, View, sample_window
from declump.training.loop import Lesson
from declump.training.rays.batches import draw_batch
from declump.training.rays.examples import RayExample, true_radii
from declump.training.rays.network import RayNetwork, moments

BLUR = 0.8
"""Width in steps of the distribution that a true radius stands for."""
GROUPS = 20
"""Groups of like standard deviation that the calibration is drawn through."""
MIN_ERROR = 0.05
"""Errors below this many steps are those of the drawing."""
MEAN_WEIGHT = 0.05
"""Weight of the error of the mean, in steps, beside the cross-entropy."""


def loss(scores: Tensor, radii: Tensor, counted: Tensor) -> Tensor:
    """Cross-entropy of scores (B, A, D) with true radii (B, A) in steps, where they count, and error of the mean."""
    distances = torch.arange(DEPTHS, dtype=torch.float32) + 0.5
    wanted = torch.softmax(-0.5 * ((distances - radii[:, :, None].clamp(0.5, DEPTHS - 0.5)) / BLUR) ** 2, 2)
    surprise = -(wanted * torch.log_softmax(scores, 2)).sum(2)
    error = functional.smooth_l1_loss(moments(scores)[0], radii, reduction="none")
    return ((surprise + MEAN_WEIGHT * error) * counted).sum() / counted.sum().clamp(min=1)


def validate(network: RayNetwork, examples: Sequence[RayExample]) -> dict[str, float]:
    """Mean Dice of the proposed outlines, mean error of a ray in pixels, and what calibrates the standard deviation."""
    found, std, true, counted = predict(network, examples)
    if not counted.any():
        return {}
    shared = np.sum(np.where(counted, np.minimum(found, true) ** 2, 0), axis=1)
    sizes = np.sum(np.where(counted, found**2 + true**2, 0), axis=1)
    error = np.abs(found - true)[counted]
    factor, power = calibrate(error, std[counted])
    return {
        "dice": float(np.mean(2 * shared / np.maximum(sizes, 1))),
        "error_px": STEP * float(error.mean()),
        "doubt_factor": factor,
        "doubt_power": power,
    }


@torch.no_grad()
def predict(
    network: RayNetwork, examples: Sequence[RayExample]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_]]:
    """Radii found, their standard deviations, true radii, all in steps, and which count, (N, A), with true regions."""
    found, stds, true, counted = [], [], [], []
    pose = View(STEP)
    for example in examples:
        view = example.views[0]
        for cell, number in zip(view.cells, view.numbers, strict=True):
            seed = view.seeds[number - 1]
            seen = sample_window(view.around, seed, number, np.delete(view.seeds, number - 1, axis=0), pose)
            mean, std = moments(network(torch.from_numpy(seen)[None]))
            found.append(mean[0].numpy())
            stds.append(std[0].numpy())
            radii, known = true_radii(example, cell, seed, pose)
            true.append(radii)
            counted.append(known)
    arrays = [np.array(part, np.float32).reshape(len(found), ANGLES) for part in (found, stds, true)]
    return arrays[0], arrays[1], arrays[2], np.array(counted, np.bool_).reshape(len(found), ANGLES)


def calibrate(errors: NDArray[np.float32], stds: NDArray[np.float32]) -> tuple[float, float]:
    """Factor and power that make of a standard deviation one within which, as with a Gaussian, 68 % of the rays lie.

    A straight line on logarithmic scales through that share of the errors in groups of like deviation: a network is
    rarely wrong by the same factor where it is sure and where it is not.
    """
    order = np.argsort(stds, kind="stable")
    groups = np.array_split(order, min(GROUPS, len(order)))
    at = np.array([np.log(stds[group]).mean() for group in groups])
    within = np.log(np.maximum([np.percentile(errors[group], 68.27) for group in groups], MIN_ERROR))
    power, intercept = np.polyfit(at, within, 1) if np.ptp(at) > 0 else (0.0, within[0])
    return float(np.exp(intercept)), float(power)


LESSON = Lesson(RayNetwork, draw_batch, loss, validate)
"""All that is particular to the training of a ray network."""
