"""``segment()``: from an image to its whole cells, stage by stage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from declump.evolution.settings import Settings
from declump.images.accepting import ImageLike, to_pixels
from declump.pipelines.by_clump import segment_by_clump
from declump.pipelines.stages import CellOptions, Stages
from declump.records.evidence import Evidence
from declump.records.regions import Regions
from declump.records.segmentation import Segmentation
from declump.records.statistics import ImageStatistics
from declump.regions.channels import ImageChannels
from declump.regions.find import get_regions
from declump.regions.options import RegionOptions, to_region_options
from declump.shapes.prior import ShapePrior


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
        :func:`declump.find_regions`. Of frozen regions (:func:`freeze`) exactly their cells are evolved.
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
        What is otherwise taken from the image as a whole (:func:`declump.find_statistics`). Every clump is then
        segmented by itself, so that a part of an image that begins at a multiple of 16 pixels gives what the whole
        gives wherever the part shows enough (docs/slides.md); the diameter and the pixel size are theirs.
    stage : callable, optional
        Called with the name of each stage as it begins: ``"regions"``, ``"proposals"``, ``"evolution"``, and
        ``"missing cells"`` where large parts were left unexplained.

    Returns
    -------
    Segmentation
        With ``nuclei``, and ``second_nuclei`` where nuclei overlap. Cells without a found nucleus come last. Where a
        judge looked, with ``nucleus_probability``, and with what is no nucleus in ``others``.
    """
    options = to_region_options(regions, diameter=diameter, pixel_size=pixel_size, judge=judge, min_nucleus=min_nucleus)
    method = CellOptions.from_names(evidence, rays, prior, setting)
    if statistics is not None:
        if isinstance(regions, Regions):
            raise ValueError("statistics tell how regions are found, and these are known; give one of both")
        return segment_by_clump(to_pixels(image), options, method, statistics, progress=progress)
    return _prepare(image, regions, options, method, stage).run(progress)


def freeze(
    image: ImageLike,
    *,
    regions: Regions | RegionOptions | str | Path = "default",
    evidence: str | None = None,
    rays: str | Path = "default",
    prior: ShapePrior | str | Path = "default",
    setting: str | Settings = "joint",
    pixel_size: float | None = None,
    diameter: float | None = None,
    judge: str | Path | None = None,
    min_nucleus: float | None = None,
) -> Regions:
    """Find the regions of an image as :func:`segment` does, for a person to correct them.

    ``segment(image, regions=frozen)`` then evolves exactly the cells they hold: none is added, and their size does not
    follow from their number, so that a correction changes the clump it is made in and no other.

    Parameters
    ----------
    image, regions, evidence, rays, prior, setting, pixel_size, diameter, judge, min_nucleus
        See :func:`segment`, which is to be called with the same.

    Returns
    -------
    Regions
        With ``frozen``. Cells that only the evolution showed to be missing are among them, seen by the network, too.
    """
    options = to_region_options(regions, diameter=diameter, pixel_size=pixel_size, judge=judge, min_nucleus=min_nucleus)
    return _prepare(image, regions, options, CellOptions.from_names(evidence, rays, prior, setting)).find_frozen()


def _prepare(
    image: ImageLike,
    regions: Regions | RegionOptions | str | Path,
    options: RegionOptions,
    method: CellOptions,
    stage: Callable[[str], None] | None = None,
) -> Stages:
    if stage:
        stage("regions")
    picture = ImageChannels(to_pixels(image))
    found = get_regions(picture, regions if isinstance(regions, Regions) else options)
    return Stages(picture, found, options, method, stage=stage)
