"""``cells.geojson.gz`` of a slide, for QuPath: written cell by cell, never as a whole in memory."""

from __future__ import annotations

import gzip
import json
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from declump._files import atomic_file
from declump.io.formats.geojson import CLASSIFICATION, NAMESPACE, finite_numbers
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
            outlines, nuclei = (to_polygons(group["seeds"], group[name]) for name in ("radii", "nucleus_radii"))
            table = measured(cells, group)
            columns = {name: values.tolist() for name, values in table.items()}
            for index in range(len(group["seeds"])):
                geometry = _geometry(outlines[index])
                if geometry is None:
                    continue
                number = first + index + 1
                name = uuid.uuid5(NAMESPACE, f"{cells.store.record.content} {number} {group['seeds'][index].tolist()}")
                parts = [f'"type":"Feature","id":"{name}","geometry":{geometry}']
                nucleus = _geometry(nuclei[index])
                parts += [f'"nucleusGeometry":{nucleus}'] if nucleus is not None else []
                properties: dict[str, Any] = {
                    "objectType": "cell",
                    "name": str(number),
                    "classification": CLASSIFICATION,
                    "measurements": finite_numbers(columns, index),
                }
                parts.append(f'"properties":{json.dumps(properties, separators=(",", ":"))}')
                file.write(separator + f"{{{','.join(parts)}}}".encode())
                separator = b",\n"
        file.write(b"\n]}\n")


def _geometry(polygon: Any) -> str | None:
    """A polygon as JSON; None for one without an area."""
    shapely = import_library("shapely")
    ring = np.round(shapely.get_coordinates(polygon), DECIMALS)
    if len(ring) < 4 or not polygon.area:
        return None
    return json.dumps({"type": "Polygon", "coordinates": [ring.tolist()]}, separators=(",", ":"))
