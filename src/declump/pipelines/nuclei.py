"""Whole nuclei: the evolution of clumps, with nuclei for cells.

Where two nuclei overlap, a label image cuts them along a line. Each is seen whole again by evolving the joined piece
from one seed a nucleus, with a prior of nuclei. The middle of what a cut leaves of a nucleus is not that of the whole:
the prior lets outlines move off their seeds, and they are evolved once more from where that has led.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump.evolution.evolve import CROWDING, evolve
from declump.images.accepting import ImageLike, to_pixels
from declump.pipelines.objects import SETTING, find_centroids
from declump.records.regions import Regions
from declump.records.segmentation import Segmentation
from declump.regions.channels import ImageChannels
from declump.regions.find import get_regions
from declump.regions.options import RegionOptions, to_region_options
from declump.shapes import contours
from declump.shapes.off_centre import widen_for_offset
from declump.shapes.prior import ShapePrior


def segment_nuclei(
    image: ImageLike,
    *,
    regions: Regions | RegionOptions | str | Path = "default",
    prior: ShapePrior | str | Path = "nucleus",
    diameter: float | None = None,
    pixel_size: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Segmentation:
    """Find every nucleus of an image, whole, also where nuclei overlap.

    The clump is where the network sees nucleus; the seeds are the peaks of its nearness to the centres of nuclei, and
    what the shape of a joined piece adds to them. They evolve as cells do, with a prior of nuclei.

    Parameters
    ----------
    image : (H, W), (H, W, 3) or (H, W, 4), or the path of a file
        Bright-field image: uint8, uint16, bool or float; arrays of dask, zarr and xarray count, too.
    regions : Regions, RegionOptions, str or Path
        Where the nuclei are; or how to find that: options, or the ``model`` of :func:`declump.find_regions`.
    prior : ShapePrior, str or Path
        What shapes to expect; see :meth:`declump.ShapePrior.load`.
    diameter, pixel_size
        Usual diameter of a nucleus in pixels, or micrometres a pixel; see :func:`declump.find_regions`.
    progress : callable, optional
        Called with the number of nuclei done and in all, after every clump.

    Returns
    -------
    Segmentation
        One row a nucleus: that of cell i of :func:`declump.segment` with the same regions is row i. Outlines of
        overlapping nuclei overlap. ``clumps`` are the connected pieces of nucleus.

    Examples
    --------
    >>> import numpy as np, declump
    >>> rows, columns = np.mgrid[:60, :80]
    >>> nuclei = np.where(np.hypot(rows - 30, columns - 30) < 12, 1, 0)
    >>> nuclei[(np.hypot(rows - 30, columns - 48) < 12) & (columns > 39)] = 2
    >>> found = declump.Regions(clump=np.ones((60, 80), bool), nuclei=nuclei)
    >>> whole = declump.segment_nuclei(np.zeros((60, 80)), regions=found)
    >>> len(whole), bool((whole.masks.sum(axis=0) == 2).any())
    (2, True)
    """
    options = to_region_options(regions, diameter=diameter, pixel_size=pixel_size)
    found = get_regions(ImageChannels(to_pixels(image)), regions if isinstance(regions, Regions) else options)
    return evolve_nuclei(found.nuclei, prior=prior, progress=progress)


def evolve_nuclei(
    nuclei: NDArray[np.int32],
    *,
    prior: ShapePrior | str | Path = "nucleus",
    joined: bool = False,
    mean_area: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Segmentation:
    """Evolve the nuclei of a label image into whole ones.

    Parameters
    ----------
    nuclei : (H, W) int32
        Numbers from 1, as in :class:`declump.Regions`.
    prior : ShapePrior, str or Path
    joined : bool
        Only nuclei that touch others: the rest gets empty outlines.
    mean_area : float, optional
        Usual area of a nucleus in square pixels; by default that of all nuclei given.
    progress : callable, optional

    Returns
    -------
    Segmentation
        One row a number.
    """
    prior = prior if isinstance(prior, ShapePrior) else ShapePrior.load(prior)
    seeds = Regions(nuclei > 0, nuclei).seeds
    chosen = np.ones(len(seeds), dtype=np.bool_)
    if joined:
        chosen[:] = False
        chosen[_touching(nuclei) - 1] = True
    mask = np.append(False, chosen)[nuclei]
    # All nuclei of the image tell how large they are, also where only the joined ones are evolved.
    area = np.count_nonzero(nuclei) / max(len(seeds), 1) if mean_area is None else mean_area
    scale = float(np.sqrt(area / contours.area(prior.mean)) / CROWDING) if chosen.any() else None
    loose = widen_for_offset(prior)
    first = evolve(mask, seeds[chosen], prior=loose, setting=SETTING, scale=scale)
    result = evolve(mask, find_centroids(first, mask), prior=loose, setting=SETTING, scale=scale, progress=progress)
    places, radii = np.floor(seeds + 0.5), np.zeros((len(seeds), prior.rays))
    clump = np.full(len(seeds), -1, dtype=np.int64)
    places[chosen], radii[chosen], clump[chosen] = result.seeds, result.radii, result.clump
    return replace(result, seeds=places, radii=radii, clump=clump)


def find_second_nuclei(nuclei: NDArray[np.int32], mean_area: float | None = None) -> NDArray[np.int32] | None:
    """Number of a second nucleus (H, W) at the pixels of a label image of nuclei that belong to two; None for no pixel.

    A pixel in three nuclei names the lowest number beside its own.
    """
    if not _touching(nuclei).size:
        return None
    whole = evolve_nuclei(nuclei, joined=True, mean_area=mean_area)
    second = np.zeros_like(nuclei)
    for index, crop in enumerate(whole.crops):
        box = crop.box
        others = (nuclei[box] > 0) & (nuclei[box] != index + 1) & (second[box] == 0)
        second[box][crop.mask & others] = index + 1
    return second if second.any() else None


def _touching(nuclei: NDArray[np.int32]) -> NDArray[np.int64]:
    """Numbers of the nuclei that touch another, by a side or a corner."""
    padded = np.pad(nuclei, 1)
    flat, width = padded.ravel(), padded.shape[1]
    places = np.flatnonzero(flat)  # few of a large image
    own, names = flat[places], []
    for step in (1, width, width + 1, width - 1):
        other = flat[places + step]
        meeting = (other > 0) & (other != own)
        names += [own[meeting], other[meeting]]
    return np.unique(np.concatenate(names)).astype(np.int64)
