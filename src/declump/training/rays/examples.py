"""What the ray network learns from: cells seen from their seeds, with true regions and with those really found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump.datasets import AnnotatedImage
from declump.evidence.windows import DEPTHS, STEP, Surroundings, View, prepare_surroundings
from declump.records.regions import Regions, seeds_from_labels
from declump.simulate import Smear
from declump.training.smears import simulate_smears

FINER = 4
"""True outlines are looked for in steps this many times finer than a window's."""
SHARED = 0.4
"""A nucleus was found if this share of it is."""


@dataclass(frozen=True, eq=False)
class ExampleView:
    """One image with one kind of regions.

    Attributes
    ----------
    around : Surroundings
    seeds : (M, 2)
        All seeds, in the order of the nuclei's numbers.
    cells : (n,)
        Which cells can be looked at: those whose nucleus is there.
    numbers : (n,)
        Numbers of their nuclei.
    """

    around: Surroundings
    seeds: NDArray[np.float64]
    cells: NDArray[np.int64]
    numbers: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RayExample:
    """One annotated image.

    Attributes
    ----------
    views : sequence of ExampleView
        With true regions first, then with found ones.
    masks : sequence of (h, w) bool
        Whole cells, each in the box that holds it.
    corners : (N, 2)
        Where the boxes begin.
    shape : (H, W)
    """

    views: Sequence[ExampleView]
    masks: Sequence[NDArray[np.bool_]]
    corners: NDArray[np.int64]
    shape: tuple[int, int]


def make_example(annotated: AnnotatedImage | Smear, found: Sequence[Regions] = ()) -> RayExample:
    """Make an example from an annotated image, and regions found in it."""
    if isinstance(annotated, Smear):
        numbers = np.arange(1, len(annotated.cells) + 1)[:, None, None]
        labels = np.max(annotated.nuclei * numbers, axis=0, initial=0).astype(np.int32)
    else:
        labels = annotated.nucleus_labels
    boxes = [_box(mask) for mask in annotated.cells]
    return RayExample(
        [_true_view(annotated, labels), *(_found_view(annotated, labels, regions) for regions in found)],
        [mask[box] for mask, box in zip(annotated.cells, boxes, strict=True)],
        np.array([[part.start for part in box] for box in boxes], dtype=np.int64).reshape(-1, 2),
        (labels.shape[0], labels.shape[1]),
    )


def simulate_examples(count: int, seed: int, find: Callable[[NDArray[np.uint8]], Regions]) -> list[RayExample]:
    """Make examples from simulated smears, with true regions and with those that are found."""
    return [make_example(made, [find(made.image)]) for made in simulate_smears(count, seed)]


def _true_view(annotated: AnnotatedImage | Smear, labels: NDArray[np.int32]) -> ExampleView:
    visible = np.flatnonzero(np.bincount(labels.ravel(), minlength=len(annotated.cells) + 1)[1:])
    around = prepare_surroundings(annotated.image, annotated.clump, labels, STEP)
    return ExampleView(around, annotated.seeds, visible, visible + 1)


def _found_view(annotated: AnnotatedImage | Smear, labels: NDArray[np.int32], regions: Regions) -> ExampleView:
    size = (len(annotated.cells) + 1, int(regions.nuclei.max()) + 1)
    shared = np.bincount((labels.astype(np.int64) * size[1] + regions.nuclei).ravel(), minlength=size[0] * size[1])
    shared = shared.reshape(size)
    areas = np.maximum(shared.sum(axis=1), 1)
    shared[0], shared[:, 0] = 0, 0
    best = shared.argmax(axis=0)
    pairs = [
        (int(cell) - 1, number)
        for number, cell in enumerate(best)
        if number and shared[cell, number] > SHARED * areas[cell] and shared[cell].argmax() == number
    ]
    cells, numbers = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    around = prepare_surroundings(annotated.image, regions.clump, regions.nuclei, STEP)
    return ExampleView(around, seeds_from_labels(regions.nuclei), cells, numbers)


def true_radii(
    example: RayExample, cell: int, seed: NDArray[np.float64], view: View
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Distance (A,) in steps at which each row of a window leaves the cell for the last time, and whether that counts.

    It does not where the image ends there, for the outline is then not known.
    """
    towards = view.directions()
    distances = (np.arange(FINER * DEPTHS) + 0.5) * view.step / FINER
    rows = np.rint(seed[0] + np.outer(towards[0], distances)).astype(np.int64)
    columns = np.rint(seed[1] + np.outer(towards[1], distances)).astype(np.int64)
    mask, corner = example.masks[cell], example.corners[cell]
    inner_rows, inner_columns = rows - corner[0], columns - corner[1]
    height, width = mask.shape
    within = (inner_rows >= 0) & (inner_rows < height) & (inner_columns >= 0) & (inner_columns < width)
    covered = within & mask[np.clip(inner_rows, 0, height - 1), np.clip(inner_columns, 0, width - 1)]
    count = distances.size - covered[:, ::-1].argmax(axis=1)
    count[~covered.any(axis=1)] = 0
    after = np.minimum(count + FINER, distances.size - 1)[:, None]
    next_row, next_column = np.take_along_axis(rows, after, 1)[:, 0], np.take_along_axis(columns, after, 1)[:, 0]
    known = (next_row >= 0) & (next_row < example.shape[0]) & (next_column >= 0) & (next_column < example.shape[1])
    return (count / FINER).astype(np.float32), known


def _box(mask: NDArray[np.bool_]) -> tuple[slice, slice]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not rows.size:
        return slice(0, 1), slice(0, 1)
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)
