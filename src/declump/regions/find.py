"""``find_regions``: the first stage of the pipeline."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.regions.channels import channels, is_flat
from declump.regions.inference import Maps, region_maps
from declump.regions.nuclei import single_nuclei
from declump.regions.record import Regions
from declump.regions.refinement import refine

NUCLEUS_DIAMETER = 22.0
"""Usual diameter in pixels of a nucleus in the images the network was trained on."""
TRUSTED = 1.5
"""The resolution is taken to be that of the training images unless nuclei come out smaller or larger by this factor."""
ENOUGH_NUCLEI = 5
"""Fewer nuclei than this say nothing about the resolution."""
LEAST_CLUMP = 2.5
"""Smallest clump, in areas of a nucleus."""
LARGEST_HOLE = 0.5
"""Largest hole in a clump that is filled, in areas of a nucleus."""


def find_regions(
    image: ArrayLike, *, model: str | Path = "default", diameter: float | None = None, refined: bool = False
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
        Usual diameter of a nucleus in pixels. By default the image is taken to be at the resolution of the training
        images, unless its nuclei turn out much smaller or larger.
    refined : bool
        Whether a Markov random field cleans the network's answer (:func:`declump.regions.refinement.refine`).

    Returns
    -------
    Regions
        Without a nucleus there is no cell: cytoplasm whose nucleus lies outside the image belongs to the clump, and is
        left unexplained where no other cell covers it.
    """
    from declump.regions.classical import classical_regions

    pixels = np.asarray(image)
    nothing = is_flat(pixels)
    if diameter is not None and not 2 <= diameter <= 1000:
        raise ValueError(f"the diameter of a nucleus is a number of pixels from 2 to 1000; given was {diameter}")
    if nothing:
        return Regions(np.zeros(pixels.shape[:2], np.bool_), np.zeros(pixels.shape[:2], np.int32))
    if str(model) == "classical":
        return Regions(*classical_regions(pixels, diameter=diameter))
    path = Path(str(resources.files("declump") / "data" / "regions.onnx")) if model == "default" else Path(model)
    found = _regions(pixels, path, NUCLEUS_DIAMETER if diameter is None else diameter, refined)
    if diameter is None:
        seen = typical_diameter(found.nuclei)
        if seen and not 1 / TRUSTED < seen / NUCLEUS_DIAMETER < TRUSTED:
            return _regions(pixels, path, seen, refined)
    return found


def typical_diameter(nuclei: NDArray[np.int32]) -> float | None:
    """Median diameter in pixels of labelled nuclei, as discs of their area; None for too few of them."""
    areas = np.bincount(nuclei.ravel())[1:]
    return float(np.median(np.sqrt(4 * areas / np.pi))) if areas.size >= ENOUGH_NUCLEI else None


def _regions(image: NDArray[Any], model: Path, diameter: float, refined: bool) -> Regions:
    """Regions of an image whose nuclei have a given diameter."""
    from skimage.morphology import remove_small_holes, remove_small_objects

    maps, seen = _maps_at_scale(image, model, NUCLEUS_DIAMETER / diameter), channels(image)
    classes = refine(maps.classes, np.moveaxis(seen, 0, -1)) if refined else maps.classes.argmax(axis=0)
    nucleus = np.pi * diameter**2 / 4
    clump = classes > 0
    clump = remove_small_holes(clump, max_size=int(LARGEST_HOLE * nucleus))
    clump = remove_small_objects(clump, max_size=int(LEAST_CLUMP * nucleus))
    nuclei = single_nuclei((classes == 2) & clump, maps.nearness, seen[0], diameter)
    counts = np.arange(4, dtype=np.float32)[:, None, None]
    layers = np.sum(counts * maps.layers, axis=0)
    doubt = np.sqrt(np.maximum(np.sum(counts**2 * maps.layers, axis=0) - layers**2, 0))
    return Regions(clump, nuclei, layers.astype(np.float32), doubt.astype(np.float32))


def _maps_at_scale(image: NDArray[Any], model: Path, scale: float) -> Maps:
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
        back(maps.nearness),
        np.stack([back(part) for part in maps.layers]),
    )
