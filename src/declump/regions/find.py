"""``find_regions``: the first stage of the pipeline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from declump.models import Model
from declump.records.regions import Regions
from declump.regions.channels import ImageChannels, is_flat, to_channels
from declump.regions.classical import separate_by_thresholds
from declump.regions.inference import Maps, open_region_model, region_maps
from declump.regions.judge import SpotPlanes, choose_nuclei, judge_spots, open_judge
from declump.regions.nuclei import CANDIDATE_RULES, RULES, NucleusRules, separate_nuclei
from declump.regions.options import MIN_NUCLEUS, RegionOptions
from declump.regions.refinement import refine
from declump.regions.spots import find_spots

TRUSTED = 1.5
"""The resolution is taken to be that of the training images unless nuclei come out smaller or larger by this factor."""
ENOUGH_NUCLEI = 5
"""Fewer nuclei than this say nothing about the resolution."""
MIN_CLUMP = 2.5
"""Smallest clump, in areas of a nucleus."""
MAX_HOLE = 0.5
"""Largest hole in a clump that is filled, in areas of a nucleus."""
SAME_SCALE = 0.05
"""An image is not resized for a scale that differs less than this from 1."""

BY_DEFAULT = RegionOptions()


def find_regions(
    image: ArrayLike,
    *,
    model: str | Path = "default",
    diameter: float | None = None,
    pixel_size: float | None = None,
    min_nucleus_area: float | None = None,
    min_clump_area: float | None = None,
    max_hole_area: float | None = None,
    cut_nuclei: bool = False,
    refined: bool = False,
    judge: str | Path = "default",
    min_nucleus: float = MIN_NUCLEUS,
) -> Regions:
    """Find where there is any cell, and where the nuclei are.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
        Bright-field image: uint8, uint16, bool or float; alpha is ignored.
    model : str or Path
        ``"default"``, the network that ships with declump; ``"classical"``, thresholds without a network; or an ONNX
        file of ``declump train regions``.
    diameter : float, optional
        Usual diameter of a nucleus in pixels; goes before what ``pixel_size`` tells of it. By default the image is
        taken to be at the resolution of the training images, unless its nuclei turn out much smaller or larger.
    pixel_size : float, optional
        Micrometres a pixel; tells how large nuclei are, and makes the areas below square micrometres.
    min_nucleus_area, min_clump_area, max_hole_area : float, optional
        Smallest area of a nucleus and of a clump, and largest area of a hole in a clump that is filled: in square
        micrometres if ``pixel_size`` is given, otherwise in square pixels. By default they follow from the diameter.
    cut_nuclei : bool
        Whether nuclei that the image border cuts count. Their cells cannot be measured, and annotators leave them out.
    refined : bool
        Whether a Markov random field cleans the network's answer (:func:`declump.regions.refinement.refine`).
    judge : str or Path
        What tells nuclei of cells from leukocytes and debris: ``"default"``, the network that ships with declump; an
        ONNX file of ``declump train judge``; or ``"none"``, rules of size, shape and contrast. Without a region network
        there is no judge.
    min_nucleus : float
        Least probability, by the judge, with which a spot is a nucleus: less finds more cells, and more false ones.

    Returns
    -------
    Regions
        Without a nucleus there is no cell: cytoplasm whose nucleus lies outside the image, or on its border, belongs to
        the clump, and is left unexplained where no other cell covers it.
    """
    options = RegionOptions(
        model, diameter, pixel_size, min_nucleus_area, min_clump_area, max_hole_area, cut_nuclei, refined,
        judge, min_nucleus,
    )  # fmt: skip
    return get_regions(ImageChannels(np.asanyarray(image)), options)


def get_regions(image: ImageChannels, regions: Regions | RegionOptions) -> Regions:
    """Give regions as they are, if they are of this image, or find them as the options say."""
    if isinstance(regions, Regions):
        if image.shape != regions.clump.shape:
            raise ValueError(f"the regions are of another image: {regions.clump.shape} pixels against {image.shape}")
        return regions
    options = regions.in_pixels()
    if is_flat(image.channels):
        return Regions(np.zeros(image.shape, np.bool_), np.zeros(image.shape, np.int32))
    if str(options.model) == "classical":
        return _by_thresholds(image, options)
    model = open_region_model(options.model)
    usual, diameter = model.nucleus_diameter, options.diameter
    found = _by_network(image, model, usual if diameter is None else diameter, options)
    at = resolution(found.nuclei, diameter, usual)
    return found if diameter is not None or at == usual else _by_network(image, model, at, options)


def resolution(nuclei: NDArray[np.int32], diameter: float | None, usual: float) -> float:
    """Diameter in pixels at which labelled nuclei are looked at: the one given, the usual one, or theirs if far off."""
    if diameter is not None:
        return diameter
    own = typical_diameter(nuclei)
    return own if own and not 1 / TRUSTED < own / usual < TRUSTED else usual


def typical_diameter(nuclei: NDArray[np.int32]) -> float | None:
    """Median diameter in pixels of labelled nuclei, as discs of their area; None for too few of them."""
    areas = np.bincount(nuclei.ravel())[1:]
    return float(np.median(np.sqrt(4 * areas / np.pi))) if areas.size >= ENOUGH_NUCLEI else None


def _by_thresholds(image: ImageChannels, options: RegionOptions) -> Regions:
    """Regions without a network, by options in pixels."""
    clump, nuclei = separate_by_thresholds(image.channels[0], diameter=options.diameter)
    clump = _clean(clump, options.max_hole_area or 0, options.min_clump_area or 0)
    kept = np.bincount(nuclei.ravel()) >= max(options.min_nucleus_area or 0, 1)
    if not options.cut_nuclei:
        kept[np.unique(np.concatenate([nuclei[0], nuclei[-1], nuclei[:, 0], nuclei[:, -1]]))] = False
    kept[0] = False
    return Regions(clump, nuclei * kept[nuclei] * clump)


def _by_network(image: ImageChannels, model: Model, diameter: float, options: RegionOptions) -> Regions:
    """Regions of an image whose nuclei have a given diameter, by options in pixels."""
    maps = maps_at_scale(image, model, model.nucleus_diameter / diameter)
    judge = None if str(options.judge) == "none" else open_judge(options.judge)
    return read_maps(maps, image.channels, diameter, options=options, judge=judge)


def read_maps(
    maps: Maps,
    channels: NDArray[np.float32],
    diameter: float,
    *,
    options: RegionOptions = BY_DEFAULT,
    rules: NucleusRules = RULES,
    judge: Model | None = None,
) -> Regions:
    """Read regions from a network's maps of an image.

    Parameters
    ----------
    maps : Maps
    channels : (3, H, W)
        The image's :func:`declump.regions.channels.to_channels`.
    diameter : float
        Usual diameter of a nucleus in pixels.
    options : RegionOptions
        With areas in square pixels.
    rules : NucleusRules
        By which nuclei are told where there is no judge.
    judge : Model, optional
        What tells them.
    """
    probability = maps.classes[2]
    clump = maps.classes[0] < 0.5
    if options.refined:
        classes = refine(maps.classes, np.moveaxis(channels, 0, -1))
        probability, clump = np.where(classes == 2, np.maximum(probability, 0.5), 0), classes > 0
    nucleus = np.pi * diameter**2 / 4
    clump = _clean(
        clump,
        MAX_HOLE * nucleus if options.max_hole_area is None else options.max_hole_area,
        MIN_CLUMP * nucleus if options.min_clump_area is None else options.min_clump_area,
    )
    counts = np.arange(4, dtype=np.float32)[:, None, None]
    layers = np.sum(counts * maps.layers, axis=0)
    std = np.sqrt(np.maximum(np.sum(counts**2 * maps.layers, axis=0) - layers**2, 0))
    known = (layers.astype(np.float32), std.astype(np.float32))
    if judge is not None:
        spots = find_spots(probability, maps.centre_map, channels[0], diameter, min_area=options.min_nucleus_area,
                           cut=options.cut_nuclei)  # fmt: skip
        said = judge_spots(SpotPlanes.from_maps(channels[0], maps, spots), judge, diameter)
        return choose_nuclei(Regions(clump, spots, *known), said, options.min_nucleus)
    nuclei, doubtful = (
        separate_nuclei(
            np.where(clump, probability, 0),
            maps.centre_map,
            channels[0],
            diameter,
            rules=way,
            min_area=options.min_nucleus_area,
            cut=options.cut_nuclei,
        )
        for way in (rules, CANDIDATE_RULES)
    )
    candidates = np.where(np.isin(doubtful, doubtful[nuclei > 0]), 0, doubtful)
    return Regions(clump, nuclei, *known, candidates)


def _clean(clump: NDArray[np.bool_], max_hole_area: float, min_clump_area: float) -> NDArray[np.bool_]:
    """Clumps without small holes, and without what is too small for one."""
    filled = ~_keep_large(~clump, int(max_hole_area) + 1)
    return _keep_large(filled, min_clump_area)


def _keep_large(mask: NDArray[np.bool_], min_area: float) -> NDArray[np.bool_]:
    """Keep the connected pieces (4-neighbours) of a mask (H, W) that have at least so many pixels."""
    labels, _ = ndimage.label(mask)
    large = np.bincount(labels.ravel()) >= min_area
    large[0] = False
    return np.asarray(large[labels])


def maps_at_scale(image: ImageChannels, model: Model, scale: float) -> Maps:
    """Maps of an image seen larger or smaller, brought back to its size."""
    from skimage.transform import resize

    if abs(scale - 1) < SAME_SCALE:
        return region_maps(image.channels, model)
    size = tuple(max(round(side * scale), 1) for side in image.shape)
    scaled = resize(
        image.pixels.astype(np.float32),
        (*size, *image.pixels.shape[2:]),
        order=1,
        anti_aliasing=scale < 1,
        preserve_range=True,
    )
    maps = region_maps(to_channels(scaled), model)

    def back(values: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(resize(values, image.shape, order=1, preserve_range=True), dtype=np.float32)

    return Maps(
        np.stack([back(part) for part in maps.classes]),
        back(maps.centre_map),
        np.stack([back(part) for part in maps.layers]),
    )
