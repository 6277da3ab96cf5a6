"""Takes the pictures of docs/review.md: the page of a review of simulated smears, in Chromium.

python docs/review_pictures.py
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np

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


def main() -> None:
    """Take all pictures."""
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
