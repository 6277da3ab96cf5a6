"""Overlapping cells laid into planes, in each of which no two overlap: the colouring of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from declump.records.crops import Crop
from declump.records.segmentation import Segmentation

Neighbours = Sequence[set[int]]

SMALL, STEPS = 64, 2000
"""A group of at most so many cells is searched for fewer planes, and for so many steps."""


def label_planes(segmentation: Segmentation) -> NDArray[np.uint16] | NDArray[np.uint32]:
    """Lay the cells into few planes.

    Returns
    -------
    (P, H, W) uint16, or uint32 for more than 65535 cells
        The number of the cell, from 1, at its pixels; 0 elsewhere. At least one plane.
    """
    crops = segmentation.crops
    plane = fewest_planes(overlaps(crops))
    kind = np.uint16 if len(crops) <= np.iinfo(np.uint16).max else np.uint32
    labels = np.zeros((max(plane, default=0) + 1, *segmentation.shape), dtype=kind)
    for index, crop in enumerate(crops):
        labels[plane[index]][crop.box][crop.mask] = index + 1
    return labels


def overlaps(crops: Sequence[Crop]) -> list[set[int]]:
    """Give for every cell those that share a pixel with it."""
    neighbours: list[set[int]] = [set() for _ in crops]
    boxes = np.array([[*(side.start for side in crop.box), *(side.stop for side in crop.box)] for crop in crops])
    for index, crop in enumerate(crops):
        later = boxes[index + 1 :]
        near = (later[:, :2] < boxes[index, 2:]).all(axis=1) & (later[:, 2:] > boxes[index, :2]).all(axis=1)
        for other in (index + 1 + np.flatnonzero(near)).tolist():
            if crop.meets(crops[other]):
                neighbours[index].add(other)
                neighbours[other].add(index)
    return neighbours


def fewest_planes(neighbours: Neighbours) -> list[int]:
    """Number a plane, from 0, for every cell, unlike those of its neighbours.

    Each connected group of cells is laid by the rule of DSATUR (Brelaz, 1979): next comes the cell whose neighbours lie
    in most planes. Where that takes more planes than some cells overlap all with each other, a group of at most
    ``SMALL`` cells is searched for fewer, for ``STEPS`` steps. The number of planes is the smallest possible wherever
    the search ends by itself or was not needed; otherwise it is at most one more than the most neighbours of a cell.
    """
    planes = [0] * len(neighbours)
    for group in _groups(neighbours):
        chosen = _greedy(group, neighbours)
        if len(group) <= SMALL:
            chosen = _search(group, neighbours, chosen)
        for cell, plane in chosen.items():
            planes[cell] = plane
    return planes


def _groups(neighbours: Neighbours) -> list[list[int]]:
    """Cells that are connected by overlaps."""
    groups, seen = [], set()
    for cell in range(len(neighbours)):
        if cell in seen:
            continue
        group, reached = {cell}, [cell]
        while reached:
            fresh = neighbours[reached.pop()] - group
            group |= fresh
            reached += fresh
        seen |= group
        groups.append(sorted(group))
    return groups


def _greedy(group: list[int], neighbours: Neighbours) -> dict[int, int]:
    """Lay the cells by the rule; among equals comes the one with most neighbours, then the first."""
    chosen: dict[int, int] = {}
    taken: dict[int, set[int]] = {cell: set() for cell in group}
    queue = [(0, -len(neighbours[cell]), cell) for cell in group]
    heapify(queue)
    while queue:
        cell = heappop(queue)[2]
        if cell in chosen:
            continue  # an older entry of the queue, with fewer planes
        plane = chosen[cell] = next(number for number in range(len(group)) if number not in taken[cell])
        for other in neighbours[cell]:
            if other not in chosen and plane not in taken[other]:
                taken[other].add(plane)
                heappush(queue, (-len(taken[other]), -len(neighbours[other]), other))
    return chosen


def _search(group: list[int], neighbours: Neighbours, found: dict[int, int]) -> dict[int, int]:
    """Look for a way with fewer planes than the one found, until none can be or the steps are used up."""
    best, fewest, least, steps = found, max(found.values()) + 1, _clique(group, neighbours), 0

    def rank(cell: int, chosen: dict[int, int]) -> tuple[int, int, int]:
        return len({chosen[other] for other in neighbours[cell] if other in chosen}), len(neighbours[cell]), -cell

    def look(chosen: dict[int, int], used: int) -> None:
        nonlocal best, fewest, steps
        if len(chosen) == len(group):
            best, fewest = chosen, used
            return
        cell = max((cell for cell in group if cell not in chosen), key=lambda cell: rank(cell, chosen))
        taken = {chosen[other] for other in neighbours[cell] if other in chosen}
        for plane in range(used + 1):
            steps += 1
            if max(used, plane + 1) >= fewest or fewest == least or steps > STEPS:
                return
            if plane not in taken:
                look(chosen | {cell: plane}, max(used, plane + 1))

    look({}, 0)
    return best


def _clique(group: list[int], neighbours: Neighbours) -> int:
    """Size of a set of cells that overlap all with each other, grown from each cell: so many planes are needed."""
    largest = 0
    for cell in group:
        size, candidates = 1, set(neighbours[cell])
        while candidates:
            member = max(candidates, key=lambda other: (len(neighbours[other] & candidates), -other))
            candidates &= neighbours[member]
            size += 1
        largest = max(largest, size)
    return largest
