"""``find_regions``: the first stage of the pipeline."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump.images.accepting import ImageLike, to_pixels
from declump.records.boxes import Box
from declump.records.crops import crop_labels
from declump.records.regions import Regions
from declump.records.spots import Spots
from declump.records.statistics import ImageStatistics
from declump.regions.by_window import MAX_HOLE, MIN_CLUMP, RegionFinder
from declump.regions.channels import ImageChannels, to_channels
from declump.regions.cleaning import clean_clump
from declump.regions.inference import Maps, open_region_model
from declump.regions.lattice import Lattice
from declump.regions.looking import look_at_image
from declump.regions.nuclei import CANDIDATE_RULES, RULES, NucleusReader, NucleusRules
from declump.regions.options import MIN_NUCLEUS, RegionOptions
from declump.regions.scale import DOUBTED, ENOUGH_NUCLEI
from declump.regions.spots import guess_leukocytes

CONTRADICTION = 1.5
"""Nuclei smaller or larger by this factor than they should be are worth a warning."""


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


@dataclass(frozen=True, eq=False)
class FoundRegions:
    """The clumps of an image and all that may be a nucleus in them.

    Attributes
    ----------
    clump : (H, W) bool
        Without specks and holes.
    candidates : Spots
        In the order in which cells are numbered.
    given : (S,) bool, optional
        Which of them are nuclei by themselves; by default those that are probable enough and lie in a clump.
    layers : (H, W) float32, optional
        Expected number of cells at each pixel.
    """

    clump: NDArray[np.bool_]
    candidates: Spots
    given: NDArray[np.bool_] | None = None
    layers: NDArray[np.float32] | None = None

    @classmethod
    def from_regions(cls, regions: Regions, luminance: NDArray[np.float32]) -> FoundRegions:
        """Take nuclei and candidates of given regions, in this order; what has no probability is not classified."""
        spots = np.zeros_like(regions.nuclei) if regions.candidates is None else regions.candidates
        taken, parts = (spots > 0) | (regions.nuclei > 0), []
        for labels, said in ((regions.nuclei, regions.nucleus_probability), (spots, regions.candidate_probability)):
            crops = crop_labels(labels, int(labels.max(initial=0)))
            boxes = [(crop.top, crop.left, *np.add((crop.top, crop.left), crop.mask.shape)) for crop in crops]
            probability = np.full(len(crops), np.nan) if said is None else np.asarray(said, np.float64)
            leukocyte = np.array(guess_leukocytes(labels, taken, luminance), np.float64)
            masks = [crop.mask for crop in crops]
            parts.append(Spots(np.array(boxes, np.int64).reshape(-1, 4), masks, probability, leukocyte))
        every = Spots.join(parts, sort=False)
        return cls(regions.clump, every, np.arange(len(every)) < len(regions.seeds))

    def to_regions(self, diameter: float, min_nucleus: float) -> Regions:
        """Paint the candidates: those that are nuclei by themselves, and the rest."""
        nuclei, spots = np.zeros((2, *self.clump.shape), np.int32)
        numbers: tuple[list[float], list[float]] = ([], [])
        for index, pixels in enumerate(self.candidates.masks):
            box = self.candidates.box(index).slices
            within, probability = pixels & self.clump[box], float(self.candidates.probability[index])
            is_nucleus = probability >= min_nucleus and 2 * np.count_nonzero(within) >= np.count_nonzero(pixels)
            target, shown, said = (nuclei, within, numbers[0]) if is_nucleus else (spots, pixels, numbers[1])
            said.append(probability)
            target[box][shown] = len(said)
        return Regions(
            self.clump,
            nuclei,
            layers=self.layers,
            candidates=spots,
            nucleus_probability=np.array(numbers[0]),
            candidate_probability=np.array(numbers[1]),
            diameter=diameter,
        )


def find_in_image(
    channels: NDArray[np.float32], statistics: ImageStatistics, options: RegionOptions, maps: Maps | None = None
) -> FoundRegions:
    """Find the regions of an image in memory, of which the channels (3, H, W) are given, by its statistics."""
    whole = Box(0, 0, channels.shape[1], channels.shape[2])
    finder = RegionFinder(options.in_pixels(), statistics, whole.shape)
    part = finder.find(lambda box: channels[:, *box.slices], whole, maps)
    clump = clean_clump(part.clump, finder.max_hole_area, finder.min_clump_area)
    found = FoundRegions(clump, part.spots, layers=part.layers)
    areas = [int(np.count_nonzero(mask)) for mask in found.candidates.masks]
    _warn_of_contradiction(options.in_pixels(), areas, found.candidates.probability >= options.min_nucleus)
    return found


def get_regions(image: ImageChannels, regions: Regions | RegionOptions) -> Regions:
    """Give regions as they are, if they are of this image, or find them as the options say."""
    if isinstance(regions, Regions):
        if image.shape != regions.clump.shape:
            raise ValueError(f"the regions are of another image: {regions.clump.shape} pixels against {image.shape}")
        return regions
    shape = (image.shape[0], image.shape[1])
    first = look_at_image(lambda box: image.pixels[box.slices], shape, regions)
    channels = to_channels(image.pixels, first.statistics.exposure) if first.channels is None else first.channels
    size = first.statistics.diameter
    if str(regions.judge) == "none":
        model, maps = open_region_model(regions.model), first.maps
        lattice = Lattice.from_scale(model.nucleus_diameter / size, model.stride)
        maps = lattice.see(channels, model) if maps is None else maps
        return replace(read_maps(maps, channels, size, cut=regions.cut_nuclei), diameter=size)
    return find_in_image(channels, first.statistics, regions, first.maps).to_regions(size, regions.min_nucleus)


def resolution(nuclei: NDArray[np.int32], usual: float) -> float:
    """Diameter in pixels at which given, labelled nuclei are looked at: the usual one, or theirs if that is far off."""
    own = typical_diameter(nuclei)
    return own if own and not 1 / DOUBTED < own / usual < DOUBTED else usual


def typical_diameter(nuclei: NDArray[np.int32]) -> float | None:
    """Median diameter in pixels of labelled nuclei, as discs of their area; None for too few of them."""
    areas = np.bincount(nuclei[nuclei > 0])[1:]
    return float(np.median(np.sqrt(4 * areas / np.pi))) if areas.size >= ENOUGH_NUCLEI else None


def _warn_of_contradiction(options: RegionOptions, areas: Sequence[int], nuclei: NDArray[np.bool_]) -> None:
    """Warn where nuclei are not as large as the caller, or the size of a pixel, makes them; by options in pixels."""
    given, diameters = options.diameter or options.expected_diameter, np.sqrt(4 * np.array(areas)[nuclei] / np.pi)
    own = float(np.median(diameters)) if diameters.size >= ENOUGH_NUCLEI else None
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


def read_maps(
    maps: Maps,
    channels: NDArray[np.float32],
    diameter: float,
    *,
    cut: bool = False,
    rules: NucleusRules = RULES,
) -> Regions:
    """Read regions from a network's maps of a whole image by rules of size, shape and contrast alone.

    Parameters
    ----------
    maps : Maps
    channels : (3, H, W)
        The image's :func:`declump.regions.channels.to_channels`.
    diameter : float
        Usual diameter of a nucleus in pixels.
    cut : bool
        Whether nuclei that the image border cuts count.
    rules : NucleusRules
    """
    nucleus = np.pi * diameter**2 / 4
    clump = clean_clump(maps.classes[0] < 0.5, MAX_HOLE * nucleus, MIN_CLUMP * nucleus)
    reader = NucleusReader(np.where(clump, maps.classes[2], 0), maps.centre_map, channels[0], diameter)
    nuclei, doubtful = (reader.separate(way, cut=cut) for way in (rules, CANDIDATE_RULES))
    candidates = np.where(np.isin(doubtful, doubtful[nuclei > 0]), 0, doubtful)
    return Regions(clump, nuclei, candidates=candidates)
