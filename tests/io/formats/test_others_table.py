"""Leukocytes and debris in all files that hold them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from declump import io
from declump.pictures import overlay
from declump.records.others import Others
from declump.records.segmentation import Segmentation
from support.segmentations import segmentation


def judged() -> Segmentation:
    found = segmentation()
    said = np.round(np.linspace(0.5, 0.9, len(found)), 3)
    said[-1] = np.nan
    others = Others(
        np.array([[12.5, 20.0], [40.0, 61.25]]), np.array([44.0, 9.0]), np.array([0.125, 0.25]), ("leukocyte", "other")
    )
    return replace(found, nucleus_probability=said, others=others)


def test_they_are_written_and_come_back(tmp_path: Path) -> None:
    given = judged()
    io.write_results(given, tmp_path / "out", formats=["contours", "others", "geojson"])
    back = io.read(tmp_path / "out")
    assert back.others is not None and given.others is not None
    np.testing.assert_array_equal(back.nucleus_probability, given.nucleus_probability)
    for name in ("places", "areas", "probability"):
        np.testing.assert_array_equal(getattr(back.others, name), getattr(given.others, name))
    assert back.others.kinds == given.others.kinds
    lines = (tmp_path / "out" / "others.csv").read_text().splitlines()
    assert lines == [
        "id,kind,row_px,column_px,area_px2,nucleus_probability",
        "1,leukocyte,12.5,20,44,0.125",
        "2,other,40,61.25,9,0.25",
    ]
    features = json.loads((tmp_path / "out" / "cells.geojson").read_text())["features"]
    points = [feature for feature in features if feature["geometry"]["type"] == "Point"]
    assert [point["geometry"]["coordinates"] for point in points] == [[20.5, 13.0], [61.75, 40.5]]
    assert [point["properties"]["classification"]["name"] for point in points] == ["Leukocyte", "Other"]
    assert len({feature["id"] for feature in features}) == len(features)


def test_where_no_judge_looked_there_is_no_table(tmp_path: Path) -> None:
    written = io.write_results(segmentation(), tmp_path / "out")
    assert "others.csv" not in written and not (tmp_path / "out" / "others.csv").exists()
    assert io.read(tmp_path / "out").others is None


def test_they_are_drawn_if_asked() -> None:
    given = judged()
    plain, marked = overlay(given), overlay(given, others=True)
    changed = (plain != marked).any(axis=2)
    assert changed[12, 20] and changed[40, 61] and changed.sum() < 200
    assert (overlay(segmentation(), others=True) == overlay(segmentation())).all()
