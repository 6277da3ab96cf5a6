"""Takes the pictures of docs/review.md: the page of a review of simulated smears, in Chromium.

python docs/review_pictures.py              # all of them, or
python docs/review_pictures.py slide steps  # some
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
import tifffile

import declump
from declump.pictures import mosaic

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from review_page import READY, open_review, wait

PICTURES = Path(__file__).parent / "pictures"


def press(browser: Any, key: str) -> None:
    """Press a key."""
    event = f"new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}})"
    browser.execute_script(f"document.body.dispatchEvent({event})")


def take(browser: Any) -> np.ndarray:
    """Take a picture of what is seen."""
    return iio.imread(io.BytesIO(browser.get_screenshot_as_png()))[..., :3]


def view_only(browser: Any, picture: np.ndarray) -> np.ndarray:
    """Cut the image out of a picture of the page."""
    script = (
        "const r = document.getElementById('view').getBoundingClientRect(); return [r.top, r.left, r.bottom, r.right]"
    )
    top, left, bottom, right = map(round, browser.execute_script(script))
    return picture[top:bottom, left:right]


def take_page() -> None:
    """The page with an image, an outline that is dragged, and the grid of cells."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "smears"
        folder.mkdir()
        for index in range(3):
            smear = declump.simulate.smear((560, 720), cells=22, overlap=0.5, rng=np.random.default_rng(index + 21))
            iio.imwrite(folder / f"smear{index}.png", smear.image)
        with open_review(folder, (1400, 860)) as (browser, address):
            browser.get(address)
            wait(browser, "document.querySelectorAll('#image-list li.ready').length === 3")
            browser.get("about:blank")
            browser.get(address)
            wait(browser, READY)
            press(browser, ".")
            settle(browser)
            iio.imwrite(PICTURES / "review.png", take(browser))
            drag(browser)
            press(browser, "g")
            time.sleep(3)
            iio.imwrite(PICTURES / "review-grid.png", take(browser))


def take_slide() -> None:
    """A slide: seen as a whole, and where its most doubtful cell is."""
    with tempfile.TemporaryDirectory() as scratch:
        path, out = Path(scratch) / "slide.tif", Path(scratch) / "results"
        slide = declump.simulate.smear((1200, 1400), cells=64, clumps=24, overlap=0.45, rng=8).image
        with tifffile.TiffWriter(path) as file:
            file.write(slide, subifds=1, tile=(256, 256), photometric="rgb")
            file.write(slide[::2, ::2], subfiletype=1, tile=(256, 256), photometric="rgb")
        declump.slides.segment_slide(path, out, workers=0)
        with open_review(out, (1400, 860)) as (browser, address):
            browser.get(address)
            wait(browser, READY)
            settle(browser)
            whole = take(browser)
            press(browser, ".")
            wait(browser, "declump.view.chosen")
            settle(browser)
            iio.imwrite(PICTURES / "review-slide.png", mosaic([whole, take(browser)]))


def take_steps() -> None:
    """A cell that is deleted, and the step by step evolution of its clump without it."""
    image = declump.simulate.smear((560, 720), cells=22, overlap=0.5, rng=np.random.default_rng(22)).image
    session = declump.review.Session(image)
    before, seen = session.evolve(), []
    members = np.bincount(before.clump[before.clump >= 0])
    rows = np.flatnonzero(before.clump == np.where(members <= 5, members, 0).argmax())
    session.make(declump.review.read_edit({"edit": "delete cell", "cell": session.numbers[int(rows[0])]}))
    last = session.evolve(on_step=lambda cells, radii: seen.append((cells.copy(), radii.copy())))
    frames = [before]
    for cells, radii in (seen[0], seen[len(seen) // 3]):
        outlines = last.radii.copy()
        outlines[cells] = radii
        frames.append(replace(last, radii=outlines))
    low = np.maximum((before.seeds[rows] - before.radii[rows].max(axis=1)[:, None]).min(axis=0), 0).astype(int)
    high = (before.seeds[rows] + before.radii[rows].max(axis=1)[:, None]).max(axis=0).astype(int)
    pictures = [declump.pictures.overlay(frame, image) for frame in (*frames, last)]
    iio.imwrite(
        PICTURES / "review-steps.png", mosaic([shown[low[0] : high[0], low[1] : high[1]] for shown in pictures])
    )


TAKES = {"page": take_page, "slide": take_slide, "steps": take_steps}


def main() -> None:
    """Take pictures."""
    for name in sys.argv[1:] or TAKES:
        TAKES[name]()


def settle(browser: Any) -> None:
    """Wait until the page is at rest."""
    time.sleep(0.5)
    wait(browser, READY)
    time.sleep(1)


def drag(browser: Any) -> None:
    """Drag an outline of a cell in a clump outwards; keep the image before and after."""
    press(browser, "c")
    settle(browser)
    before = view_only(browser, take(browser))
    browser.execute_script(
        "const s = declump.cells.shapes.get(declump.view.chosen);"
        "declump.edit({edit: 'pull outline', cell: s.n, row: s.seed[0], column: s.seed[1] - 0.75 * s.radii[180]})"
    )
    settle(browser)
    iio.imwrite(PICTURES / "review-drag.png", mosaic([before, view_only(browser, take(browser))]))


if __name__ == "__main__":
    main()
