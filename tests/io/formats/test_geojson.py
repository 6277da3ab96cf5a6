import gzip
import json
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from shapely.geometry import shape

from declump.io.formats import Result, geojson
from declump.records.segmentation import Segmentation
from support.segmentations import segmentation


def features(given: Segmentation, path: Path, **more: Any) -> list[dict[str, Any]]:
    geojson.write(Result(given, **more), path)
    document = json.loads(path.read_text())
    assert document["type"] == "FeatureCollection"
    return document["features"]


def pixels(geometry: shapely.Polygon) -> np.ndarray:
    """Mask of the pixels whose centre, at half coordinates, lies inside."""
    rows, columns = np.mgrid[:60, :70]
    return shapely.contains_xy(geometry, columns + 0.5, rows + 0.5)


def test_shapely_fills_the_same_pixels(tmp_path: Path):
    expected = Result(segmentation()).segmentation
    found = features(segmentation(), tmp_path / "cells.geojson")
    assert [feature["properties"]["name"] for feature in found] == ["1", "2", "3", "4", "5"]
    for index, feature in enumerate(found):
        cell, nucleus = shape(feature["geometry"]), shape(feature["nucleusGeometry"])
        assert cell.is_valid and cell.exterior.is_ccw and nucleus.is_valid and nucleus.exterior.is_ccw
        for geometry in (feature["geometry"], feature["nucleusGeometry"]):
            (ring,) = geometry["coordinates"]
            assert geometry["type"] == "Polygon" and ring[0] == ring[-1]
        # Coordinates are rounded, so that a centre on the outline may change sides.
        assert (pixels(cell) != expected.mask(index)).sum() <= 1
        assert np.array_equal(pixels(nucleus), expected.nuclei == index + 1)


def test_what_qupath_wants(tmp_path: Path):
    measurements = {
        "Area µm^2": np.arange(6) * 1.5,
        "count": np.arange(6),
        "bright": np.arange(6) % 2 == 0,
        "missing": [np.nan, None, 1, np.inf, 2, 3],
        "kind": ["a"] * 6,
    }
    first, second, *_ = features(segmentation(), tmp_path / "cells.geojson", measurements=measurements)
    assert set(first) == {"type", "id", "geometry", "nucleusGeometry", "properties"} and first["type"] == "Feature"
    assert first["properties"]["objectType"] == "cell"
    assert set(first["properties"]["classification"]) == {"name", "color"}
    assert first["properties"]["measurements"] == {"Area µm^2": 0.0, "count": 0.0, "bright": 1.0}
    assert second["properties"]["measurements"] == {"Area µm^2": 1.5, "count": 1.0, "bright": 0.0}
    assert {"area_px", "overlap_degree"} <= set(
        features(segmentation(), tmp_path / "plain.geojson")[0]["properties"]["measurements"]
    )


def test_ids_are_stable_and_unique(tmp_path: Path):
    ids = [feature["id"] for feature in features(segmentation(), tmp_path / "a.geojson")]
    assert ids == [feature["id"] for feature in features(segmentation(nuclei=False), tmp_path / "b.geojson")]
    assert len(set(ids)) == 5 and all(str(uuid.UUID(text)) == text for text in ids)
    others = features(segmentation(rng=1), tmp_path / "c.geojson")
    assert not set(ids) & {feature["id"] for feature in others}


def test_compressed(tmp_path: Path):
    geojson.write(Result(segmentation()), tmp_path / "cells.geojson")
    geojson.write_compressed(Result(segmentation()), tmp_path / "cells.geojson.gz")
    compressed = (tmp_path / "cells.geojson.gz").read_bytes()
    assert gzip.decompress(compressed) == (tmp_path / "cells.geojson").read_bytes()
    assert compressed[4:8] == bytes(4)  # no time of writing


def test_radii_of_zero_and_no_cells(tmp_path: Path):
    assert features(segmentation(0), tmp_path / "none.geojson") == []
    given = segmentation(2)
    given.radii[0, 5:20] = 0
    (feature,) = features(replace(given, nuclei=None), tmp_path / "cells.geojson")
    assert shape(feature["geometry"]).is_valid and "nucleusGeometry" not in feature
