"""Takes the pictures of docs/review.md: the page of a review of simulated smears, in Chromium.

python docs/review_pictures.py
"""

from __future__ import annotations

import io
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
from selenium.webdriver import Chrome, ChromeOptions, ChromeService

import declump
from declump.pictures import mosaic

PICTURES = Path(__file__).parent / "pictures"
READY = "window.declump && declump.begun && declump.page.image && declump.cells.columns.length && !declump.page.busy"


def open_browser() -> Any:
    """Headless Chromium."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu", "window-size=1400,860"):
        options.add_argument(f"--{argument}")
    return Chrome(options=options, service=ChromeService(shutil.which("chromedriver")))


def wait(browser: Any, condition: str) -> None:
    """Wait until the page says that something is so."""
    while not browser.execute_script(f"return !!({condition})"):
        time.sleep(0.1)
    time.sleep(1)


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
        command = [sys.executable, "-m", "declump.cli", "open", str(folder), "--no-browser"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            lines = [server.stdout.readline() for _ in range(2)]
            browser = open_browser()
            try:
                browser.get(lines[1].split()[1])
                wait(browser, "document.querySelectorAll('#image-list li.ready').length === 3")
                browser.get("about:blank")
                browser.get(lines[1].split()[1])
                wait(browser, READY)
                browser.execute_script(
                    "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '.', bubbles: true}))"
                )
                wait(browser, READY)
                iio.imwrite(PICTURES / "review.png", take(browser))
                drag(browser)
                browser.execute_script(
                    "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'g', bubbles: true}))"
                )
                time.sleep(3)
                iio.imwrite(PICTURES / "review-grid.png", take(browser))
            finally:
                browser.quit()
                server.send_signal(signal.SIGINT)
                server.wait(timeout=60)


def drag(browser: Any) -> None:
    """Drag an outline of a cell in a clump outwards; keep the image before and after."""
    press(browser, "c")
    wait(browser, READY)
    before = view_only(browser, take(browser))
    browser.execute_script(
        "const s = declump.cells.shapes.get(declump.view.chosen);"
        "declump.edit({edit: 'pull outline', cell: s.n, row: s.seed[0], column: s.seed[1] - 0.75 * s.radii[180]})"
    )
    time.sleep(0.5)
    wait(browser, READY)
    iio.imwrite(PICTURES / "review-drag.png", mosaic([before, view_only(browser, take(browser))]))


if __name__ == "__main__":
    main()
