"""The region network: three parallel branches at three resolutions of the same place, fused into one answer a pixel."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from declump.models import DIAMETER_ENTRY, NUCLEUS_DIAMETER

CLASSES = 3
LAYERS = 4
COARSEST = 16
"""The sides of an input are multiples of this."""
FREE_AXES = {0: "batch", 2: "height", 3: "width"}
TRIED = (1, 3, 3 * COARSEST, 5 * COARSEST)
"""Shape of an input on which an exported network is compared with its original."""


def _convolution(before: int, after: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after, momentum=0.02), nn.ReLU(inplace=True)
    )


def _stack(*widths: int) -> nn.Sequential:
    return nn.Sequential(*(_convolution(before, after) for before, after in pairwise(widths)))


def _enlarge(maps: Tensor, factor: float) -> Tensor:
    return functional.interpolate(maps, scale_factor=factor, mode="bilinear", align_corners=False)


class _CoarseBranch(nn.Module):
    """The branch with the widest view: it looks at a quarter, an eighth and a sixteenth of the resolution."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = _stack(3, width, width)
        self.second = _stack(width, 2 * width, 2 * width)
        self.third = _stack(2 * width, 3 * width, 3 * width, 2 * width)
        self.join_second = _stack(4 * width, 2 * width, width)
        self.join_first = _stack(2 * width, width, width)

    def forward(self, image: Tensor) -> Tensor:
        first = self.first(image)
        second = self.second(functional.avg_pool2d(first, 2))
        third = self.third(functional.avg_pool2d(second, 2))
        second = self.join_second(torch.cat([second, _enlarge(third, 2)], 1))
        joined: Tensor = self.join_first(torch.cat([first, _enlarge(second, 2)], 1))
        return joined


class RegionNetwork(nn.Module):
    """Per pixel: class scores, nearness to a nucleus centre, and scores of the number of cell layers.

    Input (B, 3, H, W) as :func:`declump.regions.channels.to_channels` gives it, H and W multiples of 16; output
    (B, 8, H, W): 3 scores of background, cytoplasm and nucleus, 1 nearness, 4 scores of 0, 1, 2, 3 or more layers.
    """

    constants: ClassVar[Mapping[str, float]] = {DIAMETER_ENTRY: NUCLEUS_DIAMETER}
    """What goes into the card of every such model."""

    def __init__(self, fine: int = 16, middle: int = 32, coarse: int = 48) -> None:
        super().__init__()
        self.fine = _stack(3, fine, fine)
        self.middle = _stack(3, middle, middle)
        self.coarse = _CoarseBranch(coarse)
        self.fuse_middle = _stack(middle + coarse, middle, middle)
        self.fuse_fine = _stack(fine + middle, fine)
        self.answer = nn.Conv2d(fine, CLASSES + 1 + LAYERS, 1)

    def forward(self, image: Tensor) -> Tensor:
        """Answer for every pixel."""
        half = functional.avg_pool2d(image, 2)
        quarter = functional.avg_pool2d(half, 2)
        middle = self.fuse_middle(torch.cat([self.middle(half), _enlarge(self.coarse(quarter), 2)], 1))
        fine = self.fuse_fine(torch.cat([self.fine(image), _enlarge(middle, 2)], 1))
        answer: Tensor = self.answer(fine)
        return answer
