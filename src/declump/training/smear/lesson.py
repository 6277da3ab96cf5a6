"""What the smear network is taught."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from declump.regions.inference import CENTRES, FINE
from declump.training.loop import Lesson
from declump.training.smear.batches import draw_batch
from declump.training.smear.frames import UNKNOWN, Frame
from declump.training.smear.network import STEP, SmearNetwork

LAYER_WEIGHTS = (0.7, 1.0, 1.5, 2.5)
CENTRE_WEIGHTS = (1.0, 0.4, 0.4, 0.4, 0.4, 0.3)
"""What nuclei, leukocytes, red cells, other objects, abnormal nuclei and those of high grade count."""
AT_OUTLINE = 3.0
"""How much more pixels at an outline count."""
FEW = 8.0
"""Peaks of a kind that a batch is taken to have at least."""


def lose(answer: Tensor, planes: Tensor, centres: Tensor, weights: Tensor, near: Tensor, layers: Tensor) -> Tensor:
    """The loss of a batch: every head where its truth is known."""
    fine = functional.pixel_shuffle(functional.pixel_shuffle(answer[:, : FINE * STEP**2], 2), 2)
    rest = answer[:, FINE * STEP**2 :]
    known = (planes != UNKNOWN).float()
    true = (planes == 1).float()
    weights_of_pixels = known * (1 + AT_OUTLINE * _outlines(true))
    by_pixel = functional.binary_cross_entropy_with_logits(fine, true, reduction="none") * weights_of_pixels
    total = by_pixel.sum(dim=(0, 2, 3)) / known.sum(dim=(0, 2, 3)).clamp_min(1)
    found = torch.sigmoid(fine) * known
    overlap = 1 - (2 * (found * true).sum(dim=(0, 2, 3)) + 1) / ((found + true).sum(dim=(0, 2, 3)) + 1)
    loss = total[0] + 3 * total[1] + 0.3 * overlap[0] + 0.5 * overlap[1]
    loss = loss + _lose_centres(rest[:, :CENTRES], centres, weights)
    loss = loss + 4 * (((rest[:, CENTRES] - near[:, 0]) ** 2) * near[:, 1]).mean()
    if (layers != UNKNOWN).any():
        loss = loss + 0.4 * functional.cross_entropy(
            rest[:, CENTRES + 1 :], layers.long(), weight=torch.tensor(LAYER_WEIGHTS), ignore_index=UNKNOWN
        )
    return loss


def _outlines(masks: Tensor) -> Tensor:
    """Pixels of masks (B, C, H, W) that lie within two of an outline."""
    wide = functional.max_pool2d(masks, 5, stride=1, padding=2)
    return wide + functional.max_pool2d(-masks, 5, stride=1, padding=2)


def _lose_centres(scores: Tensor, centres: Tensor, weights: Tensor) -> Tensor:
    """Focal loss of heat maps, as CenterNet has it."""
    certain, doubt = functional.logsigmoid(scores), functional.logsigmoid(-scores)
    chance = torch.sigmoid(scores)
    peak = (centres == 1).float()
    right = -((1 - chance) ** 2) * certain * peak
    wrong = -((1 - centres) ** 4) * chance**2 * doubt * (1 - peak)
    each = ((right + wrong) * weights).sum(dim=(0, 2, 3)) / (peak * weights).sum(dim=(0, 2, 3)).clamp_min(FEW)
    return (each * torch.tensor(CENTRE_WEIGHTS[: len(each)])).sum()


def make_lesson(
    encoder: Path | None, validate: Callable[[SmearNetwork, Sequence[Frame]], dict[str, float]]
) -> Lesson[SmearNetwork, Frame]:
    """Lesson of a network whose encoder begins with published weights, if their file is given."""

    def begin() -> SmearNetwork:
        network = SmearNetwork()
        if encoder is not None:
            network.encoder.load(encoder)
        return network

    return Lesson(begin, draw_batch, lose, validate, short_numbers=False)
