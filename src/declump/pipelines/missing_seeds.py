"""Seeds that were missed: what the outlines of the others leave of a clump asks for them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.evidence.candidates import take_candidates
from declump.records.regions import Regions, seeds_from_labels
from declump.records.segmentation import Segmentation

MIN_PART = 0.5
"""A part of a clump that no cell explains asks for a seed if it is this large, in median areas of the cells."""
THREAD = 0.25
"""What is narrower than this many median radii of the cells is a rim of outlines that do not quite fit, not a cell."""
FAINT = 0.3
"""A spot in such a part is its nucleus from this share of the least probability of a nucleus on."""

Box = tuple[slice, slice]


def find_missing_seeds(segmentation: Segmentation, clump: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Propose seeds (S, 2) for large parts of a clump (H, W) that no cell explains, each at its most inner point.

    Parts at the image border are left out: there, the nucleus of a cell may lie outside the image.
    """
    seeds = []
    for part, box in _find_unexplained(segmentation, clump):
        depth = ndimage.distance_transform_edt(np.pad(part, 1))
        row, column = np.unravel_index(depth.argmax(), depth.shape)
        seeds.append((box[0].start + row - 1, box[1].start + column - 1))
    return np.array(seeds, dtype=np.float64).reshape(-1, 2)


def find_missing_nuclei(
    segmentation: Segmentation, regions: Regions, *, min_nucleus: float, cell_area: float | None = None
) -> Regions:
    """Make nuclei of candidates in large parts of a clump that no cell explains: the most probable one in each.

    Parameters
    ----------
    segmentation : Segmentation
        With a cell for each nucleus of the regions.
    regions : Regions
        With candidates that a judge looked at.
    min_nucleus : float
        Least probability of a nucleus; for these a share of it is enough, because something must explain the part. A
        part without even such a spot gets no cell: cytoplasm without a nucleus is not told from debris.
    cell_area : float, optional
        Usual area of a cell in square pixels; by default the median of the segmentation.

    Returns
    -------
    Regions
        With the new nuclei after the others.
    """
    assert regions.candidates is not None and regions.candidate_probability is not None
    places = np.floor(seeds_from_labels(regions.candidates) + 0.5).astype(np.int64)
    probability = np.where(regions.clump[tuple(places.T)], regions.candidate_probability, 0.0)
    taken: list[int] = []
    for part, box in _find_unexplained(segmentation, regions.clump, cell_area):
        inner = places - (box[0].start, box[1].start)
        within = np.asarray(((inner >= 0) & (inner < part.shape)).all(axis=1))
        within[within] = part[tuple(inner[within].T)]
        if within.any():
            best = int(np.argmax(np.where(within, probability, -1.0)))
            if probability[best] >= FAINT * min_nucleus:
                taken.append(best)
    chosen = np.array(sorted(taken), dtype=np.int64)
    nuclei = regions.nuclei.copy()
    for number, candidate in enumerate(chosen, start=len(regions.seeds) + 1):
        nuclei[(regions.candidates == candidate + 1) & regions.clump] = number
    return take_candidates(regions, nuclei, chosen) if chosen.size else regions


def _find_unexplained(
    segmentation: Segmentation, clump: NDArray[np.bool_], cell_area: float | None = None
) -> Iterator[tuple[NDArray[np.bool_], Box]]:
    """Masks and boxes of the large parts of a clump that no cell explains, none at the image border."""
    areas = segmentation.areas[segmentation.areas > 0]
    if not areas.size:
        return
    usual = float(np.median(areas)) if cell_area is None else cell_area
    left = clump.copy()
    for crop in segmentation.crops:
        left[crop.box] &= ~crop.mask
    thread = max(round(THREAD * np.sqrt(usual / np.pi)), 1)
    pieces, _ = ndimage.label(left)
    sizes = np.bincount(pieces[left])
    for number, outer in enumerate(ndimage.find_objects(pieces), start=1):
        # A disc that fits into what is left fits into one piece of it.
        if sizes[number] < MIN_PART * usual:
            continue
        parts, _ = ndimage.label(_open(pieces[outer] == number, thread))
        for inner_number, inner in enumerate(ndimage.find_objects(parts), start=1):
            part = parts[inner] == inner_number
            rows, columns = (
                slice(within.start + start.start, within.stop + start.start)
                for within, start in zip(inner, outer, strict=True)
            )
            at_border = any(
                side.start == 0 or side.stop == extent
                for side, extent in zip((rows, columns), clump.shape, strict=True)
            )
            if not at_border and part.sum() >= MIN_PART * usual:
                yield part, (rows, columns)


def _open(mask: NDArray[np.bool_], radius: int) -> NDArray[np.bool_]:
    """Keep of a mask (H, W) what discs of a radius that lie within it cover; nothing lies beyond its border."""
    inner = ndimage.distance_transform_edt(np.pad(mask, 1)) > radius
    return np.asarray(ndimage.distance_transform_edt(~inner) <= radius)[1:-1, 1:-1] if inner.any() else mask & False
