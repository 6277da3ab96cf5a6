"""``cells.ome.zarr`` of a slide: labels in planes in which no two cells overlap, with a pyramid, chunk by chunk."""

from __future__ import annotations

import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import DRAFTS
from declump.io.formats.ome_zarr import CHUNK, NGFF
from declump.io.slide_results import SlideResult
from declump.records.crops import Crop, crop_contour
from declump.slides.readers import import_library

SMALLEST = 1024
"""Levels are made until the longer side of the last has no more pixels."""
CELL = 512
"""Sides in pixels of the squares by which neighbours are found."""


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
        _write_levels(result, group, planes, plane, levels)
    if path.exists():
        shutil.rmtree(path)
    draft.rename(path)
    return count


def choose_planes(result: SlideResult) -> NDArray[np.uint8]:
    """Lay every cell into the lowest plane that no cell before it, which it overlaps, lies in: (N,) from 0."""
    planes = np.zeros(len(result), np.uint8)
    near: dict[tuple[int, int], list[tuple[int, Crop]]] = defaultdict(list)
    for ids, crops in _iterate_crops(result):
        for number, crop in zip(ids, crops, strict=True):
            rows, columns = crop.box
            squares = [
                (row, column)
                for row in range(rows.start // CELL, (rows.stop - 1) // CELL + 1)
                for column in range(columns.start // CELL, (columns.stop - 1) // CELL + 1)
            ]
            beside = {other: kept for square in squares for other, kept in near[square]}
            taken = {int(planes[other]) for other, kept in beside.items() if crop.meets(kept)}
            planes[number] = next(plane for plane in range(len(taken) + 1) if plane not in taken)
            for square in squares:
                near[square].append((number, crop))
    return planes


def _iterate_crops(result: SlideResult) -> Any:
    """Numbers, from 0, and pixels of cells, group by group."""
    for group in range(result.groups):
        cells = result.read_group(group)
        yield (
            (cells.ids - 1).tolist(),
            [crop_contour(seed, radii, result.shape) for seed, radii in zip(cells.seeds, cells.radii, strict=True)],
        )


def _write_levels(result: SlideResult, group: Any, planes: NDArray[np.uint8], plane: int, levels: int) -> None:
    height, width = result.shape
    filled: set[tuple[int, int]] = set()
    for top in range(0, height, CHUNK):
        for left in range(0, width, CHUNK):
            bottom, right = min(top + CHUNK, height), min(left + CHUNK, width)
            cells = result.read_window(top, left, bottom, right, columns=())
            labels = np.zeros((bottom - top, right - left), np.uint32)
            for number, seed, radii in zip(cells.ids, cells.seeds, cells.radii, strict=True):
                if planes[number - 1] == plane:
                    crop = crop_contour(seed - np.array([top, left]), radii, labels.shape)
                    labels[crop.box][crop.mask] = number
            if labels.any():
                group["0"][top:bottom, left:right] = labels
                filled.add((top // CHUNK, left // CHUNK))
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
