"""Regions by the network that the paper describes, or by declump's, cleaned by a Markov random field if asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import declump
from declump.images.accepting import ImageLike, to_pixels
from declump.models import Model, model_path, open_model
from declump.records.regions import Regions
from declump.regions.channels import ImageChannels, is_flat
from declump.regions.find import read_maps
from declump.regions.inference import SHIPPED, open_region_model, run_in_tiles, softmax
from declump.regions.lattice import Lattice, maps_at_found_scale
from declump.regions.resizing import resize_channels, resize_planes
from declump_paper.regions.classes import NUCLEUS, read_classes
from declump_paper.regions.refinement import refine

ARCHITECTURE_ENTRY = "architecture"
"""Entry of a card: which region network it is; a card without it means declump's own."""
PUBLISHED = "paper"
"""Architecture of the network that the paper describes, which answers with classes alone."""


def find_regions(
    image: ImageLike,
    *,
    model: str | Path = "default",
    refined: bool = False,
    diameter: float | None = None,
    judge: str | Path = "none",
) -> Regions:
    """Find where there is any cell, and where the nuclei are, as the experiments do.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
    model : str or Path
        See :func:`declump.find_regions`; also a published network, which ``declump reproduce`` trains.
    refined : bool
        Whether a Markov random field cleans the classes (:func:`declump_paper.regions.refinement.refine`).
    diameter, judge : optional
        See :func:`declump.find_regions`. Refined regions, and those of a published network, have no judge.

    Returns
    -------
    Regions
        Those of a published network without layers and candidates.
    """
    opened = open_model(model_path(model, SHIPPED), "region model")
    published = opened.card.get(ARCHITECTURE_ENTRY) == PUBLISHED
    if not (refined or published):
        return declump.find_regions(image, model=model, diameter=diameter, judge=judge)
    if str(judge) != "none":
        raise ValueError("judge must be 'none' for refined regions and for the published network, got a model")
    channels = ImageChannels(to_pixels(image))
    if is_flat(channels.channels):
        return Regions(np.zeros(channels.shape, np.bool_), np.zeros(channels.shape, np.int32))
    if published:
        return _by_published(channels, opened, refined, diameter)
    return _refined(channels, open_region_model(model), diameter)


def find_classes(channels: NDArray[np.float32], model: Model) -> NDArray[np.float32]:
    """Probabilities (3, H, W) of background, cytoplasm and nucleus, by a published network."""
    classes = np.empty((3, *channels.shape[1:]), np.float32)
    for seen, place in run_in_tiles(channels, model):
        classes[:, *place] = softmax(seen)
    return classes


def _by_published(channels: ImageChannels, model: Model, refined: bool, diameter: float | None) -> Regions:
    """Regions at the scale that is given, or of the training images: classes alone tell of none."""
    scale = 1.0 if diameter is None else model.nucleus_diameter / diameter
    classes = find_classes(resize_channels(channels.channels, scale), model)
    if classes.shape[1:] != channels.shape:
        classes = resize_planes(classes, channels.shape)
    likeliest = _refine(classes, channels) if refined else classes.argmax(axis=0).astype(np.uint8)
    size = model.nucleus_diameter / scale
    return replace(read_classes(likeliest, size), diameter=size)


def _refined(channels: ImageChannels, model: Model, diameter: float | None) -> Regions:
    """Regions by declump's network, its classes refined."""
    if diameter is None:
        scale, maps = maps_at_found_scale(channels.channels, model)
    else:
        scale = model.nucleus_diameter / diameter
        maps = Lattice.from_scale(scale, model.stride).see(channels.channels, model)
    chosen = _refine(maps.classes, channels)
    nucleus = np.where(chosen == NUCLEUS, np.maximum(maps.classes[NUCLEUS], 0.5), 0)
    classes = np.stack([np.where(chosen > 0, 0, 1), maps.classes[1], nucleus]).astype(np.float32)
    size = model.nucleus_diameter / scale
    return replace(read_maps(replace(maps, classes=classes), channels.channels, size), diameter=size)


def _refine(classes: NDArray[np.float32], channels: ImageChannels) -> NDArray[np.uint8]:
    return refine(classes, np.moveaxis(channels.channels, 0, -1))
