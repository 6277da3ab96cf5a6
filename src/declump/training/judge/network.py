"""The network of the judge: two small stacks of convolutions, near and far, joined to one score."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from declump.models import DIAMETER_ENTRY, NUCLEUS_DIAMETER
from declump.regions.judge import CHANNELS, WINDOW

NEAR_CHANNELS = 5
FREE_AXES = {0: "batch"}
TRIED = (2, CHANNELS, WINDOW, WINDOW)
"""Shape of an input on which an exported network is compared with its original."""


def _convolution(before: int, after: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, after, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(after, momentum=0.02),
        nn.ReLU(inplace=True),
    )


def _stack(*widths: int) -> nn.Sequential:
    return nn.Sequential(*(_convolution(before, after) for before, after in pairwise(widths)))


class _Branch(nn.Module):
    """From 64 by 64 pixels to an eighth of that."""

    def __init__(self, channels: int, first: int, second: int, third: int) -> None:
        super().__init__()
        self.first = nn.Sequential(_convolution(channels, first, stride=2), _convolution(first, first))
        self.second, self.third = _stack(first, second, second), _stack(second, third)

    def forward(self, maps: Tensor) -> Tensor:
        second = self.second(functional.max_pool2d(self.first(maps), 2))
        third: Tensor = self.third(functional.max_pool2d(second, 2))
        return third


class JudgeNetwork(nn.Module):
    """Scores (B,) of spots being nuclei of cells, from windows (B, 9, 64, 64)."""

    def __init__(self) -> None:
        super().__init__()
        self.near = _Branch(NEAR_CHANNELS, 16, 28, 40)
        self.far = _Branch(CHANNELS - NEAR_CHANNELS, 12, 20, 28)
        self.join = _stack(68, 48)
        self.hidden = nn.Linear(3 * 48, 32)
        self.answer = nn.Linear(32, 1)
        self.drop = nn.Dropout(0.2)

    def forward(self, windows: Tensor) -> Tensor:
        """Score every window."""
        near, far = self.near(windows[:, :NEAR_CHANNELS]), self.far(windows[:, NEAR_CHANNELS:])
        maps = self.join(torch.cat([near, far], 1))
        middle = maps[:, :, 3:5, 3:5].mean(dim=(2, 3))
        seen = torch.cat([middle, maps.mean(dim=(2, 3)), maps.amax(dim=(2, 3))], 1)
        scores: Tensor = self.answer(self.drop(functional.relu(self.hidden(seen))))[:, 0]
        return scores


class Judge(nn.Module):
    """What is exported: calibrated probabilities (B, 1), the logistic function of ``slope * score + shift``."""

    constants: ClassVar[Mapping[str, float]] = {DIAMETER_ENTRY: NUCLEUS_DIAMETER}
    """What goes into the card of every such model."""

    def __init__(self, network: JudgeNetwork, slope: float = 1.0, shift: float = 0.0) -> None:
        super().__init__()
        self.network, self.slope, self.shift = network, slope, shift

    def forward(self, windows: Tensor) -> Tensor:
        """Give probabilities."""
        return torch.sigmoid(self.slope * self.network(windows) + self.shift)[:, None]
