"""``cells.geojson``: cells as QuPath imports them; ``cells.geojson.gz``, the same with gzip, is to be unpacked first.

A ``FeatureCollection`` in which every cell with an outline is a ``Feature``: its ``geometry`` is the outline, its
``nucleusGeometry`` the nucleus, and its ``properties`` have ``objectType`` "cell", the number of the cell as ``name``,
a ``classification`` and the ``measurements``. QuPath counts x along columns and y along rows from the corner of the
image, so that the first pixel has its centre at (0.5, 0.5). Leukocytes and debris that a judge kept apart follow as
annotations, a point each.
"""

from __future__ import annotations

import gzip
import json
import uuid
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump.io.formats.parts.metadata import make_metadata
from declump.io.formats.parts.result import DECIMALS, Result
from declump.io.formats.parts.tables import Columns, columns
from declump.io.formats.parts.tracing import trace_nuclei
from declump.records.others import LEUKOCYTE, OTHER
from declump.records.segmentation import Segmentation

FILE = "cells.geojson"
COMPRESSED_FILE = "cells.geojson.gz"
CLASSIFICATION = {"name": "Cell", "color": [230, 159, 0]}
OTHER_COLOURS = {LEUKOCYTE: [0, 114, 178], OTHER: [120, 120, 120]}
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://geojson.org/declump")


def write(result: Result, path: Path) -> None:
    """Write one feature a cell."""
    path.write_bytes(_document(result))


def write_compressed(result: Result, path: Path) -> None:
    """Write the same with gzip, without the time of writing."""
    path.write_bytes(gzip.compress(_document(result), compresslevel=2, mtime=0))


@lru_cache(maxsize=1)  # the plain and the compressed file hold the same
def _document(result: Result) -> bytes:
    segmentation, table = result.segmentation, columns(result)
    nuclei, outlines = trace_nuclei(segmentation), segmentation.polygons
    lines = []
    for index in np.flatnonzero(np.count_nonzero(segmentation.radii, axis=1) > 2).tolist():
        geometry, nucleus = _polygon(outlines[index]), nuclei[index]
        properties = {
            "objectType": "cell",
            "name": str(index + 1),
            "classification": CLASSIFICATION,
            "measurements": finite_numbers(table, index),
        }
        # The same cell of the same image keeps its id, so that QuPath knows it again.
        name = uuid.uuid5(NAMESPACE, f"{index} {segmentation.shape} {geometry}")
        parts = [f'"type":"Feature","id":"{name}","geometry":{geometry}']
        parts += [f'"nucleusGeometry":{_polygon(nucleus)}'] if nucleus is not None else []
        lines.append(f'{{{",".join(parts)},"properties":{json.dumps(properties, separators=(",", ":"))}}}')
    lines += _others(segmentation)
    head, features = json.dumps(make_metadata(segmentation, "geojson")), ",\n".join(lines)
    return f'{{"type":"FeatureCollection","declump":{head},"features":[\n{features}\n]}}\n'.encode()


def _others(segmentation: Segmentation) -> list[str]:
    """One annotation, a point, for each spot that was judged to be no nucleus."""
    if segmentation.others is None:
        return []
    lines = []
    table = segmentation.others.to_columns()
    for index, (kind, (row, column)) in enumerate(
        zip(segmentation.others.kinds, segmentation.others.places.tolist(), strict=True)
    ):
        place = [round(column + 0.5, DECIMALS), round(row + 0.5, DECIMALS)]
        feature = {
            "type": "Feature",
            "id": str(uuid.uuid5(NAMESPACE, f"{kind} {segmentation.shape} {place}")),
            "geometry": {"type": "Point", "coordinates": place},
            "properties": {
                "objectType": "annotation",
                "name": f"{kind} {index + 1}",
                "classification": {"name": kind.capitalize(), "color": OTHER_COLOURS[kind]},
                "measurements": {name: table[name][index] for name in ("area_px2", "nucleus_probability")},
            },
        }
        lines.append(json.dumps(feature, separators=(",", ":")))
    return lines


def _polygon(vertices: NDArray[np.float64]) -> str:
    """Closed ring of x and y as JSON; vertices that fall together, as where radii are 0, count once."""
    ring = (vertices[:, ::-1] + 0.5).round(DECIMALS)
    ring = ring[(ring != np.roll(ring, 1, axis=0)).any(axis=1)]
    return json.dumps({"type": "Polygon", "coordinates": [[*ring.tolist(), ring[0].tolist()]]}, separators=(",", ":"))


def finite_numbers(table: Columns, index: int) -> dict[str, float]:
    """Finite numbers only: QuPath takes no others."""
    values = {name: column[index] for name, column in table.items() if name != "id"}
    return {
        name: float(value)
        for name, value in values.items()
        if isinstance(value, bool | int | float) and np.isfinite(value)
    }
