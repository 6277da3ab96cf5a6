"""Whether the page of a review stays fluent with a thousand images, and with five thousand cells in one.

    python benchmarks/review_load.py --write

Both folders are simulated, segmented by ``declump segment`` from grey levels and shapes alone (``--regions classical``,
``--evidence clump``), which is enough for the page: it is opened in Chromium on this machine, and tells how long it
takes to show an image, draw, sort, and answer an edit.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np

import declump
from pages import commit, replace_part
from review_page import READY, open_review, wait

IMAGES, SIDE = 1000, 10
"""Images of the one folder; tiles along a side of the image in the other: what is asked for."""
GLASS = 12
"""Pixels of empty glass round a tile."""
SHOWN = "window.declump && declump.begun && declump.page.image"
FRAMES = """
const [done] = arguments;
const times = [];
let last = performance.now(), left = 40;
function frame() {
  const now = performance.now();
  times.push(now - last);
  last = now;
  if (!left--) return done(times.slice(1));
  ACT;
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
"""
PAN = (
    "declump.view.osd.viewport.panBy(new OpenSeadragon.Point(left % 2 ? 0.01 : -0.01, 0.005), true);"
    " declump.view.draw()"
)
SCROLL = "document.getElementById('image-list').scrollTop += 400"


def draw_tile(number: int, side: int, cells: int) -> np.ndarray:
    """A smear with empty glass all round, so that clumps of neighbouring tiles do not join."""
    tile = declump.simulate.smear(
        (side - 2 * GLASS, side - 2 * GLASS), cells=cells, radius=24, overlap=0.2, stain="grey", variety=0, debris=0,
        blur=0.5, illumination=0, rng=number,
    ).image  # fmt: skip
    return np.pad(tile, GLASS, constant_values=int(np.percentile(tile, 90)))


def segment(images: Path, out: Path) -> None:
    """Segment a folder by what is quick, as only the page is measured."""
    command = [sys.executable, "-m", "declump.cli", "segment", images, "-o", out]
    options = ["--evidence", "clump", "--judge", "none"]
    subprocess.run([*map(str, command), *options], check=True, stdout=subprocess.DEVNULL)


def measure_frames(browser: Any, act: str) -> np.ndarray:
    """Milliseconds from frame to frame while something is done in each."""
    browser.set_script_timeout(120)
    return np.array(browser.execute_async_script(FRAMES.replace("ACT", act)))  # the page forbids eval


def measure_script(browser: Any, script: str) -> float:
    """Milliseconds that a script takes, the median of five runs."""
    timed = f"const a = performance.now(); {script}; return performance.now() - a"
    return float(np.median([browser.execute_script(timed) for _ in range(5)]))


def measure_edit(browser: Any) -> tuple[float, float]:
    """Milliseconds to the first and the final outline, the median of five seeds moved."""
    measured = []
    for _ in range(5):
        browser.execute_script(
            "declumpTimes.length = 0; const cells = [...declump.cells.shapes.values()].filter((s) => s.reach > 0);"
            " const one = cells[Math.floor(cells.length / 2)];"
            " declump.edit({edit: 'pull outline', cell: one.n, row: one.seed[0] + one.reach, column: one.seed[1]})"
        )
        wait(browser, "declumpTimes.length && declumpTimes.at(-1).final !== null")
        measured.append(
            browser.execute_script("const t = declumpTimes[0]; return [t.first - t.sent, t.final - t.sent]")
        )
        browser.execute_script("declumpTimes.length = 0; declump.edit({edit: 'undo'})")
        wait(browser, "declumpTimes.length && declumpTimes.at(-1).final !== null && !declump.page.busy")
    first, final = np.median(measured, axis=0)
    return float(first), float(final)


def open_timed(browser: Any, address: str) -> float:
    """Open the page; give the seconds until an image is on it."""
    start = time.monotonic()
    browser.get(address)
    wait(browser, SHOWN)
    return time.monotonic() - start


def measure_many_images(work: Path, count: int) -> dict[str, str]:
    images = work / "many"
    images.mkdir()
    tiles = [draw_tile(number, 160, 3) for number in range(20)]
    for number in range(count):
        iio.imwrite(images / f"smear-{number:04}.png", np.rot90(tiles[number % 20], number // 20 % 4))
    segment(images, work / "many-results")
    with open_review(work / "many-results", (1500, 950)) as (browser, address):
        shown = open_timed(browser, address)
        scrolled = measure_frames(browser, SCROLL)
        arranged = measure_script(browser, "declump.images.arrange()")
        opened = []
        for _ in range(10):
            before = browser.execute_script("return declump.page.id")
            start = time.monotonic()
            browser.execute_script(
                "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'PageDown', bubbles: true}))"
            )
            wait(browser, f"declump.page.id !== '{before}' && {READY}")
            opened.append(1000 * (time.monotonic() - start))
    return {
        f"{count} images: first image on the page, s": f"{shown:.1f}",
        f"{count} images: a frame while the list is scrolled, ms (median, largest)": _spread(scrolled),
        f"{count} images: the list sorted anew, ms": f"{arranged:.0f}",
        f"{count} images: next image open with its table, ms (median)": f"{np.median(opened):.0f}",
    }


def measure_many_cells(work: Path, side: int) -> dict[str, str]:
    images = work / "large"
    images.mkdir()
    tiles = [draw_tile(100 + number, 512, 76) for number in range(side)]
    rows = [np.concatenate([tiles[(row + column) % side] for column in range(side)], axis=1) for row in range(side)]
    mosaic = np.concatenate(rows)
    iio.imwrite(images / "mosaic.png", mosaic)
    segment(images, work / "large-results")
    with open_review(work / "large-results", (1500, 950)) as (browser, address):
        open_timed(browser, address)  # regions are found for the review once
        wait(browser, READY)
        browser.get("about:blank")
        shown = open_timed(browser, address)
        wait(browser, READY)
        cells = browser.execute_script("return declump.cells.shapes.size")
        far = measure_frames(browser, PAN)
        browser.execute_script("declump.view.osd.viewport.zoomTo(3, null, true)")
        time.sleep(1)
        near = measure_frames(browser, PAN)
        sorted_ = measure_script(browser, "declump.table.update()")
        found = measure_script(browser, "for (let k = 0; k < 100; k++) declump.cells.at(20 * k, 25 * k)") / 100
        first, final = measure_edit(browser)
    name = f"{cells} cells in {mosaic.shape[0]} x {mosaic.shape[1]} pixels"
    return {
        f"{name}: image on the page, s": f"{shown:.1f}",
        f"{name}: a frame while all are moved, ms (median, largest)": _spread(far),
        f"{name}: a frame while a third is moved, ms (median, largest)": _spread(near),
        f"{name}: the table sorted and drawn, ms": f"{sorted_:.0f}",
        f"{name}: the cell under the pointer found, ms": f"{found:.2f}",
        f"{name}: edit to the first and the final outline, ms (median)": f"{first:.0f}, {final:.0f}",
    }


def _spread(times: np.ndarray) -> str:
    return f"{np.median(times):.0f}, {times.max():.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=IMAGES, help="of the one folder")
    parser.add_argument("--side", type=int, default=SIDE, help="tiles along a side of the image in the other")
    parser.add_argument("--write", action="store_true", help="write the table into docs/review.md")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rows = measure_many_cells(Path(scratch), arguments.side)
        rows |= measure_many_images(Path(scratch), arguments.images)
    lines = [
        "| load | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in rows.items()),
        "",
        f"Measured by `python benchmarks/review_load.py --write` at commit {commit()}, Chromium without a GPU and the",
        "server on one machine; simulated smears, segmented from grey levels and shapes alone.",
    ]
    print("\n".join(lines))
    if arguments.write:
        replace_part("docs/review.md", "load", "\n".join(lines))


if __name__ == "__main__":
    main()
