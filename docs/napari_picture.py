"""Draws docs/pictures/napari.png: the plugin in a real napari.

xvfb-run -a .venv-bridges/bin/python docs/napari_picture.py
"""

from __future__ import annotations

import time
from pathlib import Path

import napari
from qtpy.QtWidgets import QApplication

import declump

PICTURE = Path(__file__).parent / "pictures" / "napari.png"


def main() -> None:
    """Segment a simulated smear in the widget, colour the cells by their area, and take a picture."""
    viewer = napari.Viewer(show=True)
    viewer.window.resize(1280, 800)
    viewer.add_image(declump.simulate.smear((400, 520), cells=9, clumps=3, rng=4).image, name="smear")
    _, dock = viewer.window.add_plugin_dock_widget("declump", "Overlapping cells")
    dock.segment()
    while dock.review is None or dock.worker is not None:
        QApplication.processEvents()
        time.sleep(0.01)
    dock.colour_by.value = "area_px2"
    viewer.reset_view()
    for _ in range(50):
        QApplication.processEvents()
        time.sleep(0.01)
    viewer.screenshot(str(PICTURE), canvas_only=False, flash=False)
    viewer.close()


if __name__ == "__main__":
    main()
