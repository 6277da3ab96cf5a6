"""``segment()``: from an image in memory to its whole cells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from declump.evidence.proposals import find_ray_diameter
from declump.evolution.settings import Settings
from declump.images.accepting import ImageLike, to_pixels
from declump.pipelines.by_clump import ImageDivision
from declump.pipelines.cutting import Limits
from declump.pipelines.solve import CellSolver
from declump.records.evidence import Evidence
from declump.records.regions import Regions
from declump.records.segmentation import Segmentation
from declump.records.statistics import ImageStatistics
from declump.regions.channels import ImageChannels, measure_exposure, to_channels
from declump.regions.find import FoundRegions, find_in_image, get_regions
from declump.regions.looking import look_at_image
from declump.regions.options import RegionOptions, to_region_options
from declump.shapes.prior import ShapePrior

EVERY = Limits()
"""Above which clumps are cut."""


def segment(
    image: ImageLike,
    *,
    regions: Regions | RegionOptions | str | Path = "default",
    evidence: Evidence | str | None = None,
    rays: str | Path = "default",
    prior: ShapePrior | str | Path = "default",
    setting: str | Settings = "joint",
    pixel_size: float | None = None,
    diameter: float | None = None,
    judge: str | Path | None = None,
    min_nucleus: float | None = None,
    statistics: ImageStatistics | None = None,
    progress: Callable[[int, int], None] | None = None,
    stage: Callable[[str], None] | None = None,
) -> Segmentation:
    """Find every cell of an image, whole.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4), or the path of a file
        Bright-field image: uint8, uint16, bool or float; arrays of dask, zarr and xarray count, too.
    regions : Regions, RegionOptions, str or Path
        Where there is any cell and where the nuclei are; or how to find that: options, or the ``model`` of
        :func:`declump.find_regions`.
    evidence : Evidence or str, optional
        What tells of hidden outlines beside the clump: ``"clump"`` (nothing: the paper's method), ``"rays"`` (a network
        proposes each cell's outline), or one's own. By default
        ``"rays"``; with a setting that gives rays no weight, such as ``"paper"``, ``"clump"``. Where outlines are
        proposed, a large part of a clump that no cell explains gets a cell of its own: from the most probable spot in
        it, or without a judge from its middle, without a nucleus.
    rays : str or Path
        Network of the ray proposals: ``"default"``, or an ONNX file of ``declump train rays``.
    prior, setting, progress
        See :func:`evolve`.
    pixel_size : float, optional
        Micrometres a pixel: a first guess of how large nuclei are, which the image may contradict (with a warning).
        Options of the regions have their own, and their own diameter.
    diameter : float, optional
        Usual diameter of a nucleus in pixels; by default it is found in the image.
    judge : str or Path, optional
        What tells nuclei from leukocytes and debris; see :func:`declump.find_regions`.
    min_nucleus : float, optional
        Least probability with which a spot is a nucleus; see :func:`declump.find_regions`.
    statistics : ImageStatistics, optional
        What is otherwise taken from the image as a whole (:func:`find_statistics`), so that a part of an image that
        begins at a multiple of 16 pixels gives what the whole gives wherever the part shows enough (docs/slides.md);
        the diameter and the pixel size are theirs.
    stage : callable, optional
        Called with the name of each stage as it begins: ``"regions"`` and ``"cells"``.

    Returns
    -------
    Segmentation
        With ``nuclei``, and ``second_nuclei`` where nuclei overlap, in the order of the nuclei: of given regions that
        of their numbers, else by row and column. Cells without a found nucleus come last. Where a judge looked, with
        ``nucleus_probability``, and with what is no nucleus in ``others``. With the ``statistics`` it followed from.
    """
    options = to_region_options(regions, diameter=diameter, pixel_size=pixel_size, judge=judge, min_nucleus=min_nucleus)
    given = evidence if isinstance(evidence, Evidence) else None
    named = evidence if isinstance(evidence, str | None) else "clump"
    solver = CellSolver.from_names(named, rays, prior, setting, options.min_nucleus)
    if stage:
        stage("regions")
    pixels = to_pixels(image)
    if given is not None:
        if not isinstance(regions, Regions):
            raise ValueError("evidence of one's own is one row a nucleus of given regions; give those, too")
        given.check(len(regions.seeds), regions.clump.shape)
    known = regions if isinstance(regions, Regions) else options
    division = divide_image(pixels, known, options, solver, statistics=statistics)
    if stage:
        stage("cells")
    return division.solve(given, progress).assemble()


def divide_image(
    pixels: NDArray[Any],
    regions: Regions | RegionOptions,
    options: RegionOptions,
    solver: CellSolver,
    *,
    statistics: ImageStatistics | None = None,
    limits: Limits = EVERY,
) -> ImageDivision:
    """Find the regions and the statistics of an image, and divide it into clumps; see :func:`segment`."""
    shape = ImageChannels(pixels).shape
    if isinstance(regions, RegionOptions) and str(options.judge) == "none":
        regions = get_regions(ImageChannels(pixels), options)
    if isinstance(regions, Regions):
        if statistics is not None:
            raise ValueError("statistics tell how regions are found, and these are known; give one of both")
        get_regions(ImageChannels(pixels), regions)
        exposure = measure_exposure(pixels)
        size = find_ray_diameter(regions, "default" if solver.rays is None else solver.rays, options.diameter)
        known = ImageStatistics(
            exposure.background, exposure.turned, size, pixel_size=options.pixel_size, light=exposure.light
        )
        picture = ImageChannels(pixels, exposure)
        found = FoundRegions.from_regions(regions, picture.channels[0])
        return ImageDivision.of(picture.channels, found, known, solver, limits)
    channels, maps = None, None
    if statistics is None:
        first = look_at_image(lambda box: pixels[box.slices], (shape[0], shape[1]), options)
        statistics, channels, maps = first.statistics, first.channels, first.maps
    channels = to_channels(pixels, statistics.exposure) if channels is None else channels
    found = find_in_image(channels, statistics, options, maps)
    return ImageDivision.of(channels, found, statistics, solver, limits)


def find_statistics(
    image: ImageLike,
    *,
    regions: RegionOptions | str | Path = "default",
    prior: ShapePrior | str | Path = "default",
    pixel_size: float | None = None,
    diameter: float | None = None,
) -> ImageStatistics:
    """Find what a segmentation takes from an image as a whole: background, polarity, light, resolution, sizes.

    ``segment(part, statistics=...)`` then segments a part of the image as the whole would be.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
    regions, prior, pixel_size, diameter
        See :func:`segment`, which is to be called with the same.

    Returns
    -------
    ImageStatistics
        Its diameter is one of those, three in a hundred apart, at which the networks look at parts of an image.
    """
    options = to_region_options(regions, diameter=diameter, pixel_size=pixel_size)
    return divide_image(to_pixels(image), options, options, CellSolver.from_names(prior=prior)).statistics
