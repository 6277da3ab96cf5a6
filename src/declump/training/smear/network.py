"""The smear network: an encoder that saw natural images, a small U-Net decoder, and heads.

The encoder sees the image at half its resolution. What lies at every pixel, clump and nucleus, is told at full
resolution by a few convolutions over blocks of 2 x 2 pixels, which cost no more than one at half resolution; what
changes slowly, centres and layers, at a quarter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from declump.models import ARCHITECTURE_ENTRY, DIAMETER_ENTRY, NUCLEUS_DIAMETER, REACH_ENTRY, SMEAR
from declump.regions.inference import CENTRES, FINE, KINDS, LAYERS
from declump.training.smear.encoder import MOMENTUM, WIDTHS, Encoder

STEP = 4
"""Pixels of the image from one place to the next of what is told at a quarter of the resolution."""
STRIDE = 32
"""The sides of an input are multiples of this."""
REACH = 448
"""From how far, in pixels, the border of an image changes an answer: 414, and where a pixel lies in a block of 32."""
DECODED = (32, 40, 64)
"""Channels of the decoder at 1/4, 1/8 and 1/16 of the resolution of the image."""
DETAIL = 40
"""Channels of the head at full resolution."""
FREE_AXES = {0: "batch", 2: "height", 3: "width"}
TRIED = (1, 3, 3 * STRIDE, 5 * STRIDE)
"""Shape of an input on which an exported network is compared with its original."""
RARE = -4.0
"""Score that centres begin with: nearly everywhere there is none."""


def _convolution(before: int, after: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, after, 3, padding=1, bias=False),
        nn.BatchNorm2d(after, momentum=MOMENTUM),
        nn.ReLU(inplace=True),
    )


def _enlarge(maps: Tensor) -> Tensor:
    return functional.interpolate(maps, scale_factor=2.0, mode="bilinear", align_corners=False)


class _Join(nn.Module):
    """Bring coarse maps to the next resolution and join them with what the encoder saw there."""

    def __init__(self, coarse: int, seen: int, after: int) -> None:
        super().__init__()
        self.narrow = nn.Sequential(
            nn.Conv2d(coarse, after, 1, bias=False), nn.BatchNorm2d(after, momentum=MOMENTUM), nn.ReLU(inplace=True)
        )
        self.join = _convolution(after + seen, after)

    def forward(self, coarse: Tensor, seen: Tensor) -> Tensor:
        joined: Tensor = self.join(torch.cat([_enlarge(self.narrow(coarse)), seen], 1))
        return joined


class SmearNetwork(nn.Module):
    """Scores of clump, nucleus, centres by kind, nearness and layers.

    Input (B, 3, H, W) as :func:`declump.regions.channels.to_channels` gives it, H and W multiples of 32; output
    (B, 13, H, W): scores of clump and nucleus, scores of 6 kinds of centres, 1 nearness, scores of 0, 1, 2, 3 or more
    layers. While it learns the output is (B, 43, H / 4, W / 4): first clump and nucleus of the 16 pixels of a block,
    as ``pixel_unshuffle`` by 2 and 2 lays them out.
    """

    constants: ClassVar[Mapping[str, Any]] = {
        DIAMETER_ENTRY: NUCLEUS_DIAMETER,
        ARCHITECTURE_ENTRY: SMEAR,
        REACH_ENTRY: REACH,
    }
    """What goes into the card of every such model."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()
        quarter, eighth, sixteenth = DECODED
        self.join_sixteenth = _Join(WIDTHS[3], WIDTHS[2], sixteenth)
        self.join_eighth = _Join(sixteenth, WIDTHS[1], eighth)
        self.join_quarter = _Join(eighth, WIDTHS[0], quarter)
        self.centres = nn.Sequential(_convolution(quarter, quarter), nn.Conv2d(quarter, CENTRES + 1 + LAYERS, 1))
        self.look = nn.Sequential(_convolution(12, DETAIL // 2), _convolution(DETAIL // 2, DETAIL // 2))
        self.detail = nn.Sequential(
            _convolution(quarter + DETAIL // 2, DETAIL), _convolution(DETAIL, DETAIL), nn.Conv2d(DETAIL, 4 * FINE, 1)
        )
        last = self.centres[-1]
        assert isinstance(last, nn.Conv2d) and last.bias is not None
        nn.init.constant_(last.bias[:CENTRES], RARE)

    @torch.no_grad()
    def calibrate(self, nucleus: float, abnormal: float, shift: float) -> None:
        """Make the score of nuclei a weighted sum of their score and that of abnormal nuclei, and a shift."""
        last = self.centres[-1]
        assert isinstance(last, nn.Conv2d) and last.bias is not None
        for values in (last.weight, last.bias):
            values[0] = nucleus * values[0] + abnormal * values[len(KINDS)]
        last.bias[0] += shift

    def forward(self, image: Tensor) -> Tensor:
        """Answer for every pixel."""
        luminance = image[:, :1]
        blue, red = luminance + image[:, 1:2], luminance + image[:, 2:]
        # Y = .299 R + .587 G + .114 B
        green = luminance - (0.299 * image[:, 2:] + 0.114 * image[:, 1:2]) / 0.587
        colour = torch.cat([red, green, blue], 1).clamp(0, 1.25) * 0.8
        seen = self.encoder(functional.avg_pool2d(colour, 2))
        maps = self.join_sixteenth(seen[3], seen[2])
        maps = self.join_eighth(maps, seen[1])
        maps = self.join_quarter(maps, seen[0])
        raw = functional.pixel_unshuffle(colour, 2)
        detail = self.detail(torch.cat([_enlarge(maps), self.look((raw - 0.5) * 2)], 1))
        coarse = self.centres(maps)
        if self.training:
            return torch.cat([functional.pixel_unshuffle(detail, STEP // 2), coarse], 1)
        slow = functional.interpolate(coarse, scale_factor=float(STEP), mode="bilinear", align_corners=False)
        return torch.cat([functional.pixel_shuffle(detail, 2), slow], 1)
