"""Shape templates of MCL: a few shapes that stand for a prior, and the one most similar to an outline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from declump.shapes.contours import resample
from declump.shapes.prior import ShapePrior

Floats = NDArray[np.float64]

COUNT, CELLS = 42, 320
"""Published: 42 templates, by hierarchical clustering of 320 cells. Here the cells are drawn from the prior."""
RAYS = 72
"""Rays of a template; turns are tried in steps of one ray."""
BOUND = 3.0
"""Shapes are drawn within this many standard deviations."""
BEYOND = 0.03
"""What a template costs that reaches farther than an open-ended outline, in units of one that reaches less far."""
REFITS = 4


def make_templates(prior: ShapePrior, count: int = COUNT, cells: int = CELLS) -> Floats:
    """Draw shapes from a prior and choose some that stand for all.

    Shapes are turned so that their long axes agree, and scaled to a mean radius of 1. Clusters are joined by Ward's
    rule; of each the shape that is nearest to its mean is the template.

    Parameters
    ----------
    prior : ShapePrior
    count : int
        Number of templates; at most ``cells``.
    cells : int
        Number of shapes drawn, always the same for the same prior.

    Returns
    -------
    (count, 72) float64
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    draws = np.clip(np.random.default_rng(0).normal(size=(cells, prior.variances.size)), -BOUND, BOUND)
    shapes = np.maximum(prior.instance(draws * np.sqrt(prior.variances)), 0.1 * prior.mean)
    shapes = resample(shapes, RAYS)
    shapes /= shapes.mean(axis=1, keepdims=True)
    # The phase of two waves round the circle is twice the direction of the long axis.
    turns = np.rint(-np.angle(np.fft.rfft(shapes, axis=1)[:, 2]) / 2 * RAYS / (2 * np.pi)).astype(int)
    shapes = np.stack([np.roll(shape, -turn) for shape, turn in zip(shapes, turns, strict=True)])
    clusters = fcluster(linkage(shapes, "ward"), count, "maxclust")
    chosen = []
    for cluster in np.unique(clusters):
        members = shapes[clusters == cluster]
        chosen.append(members[np.sum((members - members.mean(axis=0)) ** 2, axis=1).argmin()])
    return np.stack(chosen)


def fit_template(shapes: Floats, outline: Floats, open_ended: NDArray[np.bool_]) -> Floats:
    """The template most similar to an outline, over turns, mirror images and mean radii.

    Parameters
    ----------
    shapes : (T, K) float64
        Templates with a mean radius of 1.
    outline : (K,) float64
        Radii in pixels.
    open_ended : (K,) bool
        Rays on which the cell may reach farther than the outline does.

    Returns
    -------
    (K,) float64
        Radii in pixels.
    """
    rays = outline.size
    mirrored = np.roll(shapes[:, ::-1], 1, axis=1)
    turned = (np.arange(rays) - np.arange(rays)[:, None]) % rays
    copies = np.concatenate([shapes, mirrored])[:, turned].reshape(-1, rays)
    weights = np.ones_like(copies)
    sizes = np.zeros(len(copies))
    for _ in range(REFITS if open_ended.any() else 1):
        sizes = np.sum(weights * copies * outline, axis=1) / np.sum(weights * copies**2, axis=1)
        weights = np.where(open_ended & (sizes[:, None] * copies > outline), BEYOND, 1.0)
    misfits = np.sum(weights * (sizes[:, None] * copies - outline) ** 2, axis=1)
    best = int(misfits.argmin())
    return np.asarray(sizes[best] * copies[best])
