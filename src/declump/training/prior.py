"""From annotated images to a shape prior."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.datasets import AnnotatedImage
from declump.records.clump import Clump, split_clumps
from declump.shapes.examples import shape_examples
from declump.shapes.prior import ShapePrior, add_turned_copies
from declump.shapes.reach import ReachModel, fit_reach, reach_features


@dataclass(frozen=True, eq=False)
class AnnotatedClump:
    """A clump whose cells are known.

    Attributes
    ----------
    image : str
        Name of its image.
    clump : Clump
    whole : (n,) bool
        Which of its cells no image border cuts; these are examples.
    radii : (number of whole cells, K) float64
        Their outlines in pixels.
    """

    image: str
    clump: Clump
    whole: NDArray[np.bool_]
    radii: NDArray[np.float64]


def collect_clumps(
    images: Iterable[AnnotatedImage], *, rays: int = 360, progress: Callable[[str], None] | None = None
) -> list[list[AnnotatedClump]]:
    """Give the clumps that images are learnt from, one list an image.

    Parameters
    ----------
    images : iterable of AnnotatedImage
    rays : int
        Number of radii K.
    progress : callable, optional
        Called with the name of each image before it is looked at.

    Returns
    -------
    list of lists of AnnotatedClump
        Every clump with a cell in it, cut or not. The whole cells, in this order, are the examples of all learning.

    Raises
    ------
    ValueError
        If no cell is whole.
    """
    found = []
    for image in images:
        if progress:
            progress(image.name)
        examples = shape_examples(image.cells, image.seeds, rays=rays)
        clumps = [clump for clump in split_clumps(image.clump, image.seeds) if clump.cells.size]
        wholes = [~examples.cut[clump.cells] for clump in clumps]
        found.append(
            [
                AnnotatedClump(image.name, clump, whole, examples.radii[clump.cells[whole]])
                for clump, whole in zip(clumps, wholes, strict=True)
            ]
        )
    if not any(len(clump.radii) for clumps in found for clump in clumps):
        raise ValueError("no whole cell to learn from: every cell is cut by an image border, or there is none")
    return found


def learn_prior(
    images: Iterable[AnnotatedImage],
    *,
    rays: int = 360,
    copies: bool = True,
    reach: bool = True,
    modes: int | None = None,
    with_examples: bool = False,
    weights: ArrayLike | None = None,
    in_covariance: bool = False,
    card: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> ShapePrior:
    """Learn shapes, and how far cells reach in their clumps, from images with whole masks.

    Cells that the image border cuts take no part in either.

    Parameters
    ----------
    images : iterable of AnnotatedImage
    rays : int
        Number of radii K.
    copies : bool
        Whether turned and mirrored copies of the shapes are added (24 of each).
    reach : bool
        Whether to learn the reach; without, the prior is the paper's.
    modes : int, optional
        Number of modes t; by default those that hold more than 99.5 % of the variance.
    with_examples : bool
        Whether the prior keeps the shapes it was learnt from, without copies: the finite set of hypotheses of
        the paper's ablation F.
    weights : (N,) float, optional
        How much each whole cell counts, in the order of ``training.prior.collect_clumps``. By default all count
        alike.
    in_covariance : bool
        Whether the weights enter the covariance, too, or the mean only.
    card : mapping, optional
        Notes kept with the prior.
    progress : callable, optional
        Called with the name of each image before it is read.

    Returns
    -------
    ShapePrior
    """
    clumps = [clump for image in collect_clumps(images, rays=rays, progress=progress) for clump in image]
    shapes = np.concatenate([clump.radii for clump in clumps])
    cells = sum(clump.whole.size for clump in clumps)
    notes = {**(card or {}), "cells": cells, "whole cells": len(shapes), "turned and mirrored copies": copies}
    examples = add_turned_copies(shapes) if copies else shapes
    counted = None if weights is None else _check_weights(weights, len(shapes))
    if counted is not None:
        notes.setdefault("importance", "given weights")
        counted = np.tile(counted, len(examples) // len(shapes))
    prior = ShapePrior.fit(examples, weights=counted, in_covariance=in_covariance, modes=modes, card=notes)
    if with_examples:
        prior = replace(prior, examples=shapes)
    return replace(prior, reach=learn_reach(clumps, float(prior.mean.mean()))) if reach else prior


def learn_reach(clumps: Iterable[AnnotatedClump], size: float) -> ReachModel:
    """Learn how far whole cells reach in their clumps.

    Parameters
    ----------
    clumps : iterable of AnnotatedClump
    size : float
        Mean radius of the prior in pixels.
    """
    features, radii = [], []
    for known in clumps:
        if known.whole.any():
            exits = known.clump.first_exits(known.radii.shape[1])
            features.append(reach_features(exits, known.clump.seeds, size)[known.whole])
            radii.append(known.radii)
    return fit_reach(np.concatenate(features), np.concatenate(radii), size)


def _check_weights(weights: ArrayLike, count: int) -> NDArray[np.float64]:
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (count,):
        raise ValueError(f"weights must have one value for each of the {count} whole cells, got {given.size}")
    return given
