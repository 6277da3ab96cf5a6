"""``find_regions``: the first stage of the pipeline."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump.images.accepting import ImageLike, to_pixels
from declump.models import Model
from declump.records.regions import Regions
from declump.regions.channels import ImageChannels, is_flat
from declump.regions.cleaning import clean_clump
from declump.regions.inference import Maps, open_region_model
from declump.regions.judge import SpotPlanes, choose_nuclei, judge_spots, open_judge
from declump.regions.lattice import Lattice, maps_at_found_scale
from declump.regions.nuclei import CANDIDATE_RULES, RULES, NucleusReader, NucleusRules
from declump.regions.options import MIN_NUCLEUS, RegionOptions
from declump.regions.scale import DOUBTED, ENOUGH_NUCLEI
from declump.regions.spots import find_spots

CONTRADICTION = 1.5
"""Nuclei smaller or larger by this factor than they should be are worth a warning."""
MIN_CLUMP = 2.5
"""Smallest clump, in areas of a nucleus."""
MAX_HOLE = 0.5
"""Largest hole in a clump that is filled, in areas of a nucleus."""
BY_DEFAULT = RegionOptions()


def find_regions(
    image: ImageLike,
    *,
    model: str | Path = "default",
    diameter: float | None = None,
    pixel_size: float | None = None,
    cut_nuclei: bool = False,
    judge: str | Path = "default",
    min_nucleus: float = MIN_NUCLEUS,
) -> Regions:
    """Find where there is any cell, and where the nuclei are.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4)
        Bright-field image: uint8, uint16, bool or float; alpha is ignored.
    model : str or Path
        ``"default"``, the network that ships with declump, or an ONNX file of ``declump train regions``.
    diameter : float, optional
        Usual diameter of a nucleus in pixels, which the image is looked at by. By default it is found in the image
        (:mod:`declump.regions.scale`).
    pixel_size : float, optional
        Micrometres a pixel: a first guess of the scale.
    cut_nuclei : bool
        Whether nuclei that the image border cuts count. Their cells cannot be measured, and annotators leave them out.
    judge : str or Path
        What tells nuclei of cells from leukocytes and debris: ``"default"``, the network that ships with declump; an
        ONNX file of ``declump train judge``; or ``"none"``, rules of size, shape and contrast.
    min_nucleus : float
        Least probability, by the judge, with which a spot is a nucleus: less finds more cells, and more false ones.

    Returns
    -------
    Regions
        Without a nucleus there is no cell: cytoplasm whose nucleus lies outside the image, or on its border, belongs to
        the clump, and is left unexplained where no other cell covers it.
    """
    options = RegionOptions(model, diameter, pixel_size, cut_nuclei, judge, min_nucleus)
    return get_regions(ImageChannels(to_pixels(image)), options)


def get_regions(image: ImageChannels, regions: Regions | RegionOptions) -> Regions:
    """Give regions as they are, if they are of this image, or find them as the options say."""
    if isinstance(regions, Regions):
        if image.shape != regions.clump.shape:
            raise ValueError(f"the regions are of another image: {regions.clump.shape} pixels against {image.shape}")
        return regions
    options = regions.in_pixels()
    if is_flat(image.channels):
        return Regions(np.zeros(image.shape, np.bool_), np.zeros(image.shape, np.int32))
    found = _by_network(image, open_region_model(options.model), options)
    _warn_of_contradiction(options, typical_diameter(found.nuclei))
    return found


def resolution(nuclei: NDArray[np.int32], usual: float) -> float:
    """Diameter in pixels at which given, labelled nuclei are looked at: the usual one, or theirs if that is far off."""
    own = typical_diameter(nuclei)
    return own if own and not 1 / DOUBTED < own / usual < DOUBTED else usual


def typical_diameter(nuclei: NDArray[np.int32]) -> float | None:
    """Median diameter in pixels of labelled nuclei, as discs of their area; None for too few of them."""
    areas = np.bincount(nuclei[nuclei > 0])[1:]
    return float(np.median(np.sqrt(4 * areas / np.pi))) if areas.size >= ENOUGH_NUCLEI else None


def _warn_of_contradiction(options: RegionOptions, own: float | None) -> None:
    """Warn where nuclei are not as large as the caller, or the size of a pixel, makes them; by options in pixels."""
    given = options.diameter or options.expected_diameter
    if own is None or given is None or 1 / CONTRADICTION < own / given < CONTRADICTION:
        return
    if options.diameter is not None:
        said = f"a diameter of {given:.3g} pixels was given for nuclei, but those found have {own:.3g}: leave it out"
    else:
        said = (
            f"by the size of a pixel nuclei should be {given:.3g} pixels wide, but those found have {own:.3g}: the "
            "scale was taken from the image; check the pixel size, which lengths and areas in micrometres rest on"
        )
    warnings.warn(said, stacklevel=4)


def _by_network(image: ImageChannels, model: Model, options: RegionOptions) -> Regions:
    """Regions at the scale that was given, or that the image asks for, by options in pixels."""
    usual = model.nucleus_diameter
    if options.diameter is not None:
        lattice = Lattice.from_scale(usual / options.diameter)
        scale, maps = lattice.scale, lattice.see(image.channels, model)
    else:
        scale, maps = maps_at_found_scale(image.channels, model, first_guess(usual, options.expected_diameter))
    judge = None if str(options.judge) == "none" else open_judge(options.judge)
    found = read_maps(maps, image.channels, usual / scale, options=options, judge=judge)
    return replace(found, diameter=usual / scale)


def first_guess(usual: float, expected: float | None) -> float:
    """Scale to begin with: that of the training images, unless nuclei are expected to be far larger or smaller."""
    return 1.0 if expected is None or 1 / DOUBTED < expected / usual < DOUBTED else usual / expected


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
    rules : NucleusRules
        By which nuclei are told where there is no judge.
    judge : Model, optional
        What tells them.
    """
    probability, seen = maps.classes[2], maps.classes[0] < 0.5
    nucleus = np.pi * diameter**2 / 4
    clump = clean_clump(seen, MAX_HOLE * nucleus, MIN_CLUMP * nucleus)
    if judge is not None:
        spots = find_spots(probability, maps.centre_map, channels[0], diameter, clump=seen, cut=options.cut_nuclei)
        offered = Regions(clump, spots, *_count_layers(maps.layers))
        del spots  # the regions hold them: those of a large image take much
        said = judge_spots(SpotPlanes.from_maps(channels[0], maps, offered.nuclei), judge, diameter)
        return choose_nuclei(offered, said, options.min_nucleus)
    reader = NucleusReader(np.where(clump, probability, 0), maps.centre_map, channels[0], diameter)
    nuclei, doubtful = (reader.separate(way, cut=options.cut_nuclei) for way in (rules, CANDIDATE_RULES))
    candidates = np.where(np.isin(doubtful, doubtful[nuclei > 0]), 0, doubtful)
    return Regions(clump, nuclei, *_count_layers(maps.layers), candidates)


def _count_layers(layers: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Mean and standard deviation (H, W) of the number of layers, by the probabilities (4, H, W) of 0 to 3."""
    mean, squares = layers[1].copy(), layers[1].copy()
    for count in (2, 3):
        mean += np.float32(count) * layers[count]
        squares += np.float32(count**2) * layers[count]
    squares -= mean**2
    return mean, np.sqrt(np.maximum(squares, 0, out=squares), out=squares)
