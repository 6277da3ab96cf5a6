"""Other looks of the same thing."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional


def restain(image: Tensor, rng: np.random.Generator) -> Tensor:
    """Another exposure, stain and light of an image (3, H, W) of luminance and chrominance."""
    density = -torch.log(image[:1].clamp(0.02, 2.0))
    luminance = torch.exp(-density * float(np.exp(rng.normal(0, 0.25))))
    luminance = luminance * float(rng.uniform(0.9, 1.1)) + float(rng.normal(0, 0.02))
    luminance = luminance + _shading(image.shape[1:], rng) * float(abs(rng.normal(0, 0.04)))
    tint = torch.from_numpy(np.exp(rng.normal(0, 0.3, (2, 1, 1))).astype(np.float32))
    chroma = image[1:] * tint * float(rng.random() > 0.3) + float(rng.random() < 0.3) * torch.from_numpy(
        rng.normal(0, 0.04, (2, 1, 1)).astype(np.float32)
    ) * (1 - luminance)
    return torch.cat([luminance, chroma])


def _shading(size: torch.Size, rng: np.random.Generator) -> Tensor:
    """A smooth field (1, H, W) of uneven light."""
    coarse = torch.from_numpy(rng.normal(size=(1, 1, 3, 3)).astype(np.float32))
    return functional.interpolate(coarse, size=tuple(size), mode="bicubic", align_corners=True)[0]
