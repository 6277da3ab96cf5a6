"""Watersheds of scikit-image, to compare with, and how objects are counted as found."""

from __future__ import annotations

import numpy as np
from scipy import ndimage
from scipy.optimize import linear_sum_assignment
from skimage.feature import peak_local_max
from skimage.morphology import h_maxima
from skimage.segmentation import watershed

from declump.evaluation import dice_matrix

IOU = 0.5


def distinct_seeds(masks: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Centres of objects, or the pixel nearest to it; of two objects on one pixel, the second gets the nearest free."""
    taken: set[tuple[int, int]] = set()
    seeds = []
    for mask, seed in zip(masks, centres, strict=True):
        pixels = np.argwhere(mask)
        order = np.argsort(((pixels - np.floor(seed + 0.5)) ** 2).sum(axis=1), kind="stable")
        pixel = next(pixel for pixel in map(tuple, pixels[order].tolist()) if pixel not in taken)
        taken.add(pixel)
        seeds.append(pixel)
    return np.array(seeds, dtype=float).reshape(-1, 2)


def flood(mask: np.ndarray, markers: np.ndarray) -> np.ndarray:
    labels = watershed(-ndimage.distance_transform_edt(mask), markers, mask=mask)
    return labels == np.arange(1, markers.max() + 1)[:, None, None]


def from_points(mask: np.ndarray, points: np.ndarray) -> np.ndarray:
    markers = np.zeros(mask.shape, int)
    markers[tuple(np.floor(points + 0.5).astype(int).T)] = np.arange(1, len(points) + 1)
    return flood(mask, markers)


def from_peaks(mask: np.ndarray, share: float) -> np.ndarray:
    """As in scikit-image's example of the watershed, peaks at least a share of the median depth of all peaks apart."""
    depth = ndimage.distance_transform_edt(mask)
    every = peak_local_max(depth, labels=ndimage.label(mask)[0])
    apart = max(int(share * np.median(depth[tuple(every.T)])), 1)
    return from_points(mask, peak_local_max(depth, min_distance=apart, labels=ndimage.label(mask)[0]).astype(float))


def from_h_maxima(mask: np.ndarray, height: float) -> np.ndarray:
    """Maxima of the distance to the outline that stand out by some pixels."""
    markers, _ = ndimage.label(h_maxima(ndimage.distance_transform_edt(mask), height), np.ones((3, 3)))
    return flood(mask, markers)


def counts(truth: np.ndarray, found: np.ndarray) -> tuple[int, int, int]:
    """Pairs with enough of their union in common, true objects, found objects."""
    dice = dice_matrix(truth, found)
    enough = dice / (2 - dice) >= IOU
    return int(enough[linear_sum_assignment(enough, maximize=True)].sum()), len(truth), len(found)
