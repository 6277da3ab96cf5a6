"""``cells.ome.zarr`` of a slide: labels in planes in which no two cells overlap, with a pyramid, chunk by chunk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump import _kernels
from declump._files import DRAFTS
from declump.io.formats.ome_zarr import CHUNK, NGFF
from declump.io.slide_results import BOX, SlideCells, SlideResult
from declump.records.boxes import Box
from declump.shapes import contours
from declump.slides.hilbert import hilbert_index
from declump.slides.readers import import_library

SMALLEST = 1024
"""Levels are made until the longer side of the last has no more pixels."""
KEPT_GROUPS = 16
"""Groups of rows that are in memory at a time."""


def write_labels(result: SlideResult, path: Path) -> int:
    """Write the folder, whole or not at all; give the number of planes."""
    zarr = import_library("zarr")
    draft = path.with_name(f"{DRAFTS}{path.name}")
    shutil.rmtree(draft, ignore_errors=True)
    planes = choose_planes(result)
    count = int(planes.max(initial=0)) + 1
    shape, levels = result.shape, _count_levels(result.shape)
    root = zarr.open_group(draft, mode="w", zarr_format=2)
    root.create_group("labels").attrs.put({"labels": [f"cells-{plane + 1}" for plane in range(count)]})
    pixel_size = result.statistics["pixel_size"]
    for plane in range(count):
        group = root.create_group(f"labels/cells-{plane + 1}")
        group.attrs.put(_describe(f"cells-{plane + 1}", levels, pixel_size))
        for level in range(levels):
            sides = tuple(-(-side // 2**level) for side in shape)
            group.create_array(
                str(level),
                shape=sides,
                chunks=(CHUNK, CHUNK),
                dtype="uint32",
                fill_value=0,
                chunk_key_encoding={"name": "v2", "separator": "/"},
            )
    groups = [root[f"labels/cells-{plane + 1}"] for plane in range(count)]
    for group, filled in zip(groups, _write_pixels(result, groups, planes), strict=True):
        _write_levels(group, filled, levels)
    if path.exists():
        shutil.rmtree(path)
    draft.rename(path)
    return count


def choose_planes(result: SlideResult) -> NDArray[np.uint8]:
    """Lay every cell into the lowest plane that no cell before it, which it overlaps, lies in: (N,) from 0."""
    found = [np.empty((0, 2), np.int64)]
    for box, cells in _visit_chunks(result):
        pairs = _find_near(cells, box)
        rays = contours.directions(cells.radii.shape[1])
        meet = _kernels.find_meeting(pairs, cells.boxes, cells.seeds, cells.radii, *rays)
        found.append(cells.ids[pairs[meet]] - 1)
    every = np.sort(np.concatenate(found), axis=1)
    every = every[np.lexsort((every[:, 0], every[:, 1]))]
    planes = np.zeros(len(result), np.uint8)
    later, starts = np.unique(every[:, 1], return_index=True)
    for number, before in zip(later.tolist(), np.split(every[:, 0], starts[1:]), strict=False):
        taken = set(planes[before].tolist())
        planes[number] = next(plane for plane in range(len(taken) + 1) if plane not in taken)
    return planes


@dataclass(frozen=True, eq=False)
class _ChunkCells:
    """Cells that may meet a chunk, in the order of their numbers."""

    ids: NDArray[np.int64]
    seeds: NDArray[np.int64]
    radii: NDArray[np.float64]
    boxes: NDArray[np.int64]


def _visit_chunks(result: SlideResult) -> Iterator[tuple[Box, _ChunkCells]]:
    """Chunks with cells that may meet them, along the curve that the cells lie along: each group is read about once."""
    height, width = result.shape
    tops, lefts = (axis.ravel() for axis in np.meshgrid(range(0, height, CHUNK), range(0, width, CHUNK), indexing="ij"))
    read = lru_cache(maxsize=KEPT_GROUPS)(result.read_group)
    for index in np.argsort(hilbert_index(tops, lefts), kind="stable").tolist():
        top, left = int(tops[index]), int(lefts[index])
        box = Box(top, left, min(top + CHUNK, height), min(left + CHUNK, width))
        parts = [_choose(read(group), box) for group in result.find_groups(*box)]
        parts = [part for part in parts if len(part[0])]
        if parts:
            yield box, _ChunkCells(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _choose(cells: SlideCells, box: Box) -> tuple[NDArray[Any], ...]:
    """Numbers, seeds, radii and extents of the cells that meet a box."""
    boxes = np.column_stack([cells.columns[name] for name in BOX]).astype(np.int64)
    near = (boxes[:, :2] < np.array(box[2:])).all(axis=1) & (boxes[:, 2:] > np.array(box[:2])).all(axis=1)
    return cells.ids[near], cells.seeds[near], cells.radii[near], boxes[near]


def _find_near(cells: _ChunkCells, box: Box) -> NDArray[np.int64]:
    """Pairs (M, 2) of cells whose extents meet, and begin to do so in the chunk: each is found in one chunk alone."""
    tops, lefts, bottoms, rights = cells.boxes.T
    top, left = np.maximum.outer(tops, tops), np.maximum.outer(lefts, lefts)
    meet = (top < np.minimum.outer(bottoms, bottoms)) & (left < np.minimum.outer(rights, rights))
    here = (top >= box.top) & (top < box.bottom) & (left >= box.left) & (left < box.right)
    return np.argwhere(np.triu(meet & here, 1))


def _write_pixels(result: SlideResult, groups: list[Any], planes: NDArray[np.uint8]) -> list[set[tuple[int, int]]]:
    """Write the finest level of all planes; give the chunks that each has pixels in."""
    filled: list[set[tuple[int, int]]] = [set() for _ in groups]
    for box, cells in _visit_chunks(result):
        places, of_cells = cells.seeds - np.array(box[:2]), planes[cells.ids - 1]
        for plane in np.unique(of_cells).tolist():
            own, labels = of_cells == plane, np.zeros(box.shape, np.uint32)
            numbers = cells.ids[own].astype(np.uint32)
            if contours.paint(labels, numbers, places[own], cells.radii[own]):
                groups[plane]["0"][box.slices] = labels
                filled[plane].add((box.top // CHUNK, box.left // CHUNK))
    return filled


def _write_levels(group: Any, filled: set[tuple[int, int]], levels: int) -> None:
    """Write the coarser levels of a plane, where the finer ones have pixels."""
    for level in range(1, levels):
        filled = {(row // 2, column // 2) for row, column in filled}
        finer, coarser = group[str(level - 1)], group[str(level)]
        for row, column in sorted(filled):
            top, left = row * CHUNK, column * CHUNK
            part = np.asarray(finer[2 * top : 2 * (top + CHUNK) : 2, 2 * left : 2 * (left + CHUNK) : 2])
            coarser[top : top + part.shape[0], left : left + part.shape[1]] = part


def _count_levels(shape: tuple[int, int]) -> int:
    levels = 1
    while max(shape) / 2 ** (levels - 1) > SMALLEST:
        levels += 1
    return levels


def _describe(name: str, levels: int, pixel_size: float | None) -> dict[str, Any]:
    unit = {} if pixel_size is None else {"unit": "micrometer"}
    axes = [{"name": axis, "type": "space", **unit} for axis in "yx"]
    step = 1.0 if pixel_size is None else pixel_size
    datasets = [
        {
            "path": str(level),
            "coordinateTransformations": [{"type": "scale", "scale": [step * 2**level, step * 2**level]}],
        }
        for level in range(levels)
    ]
    scales = [{"version": NGFF, "name": name, "axes": axes, "datasets": datasets}]
    return {"multiscales": scales, "image-label": {"version": NGFF}}
