"""How the smear network lays out its answer, and how it is read.

For every block of 4 x 4 pixels there is one place in the answer: first the scores of clump and nucleus of each of the
16 pixels, then what is told once a block: centres by kind, nearness to a centre, and layers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

STEP = 4
"""Pixels of the image from one place of the answer to the next."""
COARSEST = 32
"""Sides of what the network sees are multiples of this."""
FINE = 2
"""Scores of every pixel: clump, nucleus."""
KINDS = ("nucleus", "leukocyte", "red cell", "other")
"""What lies at a centre."""
GRADES = ("abnormal", "high grade")
"""What the nucleus at a centre looks like."""
CENTRES = len(KINDS) + len(GRADES)
LAYERS = 4
CHANNELS = FINE * STEP**2 + CENTRES + 1 + LAYERS


@dataclass(frozen=True, eq=False)
class Answer:
    """What the smear network says of an image (H, W).

    Attributes
    ----------
    clump, nucleus : (H, W) float32
        Probabilities of any cell, and of the nucleus of a cell.
    centres : (6, H / 4, W / 4) float32
        Probability that the centre of a nucleus, leukocyte, red cell or other object lies in a block; and that of an
        abnormal nucleus, and of one of high grade.
    nearness : (H / 4, W / 4) float32
        1 at the centre of a nucleus, falling to 0 at one and a half of its radii.
    layers : (4, H / 4, W / 4) float32
        Probabilities of 0, 1, 2, 3 or more cells.
    """

    clump: Floats
    nucleus: Floats
    centres: Floats
    nearness: Floats
    layers: Floats


def read_answer(output: Floats) -> Answer:
    """Read the output (C, h, w) of the network."""
    fine, rest = output[: FINE * STEP**2], output[FINE * STEP**2 :]
    height, width = output.shape[1:]
    # Blocks of 2 x 2 in blocks of 2 x 2: of a pixel's place, the coarse part comes last.
    blocks = fine.reshape(FINE, 2, 2, 2, 2, height, width)
    planes = sigmoid(np.ascontiguousarray(blocks.transpose(0, 5, 3, 1, 6, 4, 2)).reshape(FINE, STEP * height, -1))
    centres, nearness, layers = np.split(rest, [CENTRES, CENTRES + 1])
    return Answer(planes[0], planes[1], sigmoid(centres), np.clip(nearness[0], 0, 1), softmax(layers))


def sigmoid(scores: Floats) -> Floats:
    """Turn scores into probabilities."""
    return np.asarray(1 / (1 + np.exp(-np.clip(scores, -30, 30))), np.float32)


def softmax(scores: Floats) -> Floats:
    """Turn scores (C, H, W) into probabilities."""
    raised = np.exp(scores - scores.max(axis=0))
    return np.asarray(raised / raised.sum(axis=0), np.float32)
