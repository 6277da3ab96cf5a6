"""``cells.geojson.gz`` of a slide, for QuPath: written cell by cell, never as a whole in memory."""

from __future__ import annotations

import gzip
import json
import math
import uuid
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump._files import atomic_file
from declump.io.formats.geojson import CLASSIFICATION, NAMESPACE
from declump.slides.gathering import Gathered
from declump.slides.readers import import_library
from declump.slides.tables import measured, to_polygons

DECIMALS = 1
"""A tenth of a pixel is finer than outlines are known."""


def write_geojson(cells: Gathered, path: Path) -> None:
    """Write one feature a cell, with its nucleus and its measurements."""
    with (
        atomic_file(path) as draft,
        draft.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=2, fileobj=raw, mtime=0) as file,
    ):
        file.write(b'{"type":"FeatureCollection","features":[\n')
        separator = b""
        for first, group in cells.groups():
            outlines, nuclei = (
                _describe(to_polygons(group["seeds"], group[name])) for name in ("radii", "nucleus_radii")
            )
            measurements = _list_measurements(measured(cells, group))
            seeds = group["seeds"].tolist()
            for index, geometry in enumerate(outlines):
                if geometry is None:
                    continue
                number = first + index + 1
                name = uuid.uuid5(NAMESPACE, f"{cells.store.record.content} {number} {seeds[index]}")
                parts = [f'"type":"Feature","id":"{name}","geometry":{geometry}']
                nucleus = nuclei[index]
                parts += [f'"nucleusGeometry":{nucleus}'] if nucleus is not None else []
                properties: dict[str, Any] = {
                    "objectType": "cell",
                    "name": str(number),
                    "classification": CLASSIFICATION,
                    "measurements": measurements[index],
                }
                parts.append(f'"properties":{json.dumps(properties, separators=(",", ":"))}')
                file.write(separator + f"{{{','.join(parts)}}}".encode())
                separator = b",\n"
        file.write(b"\n]}\n")


def _describe(polygons: NDArray[Any]) -> list[str | None]:
    """Polygons as JSON; None for those without an area."""
    shapely = import_library("shapely")
    rings = np.round(shapely.get_coordinates(polygons), DECIMALS)
    ends = np.cumsum(shapely.get_num_coordinates(polygons)).tolist()
    empty = (shapely.area(polygons) == 0).tolist()
    texts: list[str | None] = []
    for start, end, nothing in zip([0, *ends], ends, empty, strict=False):
        ring = {"type": "Polygon", "coordinates": [rings[start:end].tolist()]}
        texts.append(None if nothing or end - start < 4 else json.dumps(ring, separators=(",", ":")))
    return texts


def _list_measurements(table: dict[str, NDArray[Any]]) -> list[dict[str, float]]:
    """Finite numbers of each cell by their names: QuPath takes no others."""
    values = np.column_stack([column.astype(np.float64) for column in table.values()])
    whole = np.asarray(np.isfinite(values).all(axis=1))
    rows = [dict(zip(table, row, strict=True)) for row in values.tolist()]
    return [
        row if finite else {name: value for name, value in row.items() if math.isfinite(value)}
        for row, finite in zip(rows, whole, strict=True)
    ]
