"""Parts of a mask as a graph: how large, deep and convex each is, and what is seen at the border of two neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from declump.seeds.outline import Outline

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

PAIR_FEATURES = (
    "neck",
    "border",
    "hollow",
    "hollow gained",
    "hollow of the parts",
    "shallower notch",
    "deeper notch",
    "blunter corner",
    "sharper corner",
    "roughness",
    "open ends",
    "ratio of areas",
    "size",
    "distance",
    "outside",
    "outside gained",
    "covered",
)
"""Features of two neighbours, in the order of :meth:`RegionGraph.pair_features`; only size and roughness have units."""
HALF_PIXEL = 0.5
MAX_OUTSIDE = 3.0
"""Values beyond which it does not matter how much of a hull lies outside the mask."""
RING = np.linspace(0, 2 * np.pi, 48, endpoint=False)
DISC = np.concatenate([share * np.column_stack([np.sin(RING), np.cos(RING)]) for share in (1.0, 0.6)])
"""Points of a disc that are looked at to tell whether others cover it."""


@dataclass(frozen=True)
class MaskPart:
    """One part, or several that have been joined.

    Attributes
    ----------
    labels : tuple of int
        Which parts of the first division it holds.
    area : int
        In pixels.
    depth, place
        Greatest distance to the outline of the mask, and row and column where it is.
    hull : (V, 2) float64
        Corners of the convex hull of its pixels.
    hull_area, outside
        In pixels: of the hull, and of what of the hull lies outside the mask.
    """

    labels: tuple[int, ...]
    area: int
    depth: float
    place: Floats
    hull: Floats
    hull_area: float
    outside: int

    @property
    def hollow(self) -> float:
        """Share of the hull that the part does not fill."""
        return 1 - self.area / self.hull_area


class RegionGraph:
    """The parts of a connected mask and the borders between them.

    Parameters
    ----------
    labels : (H, W) int32
        Parts, numbered from 1.
    depth : (H, W) float64
        Distance of each pixel to the outline of the mask; see :func:`declump.seeds.distance.depths`.
    outline : Outline
        Of the mask.

    Attributes
    ----------
    parts : dict of int to MaskPart
        By their numbers; a part that has been joined has the number of the first.
    borders : dict of int to dict of int to (L, 4) int64
        Of each part and neighbour, the pairs of pixels (row, column, row, column) on either side.
    """

    def __init__(self, labels: Labels, depth: Floats, outline: Outline) -> None:
        from scipy import ndimage

        self._labels, self._depth, self._outline, self._mask = labels, depth, outline, labels > 0
        # As for depths, the image border, where objects are only cut, is no outline.
        self._rim = self._mask & ~ndimage.minimum_filter(self._mask, 3, mode="nearest")
        numbers = np.arange(1, int(labels.max()) + 1)
        areas = np.bincount(labels.ravel(), minlength=numbers.size + 1)[1:]
        depths = np.asarray(ndimage.maximum(depth, labels, numbers))
        places = np.array(ndimage.maximum_position(depth, labels, numbers), dtype=np.float64).reshape(-1, 2)
        self.parts = {
            int(number): self._part(
                (int(number),), int(areas[number - 1]), float(depths[number - 1]), places[number - 1], corners
            )
            for number, corners in zip(numbers, _corners(labels), strict=True)
        }
        self.borders: dict[int, dict[int, NDArray[np.int64]]] = {int(number): {} for number in numbers}
        for first, second, sides in borders_between(labels):
            self.borders[first][second] = self.borders[second][first] = sides

    @property
    def labels(self) -> Labels:
        """The parts (H, W) as they are now, numbered from 1 without gaps."""
        numbers = np.zeros(int(self._labels.max()) + 1, dtype=np.int32)
        for number, part in enumerate(self.parts.values(), start=1):
            numbers[list(part.labels)] = number
        return np.asarray(numbers[self._labels])

    def neighbours(self) -> list[tuple[int, int]]:
        """Numbers of all parts that touch, the smaller number first."""
        return [(first, second) for first, others in self.borders.items() for second in others if first < second]

    def pairs_of(self, number: int) -> list[tuple[int, int]]:
        """Numbers of a part and of each of its neighbours, the smaller number first."""
        return [(min(number, other), max(number, other)) for other in self.borders[number]]

    def pair_features(self, first: int, second: int) -> Floats:
        """Measure the features (F,) of two neighbours: :data:`PAIR_FEATURES`."""
        one, two = self.parts[first], self.parts[second]
        both = self._merge(one, two)
        sides = self.borders[first][second]
        middles = (sides[:, :2] + sides[:, 2:]) / 2
        depth = max(float(self._depth[tuple(side.T)].max()) for side in (sides[:, :2], sides[:, 2:]))
        shallow = min(one.depth, two.depth) + HALF_PIXEL
        length, ends = _extent(middles)
        notches = np.sort(_distance_inside(middles[ends], both.hull)) / shallow
        corners = np.sort(self._outline.corners(middles[ends]))
        is_open = [self._rim[tuple(sides[end, :2])] or self._rim[tuple(sides[end, 2:])] for end in ends]
        smaller, larger = sorted((one.area, two.area))
        own_hollow = 1 - both.area / (one.hull_area + two.hull_area)
        gained = both.outside - one.outside - two.outside
        return np.array(
            [
                np.log((depth + HALF_PIXEL) / shallow),
                length / (2 * shallow),
                both.hollow,
                both.hollow - own_hollow,
                max(one.hollow, two.hollow),
                notches[0],
                notches[1],
                corners[0],
                corners[1],
                self._outline.roughness,
                sum(is_open),
                np.log(smaller / larger),
                np.log(shallow),
                np.hypot(*(one.place - two.place)) / (one.depth + two.depth),
                min(both.outside / smaller, MAX_OUTSIDE),
                np.clip(gained / smaller, -MAX_OUTSIDE, MAX_OUTSIDE),
                self.covered(first if one.depth < two.depth else second),
            ]
        )

    def covered(self, number: int) -> float:
        """Share of the disc that fits in at a part's deepest place that those of its neighbours cover."""
        part = self.parts[number]
        others = [self.parts[other] for other in self.borders[number]]
        points = part.place + part.depth * DISC
        shares = [np.hypot(*(points - other.place).T) <= other.depth + HALF_PIXEL for other in others]
        return float(np.any(shares, axis=0).mean()) if shares else 0.0

    def is_cut(self, number: int) -> bool:
        """Tell whether a part is deepest at a border."""
        place = self.parts[number].place
        sides = [sides.reshape(-1, 2) for sides in self.borders[number].values()]
        return any(bool((np.abs(side - place).max(axis=1) <= 1).any()) for side in sides)

    def join(self, first: int, second: int) -> int:
        """Make one of two neighbours, and return its number."""
        kept, gone = min(first, second), max(first, second)
        self.parts[kept] = self._merge(self.parts[kept], self.parts.pop(gone))
        for other, sides in self.borders.pop(gone).items():
            del self.borders[other][gone]
            if other != kept:
                known = self.borders[kept].get(other)
                joint = sides if known is None else np.vstack([known, sides])
                self.borders[kept][other] = self.borders[other][kept] = joint
        return kept

    def _part(self, labels: tuple[int, ...], area: int, depth: float, place: Floats, points: Floats) -> MaskPart:
        from scipy.spatial import ConvexHull

        hull = ConvexHull(points)
        corners = np.asarray(points[hull.vertices])
        return MaskPart(labels, area, depth, place, corners, float(hull.volume), self._outside(corners))

    def _merge(self, one: MaskPart, two: MaskPart) -> MaskPart:
        deeper = one if one.depth >= two.depth else two
        points = np.vstack([one.hull, two.hull])
        return self._part(one.labels + two.labels, one.area + two.area, deeper.depth, deeper.place, points)

    def _outside(self, corners: Floats) -> int:
        """Count the pixels within corners that are not of the mask; those beyond the image are not known."""
        from skimage.draw import polygon

        rows, columns = polygon(corners[:, 0], corners[:, 1], self._mask.shape)
        return int(rows.size - np.count_nonzero(self._mask[rows, columns]))


def _corners(labels: Labels) -> list[Floats]:
    """Corners (M, 2) of the pixels at the edge of each part."""
    padded = np.pad(labels, 1)
    inner = padded[1:-1, 1:-1]
    others = (padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:])
    rows, columns = np.nonzero((inner > 0) & np.any([other != inner for other in others], axis=0))
    names = labels[rows, columns]
    order = np.argsort(names, kind="stable")
    pixels = np.column_stack([rows, columns])[order].astype(np.float64)
    starts = np.searchsorted(names[order], np.arange(2, int(labels.max()) + 1))
    offsets = HALF_PIXEL * np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)])
    return [(group[:, None] + offsets).reshape(-1, 2) for group in np.split(pixels, starts)]


def borders_between(labels: Labels) -> list[tuple[int, int, NDArray[np.int64]]]:
    """Parts that share sides of pixels, and these: numbers, and (L, 4) pixels on both sides."""
    found = []
    for down, right in ((0, 1), (1, 0)):
        before, after = labels[: labels.shape[0] - down, : labels.shape[1] - right], labels[down:, right:]
        rows, columns = np.nonzero((before != after) & (before > 0) & (after > 0))
        pair = np.sort(np.column_stack([before[rows, columns], after[rows, columns]]), axis=1)
        found.append(np.column_stack([pair, rows, columns, rows + down, columns + right]))
    every = np.concatenate(found).astype(np.int64)
    if not len(every):
        return []
    every = every[np.lexsort((every[:, 1], every[:, 0]))]
    starts = np.flatnonzero(np.any(np.diff(every[:, :2], axis=0) != 0, axis=1)) + 1
    return [(int(group[0, 0]), int(group[0, 1]), group[:, 2:]) for group in np.split(every, starts)]


def _extent(points: Floats) -> tuple[float, list[int]]:
    """How long points lie along the line that fits them best, and which of them are at its ends."""
    offsets = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(offsets.T @ offsets)
    along = offsets @ axes[:, -1]
    return float(np.ptp(along)) + 1, [int(along.argmin()), int(along.argmax())]


def _distance_inside(points: Floats, hull: Floats) -> Floats:
    """How far points lie from the sides of a convex hull whose corners are in order."""
    sides = np.roll(hull, -1, axis=0) - hull
    sides /= np.hypot(*sides.T)[:, None]
    offsets = points[:, None] - hull
    across = sides[:, 0] * offsets[..., 1] - sides[:, 1] * offsets[..., 0]
    return np.asarray(np.abs(across).min(axis=1))
