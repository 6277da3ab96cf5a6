"""Planes and pixels of cells are the same whatever the chunks, and no two cells of a plane overlap."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import zarr
from pyarrow import parquet

from declump.io.slide_results import BOX, METADATA, NUCLEUS_RAYS, open_slide_result
from declump.records.crops import crop_contour
from declump.slides import labels
from declump.slides.gathering import find_extents

SHAPE = (700, 900)


@pytest.fixture
def cells(tmp_path: Path) -> Path:
    """Sixty cells, many of which overlap, in groups of ten."""
    draw = np.random.default_rng(4)
    seeds = np.column_stack([draw.integers(0, side, 60) for side in SHAPE]).astype(np.int32)
    radii = (draw.uniform(20, 140, (60, 1)) * 16 * draw.uniform(0.9, 1.1, (60, 360))).astype(np.uint16)
    boxes = find_extents(seeds, radii, SHAPE)
    table = {
        "id": np.arange(1, 61),
        "clump": np.ones(60, np.int64),
        "seed_row": seeds[:, 0],
        "seed_column": seeds[:, 1],
        **{name: boxes[:, index] for index, name in enumerate(BOX)},
        "at_cut": np.zeros(60, np.bool_),
        "radii": pa.FixedSizeListArray.from_arrays(radii.ravel(), 360),
        "nucleus_radii": pa.FixedSizeListArray.from_arrays(np.zeros(60 * NUCLEUS_RAYS, np.uint16), NUCLEUS_RAYS),
    }
    groups = [
        [*boxes[first : first + 10, :2].min(axis=0).tolist(), *boxes[first : first + 10, 2:].max(axis=0).tolist()]
        for first in range(0, 60, 10)
    ]
    told = {"shape": SHAPE, "statistics": {"pixel_size": None}, "groups": groups}
    schema = pa.table(table).replace_schema_metadata({METADATA: json.dumps(told).encode()})
    parquet.write_table(schema, tmp_path / "cells.parquet", row_group_size=10)
    return tmp_path


@pytest.mark.parametrize("chunk", [64, 333, 1024])
def test_planes_are_the_lowest_that_are_free(cells: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(labels, "CHUNK", chunk)
    result = open_slide_result(cells)
    every = result.read_window()
    crops = [crop_contour(seed, radii, SHAPE) for seed, radii in zip(every.seeds, every.radii, strict=True)]
    planes: list[int] = []
    for index, crop in enumerate(crops):
        taken = {planes[before] for before in range(index) if crop.meets(crops[before])}
        planes.append(min(set(range(len(taken) + 1)) - taken))
    assert labels.choose_planes(result).tolist() == planes and max(planes) > 1
    labels.write_labels(result, cells / "cells.ome.zarr")
    written = zarr.open_group(cells / "cells.ome.zarr", mode="r")["labels"]
    for index, crop in enumerate(crops):
        seen = np.asarray(written[f"cells-{planes[index] + 1}"]["0"]) == index + 1
        assert np.count_nonzero(seen) == np.count_nonzero(crop.mask) and seen[crop.box][crop.mask].all()
