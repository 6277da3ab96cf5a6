"""Nuclei and other objects, read from the maps of the smear network: a peak each, and its outline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump._kernels import fill_holes
from declump.regions.inference import KINDS, Maps
from declump.regions.nuclei import FAINT, OUTLINE, SMOOTHING, is_cut

Floats = NDArray[np.float32]

LEAST = (0.1, 0.3)
"""Least height of the peak of a nucleus, and of a leukocyte."""
APART = 0.35
"""A peak is the highest of what is so near to it, in diameters of a nucleus."""
PALEST = 0.04
"""Where the network sees a centre and no nucleus, the outline lies at a share of a probability of at least this."""
SMALLEST = 0.3
"""Diameter of an object without an outline, in those of a nucleus."""


@dataclass(frozen=True, eq=False)
class Objects:
    """Objects of all kinds, the nuclei of cells among them, in the order of their first pixels.

    Attributes
    ----------
    labels : (H, W) int32
        Number of the object, from 1, at each of its pixels.
    kinds : (N, 4) float32
        How probable it is that each is a nucleus, a leukocyte, a red cell or something else.
    grades : (N, 2) float32
        That it is an abnormal nucleus, and one of high grade.
    """

    labels: NDArray[np.int32]
    kinds: Floats
    grades: Floats


def find_objects(maps: Maps, diameter: float, *, min_area: float = 0.0, cut: bool = False) -> Objects:
    """Find nuclei and leukocytes, and outline them.

    Touching nuclei are parted where the nearness to their centres is lowest between them. The outline of a nucleus lies
    at a share of its own highest probability: a doubtful one is not drawn too small.

    Parameters
    ----------
    maps : Maps
        Of the smear network.
    diameter : float
        Usual diameter of a nucleus in pixels.
    min_area : float
        Smallest area in square pixels.
    cut : bool
        Whether objects that the image border cuts are kept.
    """
    assert maps.centres is not None and maps.centre_map is not None, "only the smear network tells centres"
    heat = np.max([np.where(kind >= least, kind, 0) for kind, least in zip(maps.centres, LEAST, strict=False)], axis=0)
    peaks = find_peaks(heat, diameter)
    parts = _part(maps.classes[2], maps.centre_map, peaks, diameter)
    labels, kept = _outline(parts, maps.classes[2], peaks, diameter, min_area, cut)
    near = _look_near(maps.centres, peaks[kept], max(round(APART * diameter / 2), 1))
    return Objects(labels, near[:, : len(KINDS)], near[:, len(KINDS) :])


def find_peaks(heat: Floats, diameter: float, least: float = LEAST[0]) -> NDArray[np.int64]:
    """Rows and columns (N, 2) of the peaks of a heat map (H, W), in the order of their pixels."""
    reach = max(round(APART * diameter), 1)
    rows, columns = np.nonzero((ndimage.maximum_filter(heat, 2 * reach + 1, mode="nearest") == heat) & (heat >= least))
    kept: list[tuple[int, int]] = []
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):  # equal neighbours are one peak
        if all(max(abs(row - other[0]), abs(column - other[1])) > reach for other in kept[-50:]):
            kept.append((row, column))
    return np.array(kept, np.int64).reshape(-1, 2)


def _part(nucleus: Floats, nearness: Floats, peaks: NDArray[np.int64], diameter: float) -> NDArray[np.int32]:
    """Number the pixels (H, W) that belong to each peak."""
    from skimage.segmentation import watershed

    markers = np.zeros(nucleus.shape, np.int32)
    markers[tuple(peaks.T)] = np.arange(1, len(peaks) + 1)
    mask = nucleus >= FAINT
    reach = round(diameter / 2)
    disc = np.hypot(*np.ogrid[-reach : reach + 1, -reach : reach + 1]) <= diameter / 2
    for row, column in peaks.tolist():
        box = tuple(slice(max(at - reach, 0), at + reach + 1) for at in (row, column))
        part = disc[
            tuple(
                slice(max(reach - at, 0), max(reach - at, 0) + extent)
                for at, extent in zip((row, column), mask[box].shape, strict=True)
            )
        ]
        if not (mask[box] & part).any():
            palest = max(OUTLINE * float(nucleus[box][part].max()), PALEST)
            mask[box] |= part & (nucleus[box] >= palest)
        mask[row, column] = True
    smooth = ndimage.gaussian_filter(nearness, SMOOTHING * diameter)
    return np.asarray(watershed(-smooth, markers, mask=mask), np.int32)


def _outline(
    parts: NDArray[np.int32], nucleus: Floats, peaks: NDArray[np.int64], diameter: float, min_area: float, cut: bool
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Labels (H, W) of the outlined parts, and which peaks they belong to."""
    from skimage.measure import regionprops

    drawn = np.zeros(parts.shape, np.int32)
    for number, box in enumerate(ndimage.find_objects(parts), start=1):
        if box is None:
            continue
        own, likely = parts[box] == number, nucleus[box]
        level = OUTLINE * float(np.percentile(likely[own], 90))
        core, count = ndimage.label(own & (likely >= level))
        largest = core == np.bincount(core.ravel(), minlength=2)[1:].argmax() + 1 if count else own
        drawn[box][fill_holes(np.ascontiguousarray(largest))] = number
    least = SMALLEST**2 * np.pi * diameter**2 / 4
    small = np.bincount(drawn.ravel(), minlength=len(peaks) + 1)[1:] < least
    rows, columns = np.ogrid[: parts.shape[0], : parts.shape[1]]
    for index in np.flatnonzero(small).tolist():
        row, column = peaks[index]
        reach = int(np.ceil(SMALLEST * diameter / 2))
        box = (slice(max(row - reach, 0), row + reach + 1), slice(max(column - reach, 0), column + reach + 1))
        disc = (rows[box[0]] - row) ** 2 + (columns[:, box[1]] - column) ** 2 <= (SMALLEST * diameter / 2) ** 2
        drawn[box][disc & (drawn[box] == 0)] = index + 1
    kept = [
        piece.label - 1
        for piece in regionprops(drawn)
        if piece.area >= min_area and (cut or not is_cut(piece, parts.shape))
    ]
    first = np.full(len(peaks) + 1, drawn.size, np.int64)
    places = np.flatnonzero(drawn)
    np.minimum.at(first, drawn.ravel()[places], places)
    order = np.array(sorted(kept, key=lambda index: int(first[index + 1])), np.int64)
    numbers = np.zeros(len(peaks) + 1, np.int32)
    numbers[order + 1] = np.arange(1, len(order) + 1)
    return numbers[drawn], order


def _look_near(centres: Floats, peaks: NDArray[np.int64], reach: int) -> Floats:
    """Highest value (N, C) of every map near each peak: maps of different kinds need not have it at the same place."""
    found = np.empty((len(peaks), len(centres)), np.float32)
    for index, (row, column) in enumerate(peaks.tolist()):
        box = centres[:, max(row - reach, 0) : row + reach + 1, max(column - reach, 0) : column + reach + 1]
        found[index] = box.max(axis=(1, 2))
    return found
