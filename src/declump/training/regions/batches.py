"""Random windows of training images, changed in every way that must not change the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from declump.training.appearance import restain
from declump.training.regions.targets import IGNORED, Example

WINDOW = 192
TURNED = 288
"""A window is cut from a larger one, so that it can be turned and scaled without empty corners."""
ON_NUCLEI = 0.4
"""Share of the windows that lie round a nucleus: nuclei are a fiftieth of a smear."""
ON_OVERLAPS = 0.3
"""Share of the windows that lie round an overlap."""


def draw_batch(groups: Sequence[Sequence[Example]], size: int, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Draw a batch: images (B, 3, W, W), classes (B, W, W), nearness (B, W, W), layers (B, W, W).

    Parameters
    ----------
    groups : sequence of sequences of Example
        The windows of a batch are taken from the groups in turn, and the next batch goes on where it ended, so that
        each counts alike.
    size : int
    seed : int
        The same seed gives the same batch.
    """
    rng = np.random.default_rng(seed)
    drawn = [_cut(groups[(seed * size + index) % len(groups)], rng) for index in range(size)]
    maps = torch.from_numpy(np.stack(drawn))
    grid = _grids(size, rng)
    smooth = functional.grid_sample(maps[:, :4], grid, mode="bilinear", padding_mode="reflection", align_corners=False)
    sharp = functional.grid_sample(maps[:, 4:], grid, mode="nearest", padding_mode="reflection", align_corners=False)
    images = torch.stack([_change_look(image, rng) for image in smooth[:, :3]])
    return images, sharp[:, 0].long(), smooth[:, 3], sharp[:, 1].long()


def _cut(examples: Sequence[Example], rng: np.random.Generator) -> NDArray[np.float32]:
    """One random window (6, T, T) of a random example: channels, nearness, classes, layers."""
    example = examples[int(rng.integers(len(examples)))]
    top, left = _corner(example, rng)
    window = (slice(top, top + TURNED), slice(left, left + TURNED))
    answers: list[NDArray[Any]] = [example.centre_map[window], example.classes[window], example.layers[window]]
    maps = np.concatenate([example.channels[:, *window], np.stack(answers)], dtype=np.float32)
    short = [TURNED - side for side in maps.shape[1:]]
    return np.pad(maps, ((0, 0), (0, short[0]), (0, short[1])), mode="reflect")


def _corner(example: Example, rng: np.random.Generator) -> tuple[int, int]:
    """Corner of a window: anywhere, or round a pixel of what is rare: a nucleus, an overlap."""
    choice = rng.random()
    rare = example.classes == 2 if choice < ON_NUCLEI else (example.layers >= 2) & (example.layers != IGNORED)
    pixels = np.flatnonzero(rare) if choice < ON_NUCLEI + ON_OVERLAPS else np.zeros(0, np.intp)
    room = [max(side - TURNED, 0) for side in example.classes.shape]
    if not pixels.size:
        return int(rng.integers(room[0] + 1)), int(rng.integers(room[1] + 1))
    centre = divmod(int(pixels[rng.integers(pixels.size)]), example.classes.shape[1])
    corner = [int(part - TURNED / 2 + rng.integers(-WINDOW // 4, WINDOW // 4 + 1)) for part in centre]
    return min(max(corner[0], 0), room[0]), min(max(corner[1], 0), room[1])


def _grids(size: int, rng: np.random.Generator) -> Tensor:
    """Sampling grids: any rotation, mirrored or not, scaled by 0.7 to 1.4, slightly sheared."""
    matrices = np.zeros((size, 2, 3), np.float32)
    for matrix in matrices:
        angle, scale = rng.uniform(0, 2 * np.pi), np.exp(rng.uniform(np.log(0.7), np.log(1.4)))
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        stretch = np.array([[rng.choice([-1, 1]) * np.exp(rng.normal(0, 0.05)), rng.normal(0, 0.05)], [0, 1]])
        matrix[:, :2] = turn @ stretch * (scale * WINDOW / TURNED)
        matrix[:, 2] = rng.uniform(-0.1, 0.1, 2)
    return functional.affine_grid(torch.from_numpy(matrices), [size, 1, WINDOW, WINDOW], align_corners=False)


def _change_look(image: Tensor, rng: np.random.Generator) -> Tensor:
    """Another exposure, stain, focus, sensor and file of the same window (3, W, W)."""
    image = restain(image, rng)
    if rng.random() < 0.5:
        image = _blur(image, float(rng.uniform(0.3, 1.8)))
    if rng.random() < 0.15:
        image = image + float(rng.uniform(0.2, 0.8)) * (image - _blur(image, 1.5))
    image = image + torch.from_numpy(rng.normal(0, abs(rng.normal(0, 0.02)), image.shape).astype(np.float32))
    if rng.random() < 0.2:
        image = _compress(image, int(rng.integers(30, 90)))
    return image


def _blur(image: Tensor, sigma: float) -> Tensor:
    reach = max(int(3 * sigma + 0.5), 1)
    weights = torch.exp(-0.5 * (torch.arange(-reach, reach + 1) / sigma) ** 2)
    weights = weights / weights.sum()
    planes = functional.pad(image[:, None], (reach,) * 4, mode="reflect")
    return functional.conv2d(functional.conv2d(planes, weights.view(1, 1, 1, -1)), weights.view(1, 1, -1, 1))[:, 0]


def _compress(image: Tensor, quality: int) -> Tensor:
    """The luminance as it comes back from a JPEG file."""
    import io

    from PIL import Image

    buffer = io.BytesIO()
    grey = (image[0].clamp(0, 1.1) * (255 / 1.1)).round().to(torch.uint8).numpy()
    Image.fromarray(grey).save(buffer, "JPEG", quality=quality)
    read = np.asarray(Image.open(buffer), dtype=np.float32) * np.float32(1.1 / 255)
    return torch.cat([torch.from_numpy(read)[None], image[1:]])
