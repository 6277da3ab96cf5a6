"""Tables of a slide: ``cells.parquet``, the canonical file, ``cells.geo.parquet`` and ``others.parquet``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import atomic_file
from declump.io.slide_results import BOX, METADATA, NUCLEUS_RAYS, RADIUS_UNIT
from declump.records.others import KINDS
from declump.shapes import contours
from declump.slides.gathering import GROUP, TRUTHS, Gathered
from declump.slides.readers import import_library

SIMPLIFIED = 0.125
"""Pixels by which a polygon may be off the outline it stands for."""


def write_parquet(cells: Gathered, path: Path) -> None:
    """Write one row a cell, along a Hilbert curve; extents of the groups of rows stand in the metadata."""
    pa, parquet = import_library("pyarrow"), import_library("pyarrow.parquet")
    groups = [
        [*part[:, :2].min(axis=0).tolist(), *part[:, 2:].max(axis=0).tolist()]
        for part in (cells.boxes[first : first + GROUP] for first in range(0, len(cells), GROUP))
    ]
    rays = cells.store.record.options.cell_solver().prior.rays
    told = {
        "shape": list(cells.store.record.shape),
        "radius_unit_px": RADIUS_UNIT,
        "statistics": cells.store.statistics.to_record(),
        "record": cells.store.record.digest,
        "groups": groups,
    }
    schema = _schema(cells, rays).with_metadata({METADATA: json.dumps(told).encode()})
    with atomic_file(path) as draft, parquet.ParquetWriter(draft, schema, compression="zstd") as writer:
        for first, group in cells.groups():
            columns = _columns(cells, first, group)
            columns["radii"] = pa.FixedSizeListArray.from_arrays(group["radii"].ravel(), rays)
            columns["nucleus_radii"] = pa.FixedSizeListArray.from_arrays(group["nucleus_radii"].ravel(), NUCLEUS_RAYS)
            writer.write_table(pa.table(columns, schema=schema), row_group_size=GROUP)


def write_geoparquet(cells: Gathered, path: Path) -> None:
    """Write one polygon a cell, x along columns and y along rows of the slide; it has no place on earth."""
    pa, parquet, shapely = (import_library(name) for name in ("pyarrow", "pyarrow.parquet", "shapely"))
    geometry = {"encoding": "WKB", "geometry_types": ["Polygon"], "crs": None}
    told = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": geometry}}
    fields = [field for field in _schema(cells, 1) if field.name not in ("radii", "nucleus_radii")]
    schema = pa.schema([*fields, pa.field("geometry", pa.binary())]).with_metadata({b"geo": json.dumps(told).encode()})
    with atomic_file(path) as draft, parquet.ParquetWriter(draft, schema, compression="zstd") as writer:
        for first, group in cells.groups():
            polygons = to_polygons(group["seeds"], group["radii"])
            columns = {**_columns(cells, first, group), "geometry": pa.array(shapely.to_wkb(polygons), pa.binary())}
            writer.write_table(pa.table(columns, schema=schema), row_group_size=GROUP)


def to_polygons(seeds: NDArray[Any], radii: NDArray[np.uint16]) -> NDArray[Any]:
    """Outlines as shapely polygons (N,) in x and y, with as few vertices as an eighth of a pixel allows."""
    shapely = import_library("shapely")
    rows, columns = contours.directions(radii.shape[1])
    reach = radii * RADIUS_UNIT
    x = seeds[:, 1, None] + 0.5 + reach * columns
    y = seeds[:, 0, None] + 0.5 + reach * rows
    ring = np.stack([x, y], axis=-1)
    closed = np.concatenate([ring, ring[:, :1]], axis=1)
    lines = shapely.simplify(shapely.linestrings(closed), SIMPLIFIED, preserve_topology=False)
    points, line = shapely.get_coordinates(lines, return_index=True)
    simple = np.full(len(seeds), None, object)
    enough = shapely.get_num_coordinates(lines) >= 4
    kept = enough[line]
    simple[enough] = shapely.polygons(shapely.linearrings(points[kept], indices=(np.cumsum(enough) - 1)[line[kept]]))
    # To heed crossings takes fifteen times as long, and is needed for next to none.
    crossed = ~shapely.is_valid(simple)
    simple[crossed] = shapely.simplify(shapely.polygons(closed[crossed]), SIMPLIFIED)
    return simple


def write_others(others: dict[str, NDArray[Any]], path: Path) -> None:
    """Write leukocytes and debris, one row each, in the order of their rows."""
    pa, parquet = import_library("pyarrow"), import_library("pyarrow.parquet")
    order = np.lexsort((others["places"][:, 1], others["places"][:, 0]))
    table = pa.table(
        {
            "kind": [KINDS[kind] for kind in others["kinds"][order].tolist()],
            "row_px": others["places"][order, 0],
            "column_px": others["places"][order, 1],
            "area_px2": others["areas"][order],
            "nucleus_probability": others["probability"][order],
        }
    )
    with atomic_file(path) as draft:
        parquet.write_table(table, draft, compression="zstd")


def _schema(cells: Gathered, rays: int) -> Any:
    pa = import_library("pyarrow")
    whole = [("id", pa.int64()), ("clump", pa.int64()), ("seed_row", pa.int32()), ("seed_column", pa.int32())]
    return pa.schema(
        [
            *whole,
            *((name, pa.int32()) for name in BOX),
            ("at_cut", pa.bool_()),
            ("warnings", pa.string()),
            *((name, pa.bool_() if name in TRUTHS else pa.float32()) for name in cells.columns),
            ("radii", pa.list_(pa.uint16(), rays)),
            ("nucleus_radii", pa.list_(pa.uint16(), NUCLEUS_RAYS)),
        ]
    )


def _columns(cells: Gathered, first: int, group: dict[str, NDArray[Any]]) -> dict[str, Any]:
    count = len(group["seeds"])
    boxes = cells.boxes[first : first + count]
    return {
        "id": np.arange(first + 1, first + count + 1),
        "clump": group["clump"],
        "seed_row": group["seeds"][:, 0],
        "seed_column": group["seeds"][:, 1],
        **{name: boxes[:, index] for index, name in enumerate(BOX)},
        "at_cut": group["at_cut"],
        "warnings": group["warnings"].tolist(),
        **measured(cells, group),
    }


def measured(cells: Gathered, group: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Measurements of the cells of a group by their names."""
    return {
        name: group["table"][:, index] > 0 if name in TRUTHS else group["table"][:, index].astype(np.float32)
        for index, name in enumerate(cells.columns)
    }
