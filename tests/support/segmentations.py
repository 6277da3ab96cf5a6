"""Segmentations to write: random ones for properties, and one with all that is awkward."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from declump.records.crops import Crop
from declump.records.segmentation import ClumpRecord, Segmentation
from declump.shapes import contours

SHAPE = (60, 70)


def segmentation(count: int = 6, rng: int = 0, rays: int = 48, nuclei: bool = True) -> Segmentation:
    """Cells that overlap, some cut by the border of the image, the last without a clump, an outline or a nucleus."""
    generator = np.random.default_rng(rng)
    radii = 12 + 3 * np.cumsum(generator.normal(0, 0.1, (count, rays)), axis=1)
    radii = np.abs(radii - np.linspace(0, 1, rays) * (radii[:, -1:] - radii[:, :1])) + 2
    seeds = generator.uniform(4, np.array(SHAPE) - 4, (count, 2))
    clump = np.zeros(count, dtype=np.int64)
    if count:
        radii[-1], clump[-1] = 0, -1
    labels = np.zeros(SHAPE, np.int32)
    for index in range(count - 1):
        nucleus = contours.to_mask(seeds[index], radii[index] / 4, SHAPE)
        labels[nucleus & (labels == 0)] = index + 1
    clumps = (ClumpRecord(900, (500, 40, 17), "explained"), ClumpRecord(12, (12,), "no seed"))
    return Segmentation(SHAPE, seeds, radii, clump, clumps, labels if nuclei else None)


def segmentations() -> st.SearchStrategy[Segmentation]:
    return st.builds(segmentation, st.integers(0, 9), st.integers(0, 1000), st.sampled_from([16, 48]), st.booleans())


def pasted(crop: Crop, shape: tuple[int, int] = SHAPE) -> np.ndarray:
    """Mask of a whole image from a crop."""
    mask = np.zeros(shape, bool)
    mask[crop.box] = crop.mask
    return mask


def overlap(first: np.ndarray, second: np.ndarray) -> float:
    """Intersection over union of two masks."""
    return float((first & second).sum() / (first | second).sum())


def three_cells() -> Segmentation:
    """Two that overlap, nuclei included, and one apart."""
    masks = np.zeros((3, 80, 120), np.bool_)
    rows, columns = np.mgrid[:80, :120]
    seeds = np.array([(40.0, 30.0), (40.0, 55.0), (40.0, 95.0)])
    nuclei = np.zeros((80, 120), np.int32)
    for index, (row, column) in enumerate(seeds):
        masks[index] = np.hypot(rows - row, columns - column) < 18
        nuclei[np.hypot(rows - row, columns - column) < 4] = index + 1
    return Segmentation.from_masks(masks, seeds, nuclei=nuclei)
