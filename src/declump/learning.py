"""From annotated images to a shape prior."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from declump.clumps import split_clumps
from declump.contours import first_exits, shape_examples
from declump.datasets import AnnotatedImage
from declump.prior import ShapePrior, turned_and_mirrored
from declump.reach import fit_reach, surroundings


def learn_prior(
    images: Iterable[AnnotatedImage],
    *,
    rays: int = 360,
    copies: bool = True,
    reach: bool = True,
    modes: int | None = None,
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
    card : mapping, optional
        Notes kept with the prior.
    progress : callable, optional
        Called with the name of each image before it is read.

    Returns
    -------
    ShapePrior
    """
    radii, exits, seeds = [], [], []
    cells = 0
    for image in images:
        if progress:
            progress(image.name)
        cells += len(image.cells)
        examples = shape_examples(image.cells, image.seeds, rays=rays)
        for clump in split_clumps(image.clump, image.seeds):
            own = clump.cells[~examples.cut[clump.cells]]
            if not own.size:
                continue
            radii.append(examples.radii[own])
            exits.append(np.stack([first_exits(clump.mask, seed, rays) for seed in clump.seeds]))
            seeds.append((clump.seeds, ~examples.cut[clump.cells]))
    if not radii:
        raise ValueError("no whole cell to learn from: every cell is cut by an image border, or there is none")
    shapes = np.concatenate(radii)
    notes = {**(card or {}), "cells": cells, "whole cells": len(shapes), "turned and mirrored copies": copies}
    prior = ShapePrior.fit(turned_and_mirrored(shapes) if copies else shapes, modes=modes, card=notes)
    if not reach:
        return prior
    size = float(prior.mean.mean())
    features = [surroundings(exit, seed, size)[whole] for exit, (seed, whole) in zip(exits, seeds, strict=True)]
    return replace(prior, reach=fit_reach(np.concatenate(features), shapes, size))
