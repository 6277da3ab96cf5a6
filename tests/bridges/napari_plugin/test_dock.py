"""The widget in a real napari, on a real (virtual) screen; ``make test-bridges`` runs it under Xvfb."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import declump

pytest.importorskip("napari", reason="napari is not installed (extra 'napari'); make test-bridges runs this")
pytest.importorskip("qtpy", reason="napari has no Qt here; make test-bridges runs this")
if sys.platform == "linux" and not os.environ.get("DISPLAY"):
    pytest.skip("there is no screen; make test-bridges runs this under Xvfb", allow_module_level=True)
# A Qt without its system libraries ends the process, and so all tests, so that another process tries it first.
window = subprocess.run(
    [sys.executable, "-c", "from qtpy.QtWidgets import QApplication; QApplication([])"], capture_output=True, text=True
)
if window.returncode:
    reason = f"Qt opens no window here, see the Makefile for what it needs: {window.stderr.strip()[:300]}"
    pytest.skip(reason, allow_module_level=True)
pytestmark = pytest.mark.filterwarnings("ignore")  # of napari itself

LIMIT = 120


@pytest.fixture(scope="module")
def image():
    return declump.simulate.smear((320, 480), cells=6, clumps=2, rng=5).image


@pytest.fixture
def opened(image):
    import napari
    from qtpy.QtWidgets import QApplication

    viewer = napari.Viewer(show=True)
    viewer.add_image(image, name="smear")
    _, dock = viewer.window.add_plugin_dock_widget("declump", "Overlapping cells")

    def wait(condition):
        end = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < end, "it takes too long"
            QApplication.processEvents()
            time.sleep(0.01)

    yield viewer, dock, wait
    dock.cancel()
    wait(lambda: dock.worker is None)
    viewer.close()


@pytest.fixture
def segmented(opened):
    viewer, dock, wait = opened
    dock.start.changed.emit(True)
    assert dock.stop.enabled and not dock.start.enabled
    wait(lambda: dock.review is not None and dock.worker is None)
    return viewer, dock, wait


def test_layers_hold_what_segment_finds(segmented, image):
    viewer, dock, _ = segmented
    expected = declump.segment(image)
    assert np.allclose(np.array(viewer.layers["cells"].data), expected.polygons)
    assert np.array_equal(viewer.layers["seeds"].data, expected.seeds)
    assert np.array_equal(viewer.layers["nuclei"].data, expected.nuclei)
    areas = viewer.layers["cells"].features["area_px2"]
    assert np.allclose(areas, declump.measure(expected, image).cells["area_px2"])
    assert f"{len(expected)} cells" in dock.told.value and dock.start.enabled


def outlines_of(viewer):
    layer = viewer.layers["cells"]
    return dict(zip(layer.features["cell"], map(np.array, layer.data), strict=True))


@pytest.mark.parametrize("edit", ["delete", "move", "add"])
def test_an_edit_of_the_seeds_changes_one_clump_only(segmented, edit):
    viewer, dock, wait = segmented
    before, result = outlines_of(viewer), dock.review.result
    seeds = viewer.layers["seeds"]
    own = result.clump[1]
    assert 0 < np.count_nonzero(result.clump == own) < len(result)
    inside = np.argwhere(result.mask(1) & (result.masks.sum(axis=0) == 1) & (result.nuclei == 0))
    free = inside[len(inside) // 2].astype(float)
    if edit == "delete":
        seeds.selected_data = {1}
        seeds.remove_selected()
    elif edit == "move":
        for share in (0.5, 1.0):  # a drag tells of every step
            moved = result.seeds.copy()
            moved[1] += share * (free - moved[1])
            seeds.data = moved
    else:
        seeds.add(free)
    wait(lambda: len(dock.review.session.history) == 1 and dock.worker is None)
    after = outlines_of(viewer)
    numbers = set(before) | set(after)
    changed = {
        number
        for number in numbers
        if number not in after or number not in before or not np.array_equal(before[number], after[number])
    }
    assert (changed and set(after) != set(before)) or edit == "move"
    assert {result.clump[number - 1] for number in changed if number <= len(result)} <= {own}
    assert len(seeds.data) == len(after) == len(result) + {"delete": -1, "move": 0, "add": 1}[edit]


def test_a_seed_where_no_cell_is_goes_back(segmented):
    viewer, dock, wait = segmented
    seeds, before = viewer.layers["seeds"], viewer.layers["seeds"].data.copy()
    outside = np.argwhere(~dock.review.session.regions.clump)[0].astype(float)
    seeds.add(outside)
    wait(lambda: len(seeds.data) == len(before))
    assert np.array_equal(viewer.layers["seeds"].data, before) and dock.review.session.history == []


def test_cells_are_coloured_by_a_measurement(segmented):
    viewer, dock, _ = segmented
    dock.colour_by.value = "area_px2"
    layer = viewer.layers["cells"]
    shades = layer.edge_color[np.argsort(layer.features["area_px2"])]
    assert layer.edge_color_mode == "colormap" and len(np.unique(shades, axis=0)) > 3
    dock.colour_by.value = "different colours"
    assert layer.edge_color_mode == "direct"


def test_stopping_leaves_the_layers_as_they_are(opened):
    viewer, dock, wait = opened
    dock.start.changed.emit(True)
    dock.stop.changed.emit(True)
    wait(lambda: dock.worker is None)
    assert [layer.name for layer in viewer.layers] == ["smear"] and dock.start.enabled


def test_layers_are_saved_and_opened_by_the_plugin(segmented, tmp_path):
    viewer, dock, _ = segmented
    path = str(tmp_path / "mine.json")
    assert viewer.layers.save(path, plugin="declump") == [path]
    expected = dock.review.result
    viewer.layers.clear()
    viewer.open(path, plugin="declump")
    back = declump.io.read(path)
    assert np.array_equal(back.masks, expected.masks) and (back.masks.sum(axis=0) > 1).any()
    assert np.allclose(np.array(viewer.layers["cells"].data), expected.polygons, atol=1e-3)


def test_the_sample_opens(opened):
    viewer, _, _ = opened
    viewer.open_sample("declump", "smear")
    assert viewer.layers["simulated smear"].rgb
    picture = viewer.screenshot(canvas_only=False, flash=False)
    assert len(np.unique(picture[..., :3].reshape(-1, 3), axis=0)) > 100
