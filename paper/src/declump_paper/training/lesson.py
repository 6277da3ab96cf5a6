"""What the published region network is taught."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from declump.training.loop import Lesson
from declump.training.regions.batches import draw_batch
from declump.training.regions.lesson import validate
from declump.training.regions.targets import IGNORED
from declump_paper.training.network import TAUGHT, PublishedNetwork

WEIGHTS = (1.0, 1.0, 8.0)
"""Of the classes: nothing else draws the network to nuclei, and its authors taught it on chosen pixels."""
UNSEEN = 32
"""So near to the border of a window, in pixels, the network is not taught: its widest patch lies half outside there."""


def _loss(answer: Tensor, classes: Tensor, _centre_map: Tensor, _layers: Tensor) -> Tensor:
    """Cross-entropy of the classes alone, at the pixels that the network answers for."""
    width = UNSEEN // TAUGHT
    inner = (..., slice(width, -width), slice(width, -width))
    known = classes[..., ::TAUGHT, ::TAUGHT][inner]
    return functional.cross_entropy(answer[inner], known, weight=torch.tensor(WEIGHTS), ignore_index=IGNORED)


LESSON = Lesson(PublishedNetwork, draw_batch, _loss, validate)
"""All that is particular to the training of the published region network."""
