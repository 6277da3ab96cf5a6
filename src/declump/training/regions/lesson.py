"""What the region network is taught."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from declump.training.loop import Lesson
from declump.training.regions.batches import draw_batch
from declump.training.regions.network import CLASSES, COARSEST, RegionNetwork
from declump.training.regions.targets import IGNORED, Example

CLASS_WEIGHTS = (1.0, 1.0, 3.0)
LAYER_WEIGHTS = (0.7, 1.0, 1.5, 2.5)


@torch.no_grad()
def validate(network: nn.Module, examples: Sequence[Example]) -> dict[str, float]:
    """Dice of cytoplasm with nuclei, Dice of nuclei, and IoU of each number of layers, over all pixels of images.

    A network that says nothing of layers has no figures of them.
    """
    if not examples:
        return {}
    shared, sizes = np.zeros(6), np.zeros(6)
    unions = np.zeros(4)
    for example in examples:
        image = torch.from_numpy(example.channels)[None]
        height, width = image.shape[2:]
        padding = (0, -width % COARSEST, 0, -height % COARSEST)
        answer = network(functional.pad(image, padding, mode="replicate"))[0, :, :height, :width].numpy()
        classes = answer[:CLASSES].argmax(0)
        known = example.classes != IGNORED
        pairs = [((classes > 0) & known, (example.classes > 0) & known)]
        pairs += [((classes == 2) & known, example.classes == 2)]
        if len(answer) > CLASSES:
            layers = answer[CLASSES + 1 :].argmax(0)
            pairs += [(layers == count, example.layers == count) for count in range(4)]
        for index, (found, true) in enumerate(pairs):
            shared[index] += np.sum(found & true)
            sizes[index] += found.sum() + true.sum()
            if index >= 2:
                unions[index - 2] += np.sum(found | true)
    dice = 2 * shared / np.maximum(sizes, 1)
    figures = {"cytoplasm_dice": float(dice[0]), "nucleus_dice": float(dice[1])}
    if not unions.any():
        return figures
    return figures | {f"layer{count}_iou": float(shared[2 + count] / max(unions[count], 1)) for count in range(4)}


def _loss(answer: Tensor, classes: Tensor, centre_map: Tensor, layers: Tensor) -> Tensor:
    known = classes != IGNORED
    weights = torch.tensor(CLASS_WEIGHTS)
    by_class = functional.cross_entropy(answer[:, :3], classes, weight=weights, ignore_index=IGNORED)
    by_layer = functional.cross_entropy(answer[:, 4:], layers, weight=torch.tensor(LAYER_WEIGHTS), ignore_index=IGNORED)
    near = (((answer[:, 3] - centre_map) ** 2) * known).mean()
    found, true = torch.softmax(answer[:, :3], 1)[:, 2] * known, (classes == 2).float()
    overlap = 1 - (2 * (found * true).sum() + 1) / (found.sum() + true.sum() + 1)
    return by_class + 0.5 * by_layer + 10 * near + 0.5 * overlap


LESSON = Lesson(RegionNetwork, draw_batch, _loss, validate)
"""All that is particular to the training of the region network."""
