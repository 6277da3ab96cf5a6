from __future__ import annotations

import sys

import numpy as np
import pytest

import declump
from support.segmentations import segmentation, three_cells

MISSING = "spatialdata is not installed (extra 'spatialdata'); make test-bridges runs this"


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "spatialdata", None)
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(ValueError, match=r"needs anndata: pip install .*\[spatialdata\]"):
        declump.io.to_spatialdata(three_cells())


def test_shapes_overlap_and_the_table_annotates_them(tmp_path):
    spatialdata = pytest.importorskip("spatialdata", reason=MISSING)
    result = three_cells()
    image = np.random.default_rng(0).integers(0, 255, (*result.shape, 3), dtype=np.uint8)
    found = declump.io.to_spatialdata(result, image)
    first, second, third = found["cells"].geometry
    shared = (result.masks[0] & result.masks[1]).sum()
    assert first.intersection(second).area == pytest.approx(shared, rel=0.05) and not third.intersects(second)
    assert found["nuclei"].geometry.area.tolist() == [result.nucleus_mask(index).sum() for index in range(3)]
    assert found["seeds"].compute()[["x", "y"]].to_numpy().tolist() == (result.seeds[:, ::-1] + 0.5).tolist()
    table = found["table"]
    areas = declump.measure(result, image).cells["area_px2"]
    assert np.array_equal(table[:, "area_px2"].X.ravel(), areas) and table.obs["cell"].tolist() == [1, 2, 3]
    assert np.array_equal(np.moveaxis(found["image"].to_numpy(), 0, -1), image)
    found.write(tmp_path / "cells.zarr")
    back = spatialdata.read_zarr(tmp_path / "cells.zarr")
    assert back["cells"].geometry.geom_equals(found["cells"].geometry).all()
    near = spatialdata.bounding_box_query(
        back, axes=("x", "y"), min_coordinate=[80, 0], max_coordinate=[120, 80], target_coordinate_system="global"
    )
    assert near["table"].obs["cell"].tolist() == [3]


def test_cells_without_an_outline_and_texts_are_no_trouble():
    pytest.importorskip("spatialdata", reason=MISSING)
    result = segmentation(5)
    words = {"grade": np.array(list("abcde")), "score": np.arange(5.0)}
    found = declump.io.to_spatialdata(result, measurements=words)
    assert found["cells"].index.tolist() == [1, 2, 3, 4] and "image" not in found
    assert found["table"].obs["grade"].tolist() == list("abcd")
    assert found["table"].X.ravel().tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="one value for each"):
        declump.io.to_spatialdata(result, measurements={"score": [1.0]})
