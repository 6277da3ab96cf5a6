from __future__ import annotations

import numpy as np
import pytest

from declump.bridges.napari_plugin import layers
from declump.bridges.napari_plugin.layers import from_layers, to_layers
from support.segmentations import three_cells


def by_name(found):
    return {attributes["name"]: (data, attributes, kind) for data, attributes, kind in found}


def test_cells_are_polygons_that_overlap_and_seeds_points():
    result = three_cells()
    found = by_name(to_layers(result, numbers=[4, 7, 9]))
    assert {name: kind for name, (_, _, kind) in found.items()} == {
        "nuclei": "labels",
        "cells": "shapes",
        "seeds": "points",
    }
    assert np.array_equal(found["cells"][0], result.polygons)
    assert found["cells"][1]["features"]["cell"].tolist() == [4, 7, 9]
    assert "area_px" in found["cells"][1]["features"]
    assert np.unique(found["nuclei"][0]).tolist() == [0, 4, 7, 9]
    assert np.array_equal(found["seeds"][0], result.seeds)
    colours = found["cells"][1]["edge_color"]
    assert len(colours) == 3 and colours[0] != colours[1]


def test_layers_that_nobody_changed_give_the_same_segmentation():
    result = three_cells()
    back, measured = from_layers(to_layers(result, {"grade": np.array([1, 2, 3])}))
    assert back is result and measured is not None and measured["grade"].tolist() == [1, 2, 3]


def test_changed_shapes_keep_their_overlap_and_their_nuclei():
    result = three_cells()
    found = to_layers(result)
    index = next(index for index, layer in enumerate(found) if layer[2] == "shapes")
    data, attributes, kind = found[index]
    # The second cell is deleted, the first drawn wider.
    wider = result.seeds[0] + 1.4 * (data[0] - result.seeds[0])
    features = {name: values[[0, 2]] for name, values in attributes["features"].items()}
    found[index] = ([wider, data[2]], {**attributes, "features": features}, kind)
    back, measured = from_layers(found)
    assert measured is None and len(back) == 2
    assert back.areas == pytest.approx([1.96 * result.areas[0], result.areas[2]], rel=0.01)
    assert np.array_equal(back.nucleus_mask(0), result.nucleus_mask(0))
    assert np.array_equal(back.nucleus_mask(1), result.nucleus_mask(2))


def test_too_many_cells_become_labels_in_layers_without_overlap(monkeypatch):
    monkeypatch.setattr(layers, "MAX_SHAPES", 2)
    result = three_cells()
    found = to_layers(result)
    planes = [data for data, attributes, _ in found if attributes["name"].startswith("cells")]
    assert len(planes) == 2
    for number, mask in enumerate(result.masks, start=1):
        assert np.array_equal(np.max([plane == number for plane in planes], axis=0), mask)
    assert from_layers(found)[0] is result
    # Painted over, the cells are rebuilt from their pixels, and still overlap.
    planes[0][:3, :3] = 9
    back, _ = from_layers(found)
    assert len(back) == 4 and (back.masks[:, 40].sum(axis=0) == 2).any()


def test_shapes_without_an_image_are_refused():
    with pytest.raises(ValueError, match="size of the image"):
        from_layers([([np.zeros((4, 2))], {"name": "cells"}, "shapes")])
    with pytest.raises(ValueError, match="hold no cells"):
        from_layers([(np.zeros((5, 5)), {"name": "picture"}, "image")])
