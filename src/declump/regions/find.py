"""``find_regions``: the first stage of the pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.models import model_path
from declump.records.regions import Regions
from declump.regions.channels import is_flat, to_channels
from declump.regions.inference import Maps, region_maps
from declump.regions.nuclei import CANDIDATE_RULES, RULES, NucleusRules, separate_nuclei
from declump.regions.refinement import refine

NUCLEUS_DIAMETER = 22.0
"""Usual diameter in pixels of a nucleus in the images the network was trained on."""
TRUSTED = 1.5
"""The resolution is taken to be that of the training images unless nuclei come out smaller or larger by this factor."""
ENOUGH_NUCLEI = 5
"""Fewer nuclei than this say nothing about the resolution."""
MIN_CLUMP = 2.5
"""Smallest clump, in areas of a nucleus."""
MAX_HOLE = 0.5
"""Largest hole in a clump that is filled, in areas of a nucleus."""
NUCLEUS_MICROMETRES = 7.0
"""Usual diameter of the nucleus of a squamous cell."""


@dataclass(frozen=True)
class Limits:
    """What the user set: areas in square pixels, None for those that follow from the diameter."""

    min_nucleus_area: float | None = None
    min_clump_area: float | None = None
    max_hole_area: float | None = None
    cut_nuclei: bool = False


NO_LIMITS = Limits()


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

    Returns
    -------
    Regions
        Without a nucleus there is no cell: cytoplasm whose nucleus lies outside the image, or on its border, belongs to
        the clump, and is left unexplained where no other cell covers it.
    """
    pixels = np.asarray(image)
    nothing = is_flat(pixels)
    if pixel_size is not None and not (np.isfinite(pixel_size) and pixel_size > 0):
        raise ValueError(f"the pixel size is a number of micrometres > 0; given was {pixel_size}")
    if diameter is None and pixel_size is not None:
        diameter = NUCLEUS_MICROMETRES / pixel_size
    if diameter is not None and not 2 <= diameter <= 1000:
        raise ValueError(f"the diameter of a nucleus is a number of pixels from 2 to 1000; given was {diameter}")
    limits = Limits(
        _in_pixels(min_nucleus_area, pixel_size),
        _in_pixels(min_clump_area, pixel_size),
        _in_pixels(max_hole_area, pixel_size),
        cut_nuclei,
    )
    if nothing:
        return Regions(np.zeros(pixels.shape[:2], np.bool_), np.zeros(pixels.shape[:2], np.int32))
    if str(model) == "classical":
        return _classical(pixels, diameter, limits)
    path = model_path(model, "regions.onnx")
    found = _regions(pixels, path, NUCLEUS_DIAMETER if diameter is None else diameter, limits, refined)
    at = resolution(found.nuclei, diameter)
    return found if diameter is not None or at == NUCLEUS_DIAMETER else _regions(pixels, path, at, limits, refined)


def get_regions(
    image: ArrayLike, regions: Regions | str | Path, *, diameter: float | None = None, pixel_size: float | None = None
) -> Regions:
    """Give regions as they are, if they are of this image, or find them with the model that is named instead."""
    if not isinstance(regions, Regions):
        return find_regions(image, model=regions, diameter=diameter, pixel_size=pixel_size)
    if np.shape(image)[:2] != regions.clump.shape:
        raise ValueError(
            f"the regions are of another image: {regions.clump.shape} pixels against {np.shape(image)[:2]}"
        )
    return regions


def resolution(nuclei: NDArray[np.int32], diameter: float | None = None) -> float:
    """Diameter in pixels at which labelled nuclei are looked at: the one given, the usual one, or theirs if far off."""
    if diameter is not None:
        return diameter
    seen = typical_diameter(nuclei)
    return seen if seen and not 1 / TRUSTED < seen / NUCLEUS_DIAMETER < TRUSTED else NUCLEUS_DIAMETER


def typical_diameter(nuclei: NDArray[np.int32]) -> float | None:
    """Median diameter in pixels of labelled nuclei, as discs of their area; None for too few of them."""
    areas = np.bincount(nuclei.ravel())[1:]
    return float(np.median(np.sqrt(4 * areas / np.pi))) if areas.size >= ENOUGH_NUCLEI else None


def _in_pixels(area: float | None, pixel_size: float | None) -> float | None:
    """An area in square pixels, given in square micrometres where the size of a pixel is known."""
    if area is not None and not (np.isfinite(area) and area >= 0):
        raise ValueError(f"least and largest areas are numbers >= 0; given was {area}")
    return area if area is None or pixel_size is None else area / pixel_size**2


def _classical(image: NDArray[Any], diameter: float | None, limits: Limits) -> Regions:
    from declump.regions.classical import find_classical_regions

    clump, nuclei = find_classical_regions(image, diameter=diameter)
    clump = _clean(clump, limits.max_hole_area or 0, limits.min_clump_area or 0)
    kept = np.bincount(nuclei.ravel()) >= max(limits.min_nucleus_area or 0, 1)
    if not limits.cut_nuclei:
        kept[np.unique(np.concatenate([nuclei[0], nuclei[-1], nuclei[:, 0], nuclei[:, -1]]))] = False
    kept[0] = False
    return Regions(clump, nuclei * kept[nuclei] * clump)


def _regions(image: NDArray[Any], model: Path, diameter: float, limits: Limits, refined: bool) -> Regions:
    """Regions of an image whose nuclei have a given diameter."""
    maps, seen = maps_at_scale(image, model, NUCLEUS_DIAMETER / diameter), to_channels(image)
    return read_maps(maps, seen, diameter, limits=limits, refined=refined)


def read_maps(
    maps: Maps,
    seen: NDArray[np.float32],
    diameter: float,
    *,
    limits: Limits = NO_LIMITS,
    refined: bool = False,
    rules: NucleusRules = RULES,
) -> Regions:
    """Read regions from a network's maps of an image.

    Parameters
    ----------
    maps : Maps
    seen : (3, H, W)
        The image's :func:`declump.regions.channels.to_channels`.
    diameter : float
        Usual diameter of a nucleus in pixels.
    limits : Limits
    refined : bool
        See :func:`find_regions`.
    rules : NucleusRules
    """
    probability = maps.classes[2]
    clump = maps.classes[0] < 0.5
    if refined:
        classes = refine(maps.classes, np.moveaxis(seen, 0, -1))
        probability, clump = np.where(classes == 2, np.maximum(probability, 0.5), 0), classes > 0
    nucleus = np.pi * diameter**2 / 4
    clump = _clean(
        clump,
        MAX_HOLE * nucleus if limits.max_hole_area is None else limits.max_hole_area,
        MIN_CLUMP * nucleus if limits.min_clump_area is None else limits.min_clump_area,
    )
    nuclei, doubtful = (
        separate_nuclei(
            np.where(clump, probability, 0),
            maps.centre_map,
            seen[0],
            diameter,
            rules=way,
            min_area=limits.min_nucleus_area,
            cut=limits.cut_nuclei,
        )
        for way in (rules, CANDIDATE_RULES)
    )
    counts = np.arange(4, dtype=np.float32)[:, None, None]
    layers = np.sum(counts * maps.layers, axis=0)
    std = np.sqrt(np.maximum(np.sum(counts**2 * maps.layers, axis=0) - layers**2, 0))
    candidates = np.where(np.isin(doubtful, doubtful[nuclei > 0]), 0, doubtful)
    return Regions(clump, nuclei, layers.astype(np.float32), std.astype(np.float32), candidates)


def _clean(clump: NDArray[np.bool_], max_hole_area: float, min_clump_area: float) -> NDArray[np.bool_]:
    """Clumps without small holes, and without what is too small for one."""
    from skimage.morphology import remove_small_holes, remove_small_objects

    filled = remove_small_holes(clump, max_size=int(max_hole_area))
    return np.asarray(remove_small_objects(filled, max_size=max(int(np.ceil(min_clump_area)) - 1, 0)), dtype=np.bool_)


def maps_at_scale(image: NDArray[Any], model: Path, scale: float) -> Maps:
    """Maps of an image seen larger or smaller, brought back to its size."""
    from skimage.transform import resize

    if abs(scale - 1) < 0.05:
        return region_maps(image, model)
    size = tuple(max(round(side * scale), 1) for side in image.shape[:2])
    seen = resize(
        image.astype(np.float32), (*size, *image.shape[2:]), order=1, anti_aliasing=scale < 1, preserve_range=True
    )
    maps = region_maps(seen, model)

    def back(values: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(resize(values, image.shape[:2], order=1, preserve_range=True), dtype=np.float32)

    return Maps(
        np.stack([back(part) for part in maps.classes]),
        back(maps.centre_map),
        np.stack([back(part) for part in maps.layers]),
    )
