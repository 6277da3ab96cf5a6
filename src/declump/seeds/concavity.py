"""Cuts through a clump between the notches of its outline.

Where the outlines of two convex objects cross, the outline of their union turns inwards at a corner, however much they
overlap. Two such notches that face each other are the ends of the line along which the two objects meet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ARM = 0.35
"""How far along the outline to both sides a notch is looked at, in depths of the object it lies on."""
SHORTEST_ARM = 3.0
"""The same at least, in pixels: below that the outline is that of the pixels."""
STEP = 0.5
"""Distance in pixels between two looks at the outline."""
SMOOTHING = 1.0
"""Standard deviation in pixels of the smoothing that takes the stairs of the pixels out of an outline."""
DEPTH, GRAIN = 0.08, 0.25
"""A notch lies deeper below the line between the ends of its arms than this share of an arm, and this many pixels."""
ALIGNED = np.cos(np.radians(50))
"""A cut leaves a notch within this angle, as a cosine, of the direction in which the notch points."""
LONGEST_CUT = 1.05
"""A cut is at most this many times as long as the objects at its ends are wide."""


@dataclass(frozen=True)
class SizedOutline:
    """One closed outline, smooth.

    Attributes
    ----------
    points : (n, 2) float64
        Row and column, about ``STEP`` apart.
    length : float
        In pixels.
    sizes : (n,) float64
        Depth of the object that each point lies on, in pixels.
    """

    points: Floats
    length: float
    sizes: Floats


@dataclass(frozen=True)
class Notches:
    """Inward corners of the outline of one piece of a mask.

    Attributes
    ----------
    points : (M, 2) float64
        Row and column.
    inwards : (M, 2) float64
        Unit vectors that halve the corners and point into the mask.
    sizes : (M,) float64
        Depth of the object that each lies on, in pixels.
    """

    points: Floats
    inwards: Floats
    sizes: Floats


@dataclass(frozen=True)
class Cut:
    """A straight cut from notch to notch.

    Attributes
    ----------
    start, end : (2,) float64
        Row and column of the notches.
    shape : (H, W)
        Size of the mask.
    """

    start: Floats
    end: Floats
    shape: tuple[int, ...]

    @property
    def pixels(self) -> NDArray[np.int64]:
        """Rows and columns (L, 2) of its pixels, a 4-connected line, so that not even corners of the sides touch."""
        from skimage.draw import line

        rows, columns = line(*np.rint(self.start).astype(int), *np.rint(self.end).astype(int))
        steps, elbows = np.column_stack([rows, columns]), np.column_stack([rows[:-1], columns[1:]])
        return np.asarray(np.clip(np.vstack([steps, elbows]), 0, np.array(self.shape) - 1))


def cuts_between_notches(mask: NDArray[np.bool_], outlines: list[SizedOutline]) -> list[Cut]:
    """Find where a connected mask is to be cut: between notches of its outline that face each other.

    Parameters
    ----------
    mask : (H, W) bool
    outlines : list of SizedOutline
        Of the mask; see :func:`trace_outlines`.
    """
    return [Cut(start, end, mask.shape) for start, end in _cuts(mask, find_notches(outlines))]


def find_notches(outlines: list[SizedOutline]) -> Notches:
    """Find the inward corners of outlines."""
    found: list[tuple[Floats, Floats, Floats]] = []
    for outline in outlines:
        chosen, normals = notch_places(outline.points, outline.length, outline.sizes)
        found.append((outline.points[chosen], normals, outline.sizes[chosen]))
    return Notches(*(np.concatenate(part) for part in zip(*found, strict=True)))


def trace_outlines(mask: NDArray[np.bool_], deep: Floats, depth: Floats) -> list[SizedOutline]:
    """Smooth outlines of a mask and of its holes.

    Parameters
    ----------
    mask : (H, W) bool
    deep : (N, 2) float64
        Its deep places, which tell how large objects are there (:func:`declump.seeds.distance.deepest_places`).
    depth : (H, W) float64
    """
    from scipy.spatial import KDTree
    from skimage.measure import find_contours

    deep_depths = depth[tuple(np.floor(deep + 0.5).astype(int).T)]
    tree = KDTree(deep)
    result = []
    for outline in find_contours(np.pad(mask, 1).astype(np.float64), 0.5):
        points, length = smooth_evenly(outline[:-1] - 1)
        # A point belongs to the object to whose outline, were it a disc, it is nearest.
        _, near = tree.query(points, k=range(1, min(8, len(deep)) + 1))
        ratios = np.linalg.norm(points[:, None] - deep[near], axis=2) / deep_depths[near]
        sizes = deep_depths[near[np.arange(len(points)), ratios.argmin(axis=1)]]
        result.append(SizedOutline(points, length, sizes))
    return result


def smooth_evenly(outline: Floats) -> tuple[Floats, float]:
    """Smooth closed outline (n, 2), points about ``STEP`` apart, and its length."""
    from scipy import ndimage

    closed = np.vstack([outline, outline[:1]])
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))])
    places = np.linspace(0, along[-1], max(int(along[-1] / STEP), 8), endpoint=False)
    even = np.column_stack([np.interp(places, along, part) for part in closed.T])
    smooth = ndimage.gaussian_filter1d(even, SMOOTHING / STEP, axis=0, mode="wrap")
    return smooth, float(along[-1])


def notch_places(points: Floats, length: float, sizes: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Where on one closed outline the notches are, as indices (m,) of its points, and how (m, 2) they point inwards.

    Parameters
    ----------
    points : (n, 2) float64
        Row and column, evenly spaced, as :func:`smooth_evenly` gives them.
    length : float
        Of the outline, in pixels.
    sizes : (n,) float64
        Depth in pixels of the object that each point lies on.
    """
    from scipy import ndimage

    below, arms, normal = bends(points, length, sizes)
    excess = below - DEPTH * arms - GRAIN
    reach = int(np.median(arms) / (length / len(points)) + 0.5)
    highest = excess >= ndimage.maximum_filter1d(excess, 2 * reach + 1, mode="wrap")
    chosen = np.flatnonzero(highest & (excess > 0))
    return chosen, normal[chosen]


def bends(points: Floats, length: float, sizes: Floats) -> tuple[Floats, Floats, Floats]:
    """How an outline bends at each point; see :func:`notch_places`.

    Returns
    -------
    below : (n,) float64
        How far a point lies inwards of the line between the ends of its arms, in pixels.
    arms : (n,) float64
        Length of an arm, in pixels.
    inwards : (n, 2) float64
        Unit vectors into the mask.
    """
    count = len(points)
    spacing = length / count
    steps = np.rint(np.maximum(ARM * sizes, SHORTEST_ARM) / spacing).astype(int)
    steps = np.clip(steps, 1, max(count // 4, 1))
    index = np.arange(count)
    before, after = points[index - steps], points[(index + steps) % count]
    chord = after - before
    reach = np.maximum(np.hypot(*chord.T), 1e-9)
    # find_contours runs with the mask, the higher values, always on the same side: the normal points into it.
    normal = np.column_stack([chord[:, 1], -chord[:, 0]]) / reach[:, None]
    below = np.sum((points - (before + after) / 2) * normal, axis=1)
    return below, steps * spacing, normal


def _cuts(mask: NDArray[np.bool_], notches: Notches) -> list[tuple[Floats, Floats]]:
    """Ends of the cuts between notches that face each other, the shortest first.

    At first each notch serves once. Corners left over may then share one: where three objects meet in a bend, two
    notches have become one.
    """
    points, inwards = notches.points, notches.inwards
    candidates: list[tuple[float, int, int]] = []
    for first in range(len(points)):
        offsets = points[first + 1 :] - points[first]
        lengths = np.hypot(*offsets.T)
        widths = 2 * np.minimum(notches.sizes[first + 1 :], notches.sizes[first])
        towards = offsets / np.maximum(lengths, 1e-9)[:, None]
        leaving, meeting = towards @ inwards[first], -np.sum(towards * inwards[first + 1 :], axis=1)
        facing = (leaving > ALIGNED) & (meeting > ALIGNED) & (lengths < LONGEST_CUT * widths)
        candidates += [
            (float(lengths[other] / widths[other]), first, first + 1 + int(other)) for other in np.flatnonzero(facing)
        ]
    free = np.ones(len(points), dtype=np.bool_)
    cuts: list[tuple[Floats, Floats]] = []
    for both in (True, False):
        for _, first, second in sorted(candidates):
            start, end = points[first], points[second]
            possible = free[first] & free[second] if both else free[first] | free[second]
            if possible and not _meets(start, end, cuts) and _lies_inside(mask, start, end):
                free[[first, second]] = False
                cuts.append((start, end))
    return cuts


def _meets(start: Floats, end: Floats, cuts: list[tuple[Floats, Floats]]) -> bool:
    """Tell whether a cut crosses one of others, or is one of them."""
    if not cuts:
        return False
    starts, ends = (np.array(part) for part in zip(*cuts, strict=True))

    def side(first: Floats, second: Floats, point: Floats) -> Floats:
        along, offset = second - first, point - first
        return np.asarray(np.sign(along[..., 0] * offset[..., 1] - along[..., 1] * offset[..., 0]))

    crossing = (side(start, end, starts) * side(start, end, ends) < 0) & (
        side(starts, ends, start) * side(starts, ends, end) < 0
    )
    same = ((starts == start) & (ends == end)).all(axis=1) | ((starts == end) & (ends == start)).all(axis=1)
    return bool((crossing | same).any())


def _lies_inside(mask: NDArray[np.bool_], start: Floats, end: Floats) -> bool:
    """Tell whether the line between two points of the outline runs through the mask, its ends apart."""
    steps = max(int(np.hypot(*(end - start))), 2)
    shares = np.linspace(0, 1, steps + 1)[1:-1, None]
    pixels = np.floor((1 - shares) * start + shares * end + 0.5).astype(int)
    return float(mask[tuple(np.clip(pixels, 0, np.array(mask.shape) - 1).T)].mean()) > 0.9
