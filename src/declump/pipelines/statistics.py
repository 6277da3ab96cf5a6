"""``find_statistics``: what a segmentation takes from an image as a whole, found once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.evolution.evolve import scale_by_areas
from declump.evolution.settings import Settings
from declump.images.accepting import ImageLike, to_pixels
from declump.pipelines.stages import CellOptions, Stages
from declump.records.segmentation import Segmentation
from declump.records.statistics import Exposure, ImageStatistics
from declump.regions.channels import ImageChannels, find_exposure, split_colour
from declump.regions.find import first_guess, get_regions
from declump.regions.inference import open_region_model
from declump.regions.lattice import Lattice
from declump.regions.options import RegionOptions, to_region_options
from declump.regions.scale import BRIGHT, find_scale
from declump.shapes import contours
from declump.shapes.prior import ShapePrior


def find_statistics(
    image: ImageLike,
    *,
    regions: RegionOptions | str | Path = "default",
    evidence: str | None = None,
    rays: str | Path = "default",
    prior: ShapePrior | str | Path = "default",
    setting: str | Settings = "joint",
    pixel_size: float | None = None,
    diameter: float | None = None,
) -> ImageStatistics:
    """Find what a segmentation takes from an image as a whole: background, polarity, resolution, sizes.

    ``segment(part, statistics=...)`` then segments a part of the image as the whole would be.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
    regions, evidence, rays, prior, setting, pixel_size, diameter
        See :func:`segment`, which is to be called with the same.

    Returns
    -------
    ImageStatistics
        Its diameter is one of those, three in a hundred apart, at which the networks look at parts of an image.
    """
    options = to_region_options(regions, diameter=diameter, pixel_size=pixel_size)
    method = CellOptions.from_names(evidence, rays, prior, setting)
    return gather_statistics([to_pixels(image)], options, method)


def gather_statistics(samples: Sequence[NDArray[Any]], options: RegionOptions, method: CellOptions) -> ImageStatistics:
    """Find the statistics of an image in samples of it, each (h, w[, channels])."""
    exposure = find_exposure(np.concatenate([split_colour(sample)[0].ravel() for sample in samples]))
    diameter = _find_diameter(samples, exposure, options)
    chosen = replace(options.in_pixels(), diameter=diameter, expected_diameter=None)
    results = []
    for sample in samples:
        picture = ImageChannels(sample, exposure)
        results.append(Stages(picture, get_regions(picture, chosen), chosen, method).run(None))
    return _summarise(results, exposure, diameter, method.prior, options.pixel_size)


def _find_diameter(samples: Sequence[NDArray[Any]], exposure: Exposure, options: RegionOptions) -> float:
    """Diameter of a nucleus in pixels, on the lattice: as given, or found in the sample with most in it."""
    model = open_region_model(options.model)
    given = options.in_pixels()
    scale = None if given.diameter is None else model.nucleus_diameter / given.diameter
    if scale is None:
        pictures = (ImageChannels(sample, exposure).channels for sample in samples)
        fullest = max(pictures, key=lambda channels: float(np.mean(channels[0] < BRIGHT)))
        scale, _ = find_scale(fullest, model, first_guess(model.nucleus_diameter, given.expected_diameter))
    return model.nucleus_diameter / Lattice.from_scale(scale).scale


def _summarise(
    results: Sequence[Segmentation], exposure: Exposure, diameter: float, prior: ShapePrior, pixel_size: float | None
) -> ImageStatistics:
    """Sizes of the cells and nuclei of all samples; where there are none, the usual ones."""
    nuclei = np.concatenate([np.bincount(result.nuclei.ravel())[1:] for result in results if result.nuclei is not None])
    cells = np.concatenate([result.areas[result.areas > 0] for result in results])
    sizes = [record.size for result in results for record in result.clumps]
    members = [int(np.count_nonzero(result.clump == i)) for result in results for i in range(len(result.clumps))]
    scale = scale_by_areas(sizes, members, prior)
    disc = math.pi * diameter**2 / 4
    return ImageStatistics(
        exposure.background,
        exposure.turned,
        diameter,
        scale,
        float(nuclei.mean()) if nuclei.size else disc,
        float(np.median(cells)) if cells.size else float(contours.area(prior.mean)) * scale**2,
        pixel_size,
    )
