"""From a mask of touching or overlapping things to whole things, with nothing else known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.evolution.evolve import evolve
from declump.evolution.settings import SETTINGS
from declump.images.accepting import ImageLike
from declump.pipelines.seeds import find_seeds
from declump.records.clump import check_mask, seed_pixels
from declump.records.segmentation import Segmentation
from declump.shapes.prior import ShapePrior

SETTING = replace(SETTINGS["joint"], penalty=0.001, scale_penalty=1.0, start_scales=1.0)
"""Things may differ in size more than cells do, and more of their outlines is seen: sizes start from what fits in at
each seed, and neither size nor shape is held as fast. Settled on simulated clumps of ellipses, polygons and rods."""
MIN_SHOWN = 0.1
"""A found object of which less than this share lies outside all others is none: nothing in the mask shows it."""


def split(
    mask: ArrayLike,
    image: ImageLike | None = None,
    *,
    seeds: ArrayLike | None = None,
    model: str | Path | None = None,
    prior: ShapePrior | str | Path = "round",
    diameter: float | None = None,
    scale: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Segmentation:
    """Find every object, whole, of a mask of touching or overlapping ones.

    Parameters
    ----------
    mask : (H, W) bool
        Where there is any object; also 0 and 1, or 0 and 255.
    image : (H, W), (H, W, 3) or (H, W, 4), optional
        The picture, for a model.
    seeds : (N, 2) float, optional
        Row and column of one point in each object. By default they are found (:func:`declump.find_seeds`), and the
        objects evolved once more from their centroids.
    prior : ShapePrior, str or Path
        What shapes to expect; see :meth:`declump.ShapePrior.load`.
    model, diameter
        Network that finds seeds in the image, and the usual diameter in pixels of what it finds: see
        :func:`declump.find_seeds`.
    scale, progress
        See :func:`declump.evolve`.

    Returns
    -------
    Segmentation

    Examples
    --------
    >>> import numpy as np, declump
    >>> rows, columns = np.mgrid[:120, :170]
    >>> two = (np.hypot(rows - 60, columns - 60) < 40) | (np.hypot(rows - 60, columns - 105) < 40)
    >>> result = declump.split(two)
    >>> len(result), bool(np.hypot(*(result.seeds - [(60, 60), (60, 105)]).T).max() < 3)
    (2, True)
    """
    mask = check_mask(mask)
    prior = prior if isinstance(prior, ShapePrior) else ShapePrior.load(prior)
    if seeds is not None:
        if image is not None or model is not None or diameter is not None:
            raise ValueError("seeds are given or found: an image, a model and a diameter are of no use to given ones")
        return evolve(mask, seeds, prior=prior, setting=SETTING, scale=scale, progress=progress)
    found = find_seeds(mask, image, model=model, diameter=diameter)
    first = evolve(mask, found, prior=prior, setting=SETTING, scale=scale)
    return evolve(
        mask, find_centroids(_drop_hidden(first), mask), prior=prior, setting=SETTING, scale=scale, progress=progress
    )


def _drop_hidden(segmentation: Segmentation) -> Segmentation:
    """Leave out, one after the other, objects of which next to nothing shows beside the others."""
    layers = np.zeros(segmentation.shape, dtype=np.int32)
    pixels = []
    for crop in segmentation.crops:
        rows, columns = np.nonzero(crop.mask)
        pixels.append((rows + crop.top, columns + crop.left))
        layers[pixels[-1]] += 1
    kept = np.ones(len(pixels), dtype=np.bool_)
    for index in np.argsort([len(rows) for rows, _ in pixels], kind="stable"):
        own = pixels[index]
        if own[0].size and np.mean(layers[own] == 1) < MIN_SHOWN:
            layers[own] -= 1
            kept[index] = False
    return replace(
        segmentation,
        seeds=segmentation.seeds[kept],
        radii=segmentation.radii[kept],
        clump=segmentation.clump[kept],
    )


def find_centroids(segmentation: Segmentation, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Centroids (N, 2) of the outlines; the seed of one whose centroid lies outside the mask, or on another's pixel."""
    ends = segmentation.polygons
    nexts = np.roll(ends, -1, axis=1)
    sectors = ends[..., 0] * nexts[..., 1] - ends[..., 1] * nexts[..., 0]
    centroids = np.sum((ends + nexts) * sectors[..., None], axis=1) / (3 * sectors.sum(axis=1))[:, None]
    within = ((centroids > -0.5) & (centroids < np.array(mask.shape) - 0.5)).all(axis=1)
    taken, result = {tuple(pixel) for pixel in seed_pixels(segmentation.seeds, mask.shape).tolist()}, []
    for seed, centroid, inside in zip(segmentation.seeds, centroids, within, strict=True):
        pixel = tuple(np.floor(centroid + 0.5).astype(int).tolist())
        free = inside and mask[pixel] and pixel not in taken
        taken.add(pixel)
        result.append(centroid if free else seed)
    return np.array(result).reshape(-1, 2)
