"""Which nucleus belongs to which cell, when the data gives only the union of all nuclei.

Nuclei of neighbours lie inside a cell too, so containment alone does not tell; the assignment is one to one over the
whole image. A pair costs the more, the less of the nucleus lies in the cell and the farther it is from the cell's
middle:

    cost = (distance to the cell's centroid / radius of a disc of the cell's area)^2
         + (1 - mean depth of the nucleus in the cell / greatest depth of the cell)^2
         + (1 - share of the nucleus inside the cell)

A nucleus that lies in a single cell goes to that cell before any shared one. A cell left without a nucleus makes a
component be cut in two (nuclei that touch or overlap): the one whose cut gives the cheapest assignment, where a cut
through a waist is free and one through a convex blob is not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MIN_SHARE = 0.5
"""Least share of a component inside a cell for it to be that cell's nucleus."""
SPECK = 0.05
"""A component below this share of the median area never wins by lying in a single cell."""
WAIST = 1.0
"""Depth in pixels by which both halves must exceed the waist between them for a component to be cut there."""
_NO_NUCLEUS = 1e3
_SINGLE_CELL = -10.0
_CONVEX_CUT = 1.0

_Pixels = tuple[NDArray[np.intp], NDArray[np.intp]]


def assign_nuclei(cells: NDArray[np.bool_], nuclei: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Give each cell its own nucleus out of a union mask, one to one.

    Parameters
    ----------
    cells : (N, H, W) bool array
        The whole mask of each cell; none may be empty.
    nuclei : (H, W) bool array
        Union of all nuclei; its 8-connected components are the nuclei, except that a component which has to serve
        several cells is cut. Surplus components stay unassigned.

    Returns
    -------
    labels : (H, W) int32 array
        ``i + 1`` on the nucleus of cell ``i`` (clipped to that cell), 0 elsewhere.
    seeds : (N, 2) float64 array
        Centroid (row, column) of each nucleus, or its pixel nearest to the centroid where that lies outside.
        A cell without a nucleus has its deepest point, the one farthest from its outline, and no label.

    Raises
    ------
    ValueError
        If the shapes differ or a cell is empty.
    """
    if cells.ndim != 3 or cells.shape[1:] != nuclei.shape:
        raise ValueError(
            f"cells must be (N, H, W) and nuclei (H, W) of the same image, got {cells.shape} and {nuclei.shape}."
        )
    empty = np.flatnonzero(~cells.any(axis=(1, 2)))
    if empty.size:
        raise ValueError(f"cell {empty[0]} (counted from 0) has an empty mask; remove it or draw its mask.")
    depths = [_Depth(cell) for cell in cells]
    components = _find_components(nuclei)
    areas = [len(rows) for rows, _ in components]
    smallest = SPECK * float(np.median(areas)) if areas else 0.0
    costs = [_compute_costs(pixels, cells, depths, smallest) for pixels in components]
    owners, total = _assign(costs, len(cells))
    while components and (owners < 0).any():
        best = None
        for index, pixels in enumerate(components):
            if not np.isfinite(costs[index]).any() or len(pixels[0]) < 2:
                continue
            halves, penalty = _cut(pixels)
            trial_costs = [*costs[:index], *costs[index + 1 :]]
            trial_costs += [_compute_costs(half, cells, depths, smallest) for half in halves]
            trial_owners, trial_total = _assign(trial_costs, len(cells))
            if best is None or trial_total + penalty < best[0]:
                best = trial_total + penalty, index, halves, trial_costs, trial_owners, trial_total
        if best is None or best[-1] > total - _NO_NUCLEUS / 2:
            break
        _, index, halves, costs, owners, total = best
        components = [*components[:index], *components[index + 1 :], *halves]
    labels = np.zeros(nuclei.shape, np.int32)
    seeds = np.empty((len(cells), 2))
    for cell, owner in enumerate(owners):
        if owner < 0:
            seeds[cell] = depths[cell].deepest
            continue
        rows, columns = components[owner]
        inside = cells[cell, rows, columns]
        labels[rows[inside], columns[inside]] = cell + 1
        seeds[cell] = centre(rows[inside], columns[inside])
    return labels, seeds


class _Depth:
    """Distance of a cell's pixels to its outline; the image border, where a cell is only cut, is no outline."""

    def __init__(self, cell: NDArray[np.bool_]) -> None:
        from scipy import ndimage

        rows, columns = np.flatnonzero(cell.any(axis=1)), np.flatnonzero(cell.any(axis=0))
        self.top, self.left = max(rows[0] - 1, 0), max(columns[0] - 1, 0)
        window = cell[self.top : rows[-1] + 2, self.left : columns[-1] + 2]
        self.distance: NDArray[np.float64] = ndimage.distance_transform_edt(window)
        self.greatest = float(self.distance.max())
        self.radius = float(np.sqrt(window.sum() / np.pi))
        origin = np.array([self.top, self.left])
        self.centroid = np.argwhere(window).mean(axis=0) + origin
        self.deepest = np.array(np.unravel_index(self.distance.argmax(), window.shape)) + origin

    def mean(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> float:
        """Mean depth over pixels that all lie in the cell."""
        return float(self.distance[rows - self.top, columns - self.left].mean())


def _find_components(mask: NDArray[np.bool_]) -> list[_Pixels]:
    from scipy import ndimage

    labels, _ = ndimage.label(mask, np.ones((3, 3)))
    components = []
    for label, box in enumerate(ndimage.find_objects(labels), start=1):
        rows, columns = np.nonzero(labels[box] == label)
        components.append((rows + box[0].start, columns + box[1].start))
    return components


def _compute_costs(
    pixels: _Pixels, cells: NDArray[np.bool_], depths: list[_Depth], smallest: float
) -> NDArray[np.float64]:
    """Cost (N,) of a component as the nucleus of each cell; infinite where too little of it lies inside."""
    inside = cells[:, pixels[0], pixels[1]]
    shares = inside.mean(axis=1)
    candidates = np.flatnonzero(shares >= MIN_SHARE)
    costs = np.full(len(cells), np.inf)
    middle = np.mean(pixels, axis=1)
    for cell in candidates:
        depth = depths[cell]
        centrality = float(np.linalg.norm(middle - depth.centroid)) / depth.radius
        rows, columns = pixels[0][inside[cell]], pixels[1][inside[cell]]
        shallowness = 1 - depth.mean(rows, columns) / depth.greatest
        costs[cell] = centrality**2 + shallowness**2 + 1 - shares[cell]
    if len(candidates) == 1 and len(pixels[0]) >= smallest:
        costs += _SINGLE_CELL
    return costs


def _assign(costs: list[NDArray[np.float64]], n_cells: int) -> tuple[NDArray[np.intp], float]:
    """Cheapest one-to-one assignment: index of each cell's component or -1, and the total cost."""
    from scipy.optimize import linear_sum_assignment

    matrix = np.full((n_cells, len(costs) + n_cells), _NO_NUCLEUS)
    for column, cost in enumerate(costs):
        matrix[:, column] = np.minimum(cost, 2 * _NO_NUCLEUS)
    cells, columns = linear_sum_assignment(matrix)
    owners = np.full(n_cells, -1, np.intp)
    owners[cells] = np.where(columns < len(costs), columns, -1)
    return owners, float(matrix[cells, columns].sum())


def _cut(pixels: _Pixels) -> tuple[tuple[_Pixels, _Pixels], float]:
    """Cut a component in two, and what the cut costs: at its waist for free, else across its long axis."""
    points = np.stack(pixels, axis=1)
    beyond = _find_beyond_waist(points)
    penalty = 0.0
    if beyond is None:
        offsets = points - points.mean(axis=0)
        axis = np.linalg.eigh(offsets.T @ offsets)[1][:, 1]
        along = offsets @ axis
        beyond, penalty = np.asarray(along > np.median(along)), _CONVEX_CUT
    rows, columns = pixels
    return ((rows[~beyond], columns[~beyond]), (rows[beyond], columns[beyond])), penalty


def _find_beyond_waist(points: NDArray[np.intp]) -> NDArray[np.bool_] | None:
    """Which points lie beyond the waist of a component; None where it has no waist.

    The component is worn down from its outline until it falls apart into parts that are deep enough; every pixel then
    goes to the nearer one of the two deepest.
    """
    from scipy import ndimage

    local = points - points.min(axis=0) + 1
    mask = np.zeros(local.max(axis=0) + 2, bool)
    mask[tuple(local.T)] = True
    depth = ndimage.distance_transform_edt(mask)
    for level in np.unique(depth[mask])[:-1]:
        parts, count = ndimage.label(depth > level)
        if count < 2:
            continue
        peaks = ndimage.maximum(depth, parts, np.arange(1, count + 1))
        deep = np.flatnonzero(peaks >= level + WAIST) + 1
        if len(deep) >= 2:
            first, second = deep[np.argsort(-peaks[deep - 1], kind="stable")][:2]
            to_first = ndimage.distance_transform_edt(parts != first)
            to_second = ndimage.distance_transform_edt(parts != second)
            return np.asarray((to_second < to_first)[tuple(local.T)])
    return None


def centre(rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
    """Centroid of the pixels, or the pixel nearest to it where the centroid does not lie on one of them."""
    points = np.stack([rows, columns], axis=1)
    centroid = np.asarray(points.mean(axis=0), np.float64)
    if (points == np.rint(centroid)).all(axis=1).any():
        return centroid
    nearest = np.argmin(((points - centroid) ** 2).sum(axis=1))
    return np.asarray(points[nearest], np.float64)
