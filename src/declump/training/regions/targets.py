"""What the network is to answer: maps made from annotated images."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump.datasets import AnnotatedImage
from declump.regions.channels import to_channels
from declump.simulate import Smear
from declump.training.smears import simulate_smears

REACH = 1.5
"""The nearness to a nucleus centre falls from 1 to 0 over this many radii of the nucleus."""

IGNORED = 255
"""Class of pixels of which the answer is not known."""
BORDER = 12
"""Annotators leave out nuclei that the image border cuts: so near to it, what is not annotated is not known."""


@dataclass(frozen=True)
class Example:
    """One training image with its answers.

    Attributes
    ----------
    channels : (3, H, W) float32
    classes : (H, W) uint8
        0 background, 1 cytoplasm, 2 nucleus, ``IGNORED``.
    nearness : (H, W) float32
        1 at the centre of a nucleus, falling to 0.
    layers : (H, W) uint8
        Number of cells at a pixel, at most 3, or ``IGNORED``.
    """

    channels: NDArray[np.float32]
    classes: NDArray[np.uint8]
    centre_map: NDArray[np.float32]
    layers: NDArray[np.uint8]


def make_example(annotated: AnnotatedImage | Smear) -> Example:
    """Make the answers for one annotated image or simulated smear."""
    nuclei = annotated.nuclei
    layers = np.minimum(annotated.cells.sum(axis=0), 3).astype(np.uint8)
    classes = np.where(nuclei.any(axis=0), 2, np.minimum(layers, 1)).astype(np.uint8)
    if isinstance(annotated, AnnotatedImage):
        inner = np.zeros(classes.shape, np.bool_)
        inner[BORDER:-BORDER, BORDER:-BORDER] = True
        classes[~inner & (classes != 2)] = IGNORED
        if annotated.unknown is not None:
            classes[annotated.unknown], layers[annotated.unknown] = IGNORED, IGNORED
    return Example(to_channels(annotated.image), classes, centre_map(nuclei), layers)


def centre_map(nuclei: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Nearness (H, W) to the nearest nucleus centre, in units of that nucleus' size, from masks (N, H, W)."""
    _, height, width = nuclei.shape
    result = np.zeros((height, width), np.float32)
    rows, columns = np.arange(height)[:, None], np.arange(width)[None]
    for nucleus in nuclei:
        where = np.nonzero(nucleus)
        if not where[0].size:
            continue
        reach = REACH * np.sqrt(where[0].size / np.pi)
        top, left = (max(int(part.mean() - reach), 0) for part in where)
        window = (slice(top, int(where[0].mean() + reach) + 2), slice(left, int(where[1].mean() + reach) + 2))
        distance = np.hypot(rows[window[0]] - where[0].mean(), columns[:, window[1]] - where[1].mean())
        np.maximum(result[window], 1 - distance / reach, out=result[window])
    return result


def simulate_examples(count: int, seed: int) -> list[Example]:
    """Make examples from simulated smears."""
    return [make_example(made) for made in simulate_smears(count, seed)]
