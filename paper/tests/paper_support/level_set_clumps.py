"""Clumps whose answer is known, for the tests of the level-set methods."""

from __future__ import annotations

import numpy as np

from declump.regions import Regions

RNG_SEED = 3


def ellipse(shape: tuple[int, int], row: float, column: float, long: float, short: float, turn: float) -> np.ndarray:
    rows, columns = np.indices(shape) - np.array([row, column]).reshape(2, 1, 1)
    along = columns * np.cos(turn) + rows * np.sin(turn)
    across = rows * np.cos(turn) - columns * np.sin(turn)
    return (along / long) ** 2 + (across / short) ** 2 <= 1


def two_discs() -> np.ndarray:
    return np.stack([ellipse((100, 140), 50, 48, 32, 32, 0), ellipse((100, 140), 50, 92, 32, 32, 0)])


def three_ellipses() -> np.ndarray:
    cells = [(58, 62, 42, 32, 0.4), (62, 118, 40, 33, 2.4), (105, 90, 40, 31, 1.3)]
    return np.stack([ellipse((150, 180), *cell) for cell in cells])


def nuclei_of(cells: np.ndarray, radius: float = 4.0) -> np.ndarray:
    """Labels of small discs at the cells' centroids."""
    labels = np.zeros(cells.shape[1:], dtype=np.int32)
    for number, cell in enumerate(cells, start=1):
        row, column = (part.mean() for part in np.nonzero(cell))
        labels[ellipse(labels.shape, row, column, radius, radius, 0)] = number
    return labels


def regions_of(cells: np.ndarray) -> Regions:
    return Regions(cells.any(axis=0), nuclei_of(cells))


def picture_of(cells: np.ndarray) -> np.ndarray:
    """A bright-field picture: every layer and nucleus takes light away, and there is a little noise."""
    light = 230 * 0.8 ** cells.sum(axis=0) * np.where(nuclei_of(cells) > 0, 0.5, 1)
    noise = np.random.default_rng(RNG_SEED).normal(0, 2, light.shape)
    return np.clip(light + noise, 0, 255).astype(np.uint8)


def dices(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    both = np.sum(found & truth, axis=(1, 2))
    return 2 * both / np.maximum(found.sum(axis=(1, 2)) + truth.sum(axis=(1, 2)), 1)
