"""The published region network (Song et al.): one small CNN a scale on patches round a pixel, their answers fused.

The patch of 32, 64 and 128 pixels round a pixel is seen as 32 x 32 pixels of a level of a Gaussian pyramid. Of each of
its channels Y, U, V a convolution of 11 x 11 makes 8, 6 and 2 maps; tanh, the largest of 2 x 2 pixels, and a dense
layer give three numbers a scale; a last dense layer makes the scores of the three classes of all scales' numbers.

Here all pixels are answered at once: the largest of 2 x 2 pixels is taken at every pixel, and the dense layer is a
convolution that reads every second one. That gives the same numbers as a patch by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from declump.models import DIAMETER_ENTRY, NUCLEUS_DIAMETER
from declump.training.regions.network import CLASSES
from declump_paper.regions.find import ARCHITECTURE_ENTRY, PUBLISHED

SCALES = 3
"""Levels of the pyramid: full, half and quarter resolution."""
PATCH = 32
"""Side of a patch in pixels of its level."""
FILTER = 11
MAPS = (8, 6, 2)
"""Maps made of Y, U and V."""
POOLED = (PATCH - FILTER + 1) // 2
"""Side of what the dense layer of a patch sees."""
BLUR = (1 / 8, 3 / 8, 3 / 8, 1 / 8)
"""Weights of the pyramid along an axis; an even number, so that a coarse pixel lies in the middle of four fine ones."""
LEVEL, GAIN = (0.8, 0.0, 0.0), 3.0
"""Channels are counted from these levels and in these units, which the filters could do as well, but learn slowly."""
TAUGHT = 2 ** (SCALES - 1)
"""While it learns, the network answers for every so many pixels along either axis: neighbours say little more."""


class PatchBranch(nn.Module):
    """The CNN of one scale: three numbers (B, 3, H / every, W / every) of the patches round pixels of (B, 3, H, W)."""

    def __init__(self) -> None:
        super().__init__()
        self.filters = nn.ModuleList(nn.Conv2d(1, count, FILTER) for count in MAPS)
        self.dense = nn.Conv2d(sum(MAPS), CLASSES, POOLED, dilation=2)

    def forward(self, level: Tensor, every: int = 1) -> Tensor:
        """Answer for every so many pixels; beyond its border the level goes on as there."""
        padded = functional.pad(level, (PATCH // 2, PATCH // 2 - 1) * 2, mode="replicate")
        maps = torch.cat([one(padded[:, index : index + 1]) for index, one in enumerate(self.filters)], 1)
        pooled = functional.max_pool2d(torch.tanh(maps), 2, stride=1)
        dense = self.dense
        return torch.tanh(functional.conv2d(pooled, dense.weight, dense.bias, stride=every, dilation=2))


class PublishedNetwork(nn.Module):
    """Scores of background, cytoplasm and nucleus of every pixel.

    Input (B, 3, H, W) as :func:`declump.regions.channels.to_channels` gives it (which is YUV but for two factors), H
    and W multiples of 4; output (B, 3, H, W), or of every ``TAUGHT``-th pixel while it learns. That each scale's three
    numbers go through tanh is our choice.
    """

    constants: ClassVar[Mapping[str, Any]] = {DIAMETER_ENTRY: NUCLEUS_DIAMETER, ARCHITECTURE_ENTRY: PUBLISHED}
    """What goes into the card of every such model."""

    def __init__(self) -> None:
        super().__init__()
        self.branches = nn.ModuleList(PatchBranch() for _ in range(SCALES))
        self.fuse = nn.Conv2d(SCALES * CLASSES, CLASSES, 1)
        self.register_buffer("level", torch.tensor(LEVEL).view(1, 3, 1, 1))
        kernel = torch.outer(torch.tensor(BLUR), torch.tensor(BLUR))
        self.register_buffer("blur", kernel.expand(3, 1, *kernel.shape).clone())

    def halve(self, level: Tensor) -> Tensor:
        """Give the next level (B, 3, H / 2, W / 2) of the pyramid."""
        assert isinstance(self.blur, Tensor)
        return functional.conv2d(functional.pad(level, (1,) * 4, mode="replicate"), self.blur, stride=2, groups=3)

    def forward(self, image: Tensor) -> Tensor:
        """Answer for every pixel, or for every ``TAUGHT``-th while it learns."""
        assert isinstance(self.level, Tensor)
        level, answers = (image.contiguous() - self.level) * GAIN, []
        for scale, branch in enumerate(self.branches):
            level = self.halve(level) if scale else level
            answer = branch(level, TAUGHT // 2**scale if self.training else 1)
            answers.append(
                functional.interpolate(answer, scale_factor=2.0**scale) if scale and not self.training else answer
            )
        scores: Tensor = self.fuse(torch.cat(answers, 1))
        return scores
