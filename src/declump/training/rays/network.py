"""The ray network: from a polar window to a distribution of the outline's distance in every direction."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from declump.evidence.windows import ANGLES, CHANNELS, DEPTHS, WindowLayout

WIDTHS = (16, 40, 64, 96, 96)
FREE_AXES = {0: "batch"}
TRIED = (2, CHANNELS, ANGLES, DEPTHS)
"""Shape of an input on which an exported network is compared with its original."""


class _Convolution(nn.Module):
    """A convolution that goes round: the last direction is beside the first."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.weights = nn.Conv2d(before, after, 3, padding=(0, 1), bias=False)
        self.scale = nn.BatchNorm2d(after, momentum=0.02)

    def forward(self, maps: Tensor) -> Tensor:
        around = torch.cat([maps[:, :, -1:], maps, maps[:, :, :1]], 2)
        return functional.relu(self.scale(self.weights(around)))


def _stack(*widths: int) -> nn.Sequential:
    return nn.Sequential(*(_Convolution(before, after) for before, after in pairwise(widths)))


class RayNetwork(nn.Module):
    """Scores (B, A, D) of the outline lying at each distance in each direction, from windows (B, 9, A, D)."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList(_stack(before, after, after) for before, after in pairwise((CHANNELS, *WIDTHS)))
        self.up = nn.ModuleList(_stack(deep + shallow, shallow, shallow) for shallow, deep in pairwise(WIDTHS))
        self.answer = nn.Conv2d(WIDTHS[0], 1, 1)

    def forward(self, windows: Tensor) -> Tensor:
        """Score every distance."""
        scores: Tensor = self.answer(self.features(windows))[:, 0]
        return scores

    def features(self, windows: Tensor) -> Tensor:
        """Maps (B, F, A, D) that the scores are taken from."""
        maps, seen = windows, []
        for index, stack in enumerate(self.down):
            maps = stack(functional.avg_pool2d(maps, 2) if index else maps)
            seen.append(maps)
        for stack, shallow in zip(reversed(list(self.up)), reversed(seen[:-1]), strict=True):
            larger = functional.interpolate(maps, scale_factor=2, mode="nearest")
            maps = stack(torch.cat([larger, shallow], 1))
        return maps


def moments(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation (B, A), in steps, of the distances that scores (B, A, D) speak of."""
    likely = torch.softmax(scores, 2)
    distances = torch.arange(DEPTHS, dtype=torch.float32) + 0.5
    mean = (likely * distances).sum(2)
    variance = (likely * (distances - mean[:, :, None]) ** 2).sum(2) + 1 / 12
    return mean, torch.sqrt(variance)


class Proposer(nn.Module):
    """What is exported: radii and their calibrated doubt (B, 2, A) in steps, ``factor * deviation ** power``."""

    constants: ClassVar[Mapping[str, float]] = WindowLayout().to_card()
    """What goes into the card of every such model."""

    def __init__(self, network: RayNetwork, factor: float = 1.0, power: float = 1.0) -> None:
        super().__init__()
        self.network, self.factor, self.power = network, factor, power

    def forward(self, windows: Tensor) -> Tensor:
        """Propose."""
        mean, deviation = moments(self.network(windows))
        return torch.stack([mean, self.factor * deviation**self.power], 1)
