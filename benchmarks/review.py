"""How fast the page of a review answers: from sending an edit to the first and the final new outline.

    python benchmarks/review.py --write

A simulated smear is reviewed in Chromium on this machine, with the server beside it. Outlines are dragged, seeds moved
and cells deleted in clumps of up to 20 cells, each edit undone after it; the time is read by the page itself, from
sending the edit to the frame in which the outline is on the screen.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np

import declump
from declump.review import Session, freeze_image
from declump.review.edits import DeleteCell, PullOutline
from pages import commit, replace_part
from review_page import READY, open_review, wait

LARGEST = 20
"""Cells of the largest clump that is edited."""


DRAWN = "declumpTimes.length && declumpTimes.at(-1).final !== null"


def measure_edits(browser: Any, edits: int, rng: np.random.Generator) -> list[dict[str, float]]:
    """Milliseconds from sending an edit to the first and to the final outline, with the size of its clump."""
    measured = []
    while len(measured) < edits:
        cells = browser.execute_script(
            "const known = [...declump.cells.shapes.values()].filter((s) => s.clump >= 0);"
            " return known.map((s) => [s.n, s.clump, ...s.seed, s.radii[90]])"
        )
        members = np.bincount([int(cell[1]) for cell in cells if cell[1] >= 0])
        chosen = [cell for cell in cells if cell[1] >= 0 and 2 <= members[int(cell[1])] <= LARGEST]
        n, clump, row, column, down = chosen[rng.integers(len(chosen))]
        kind = len(measured) % 3
        edit = [
            f"{{edit: 'pull outline', cell: {n}, row: {row + down * rng.uniform(0.85, 1.15)}, column: {column}}}",
            f"{{edit: 'delete cell', cell: {n}}}",
            f"{{edit: 'move seed', cell: {n}, row: {row + 2}, column: {column + 2}}}",
        ][kind]
        browser.execute_script(f"declumpTimes.length = 0; declump.edit({edit})")
        time.sleep(0.05)
        try:
            wait(browser, f"({DRAWN}) || !declumpTimes.length")
        except TimeoutError:
            continue
        times = browser.execute_script("return declumpTimes.map((t) => [t.first - t.sent, t.final - t.sent])")
        if not times:
            continue  # an edit that could not be made
        measured.append({"cells": float(members[int(clump)]), "first": times[0][0], "final": times[0][1]})
        browser.execute_script("declumpTimes.length = 0; declump.edit({edit: 'undo'})")
        wait(browser, f"{DRAWN} && {READY}")
        time.sleep(0.3)
    return measured


def measure_session(image: np.ndarray, edits: int, rng: np.random.Generator) -> np.ndarray:
    """Milliseconds of the processor from an edit to its final outlines, without page, log and the work of others."""
    session = Session(image, freeze_image(image, declump.batch.Options()))
    spent: list[float] = []
    session.evolve()
    while len(spent) < edits:
        number = int(rng.choice(session.numbers))
        row, column = session.state.seed_of(number)
        start = time.process_time()
        session.make([PullOutline(number, row + rng.uniform(30, 60), column), DeleteCell(number)][len(spent) % 2])
        session.evolve()
        spent.append(1000 * (time.process_time() - start))
        session.undo()
    return np.array(spent)


def measure_drawing(browser: Any) -> tuple[int, float]:
    """Cells of the open image, and milliseconds that drawing all of them takes."""
    script = (
        "const start = performance.now(); for (let k = 0; k < 5; k++) declump.view.draw();"
        " return [declump.cells.shapes.size, (performance.now() - start) / 5]"
    )
    count, spent = browser.execute_script(script)
    return int(count), float(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=60)
    parser.add_argument("--write", action="store_true", help="write the table into docs/review.md")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "smears"
        folder.mkdir()
        smear = declump.simulate.smear((1024, 1024), cells=60, overlap=0.5, rng=np.random.default_rng(11))
        iio.imwrite(folder / "smear.png", smear.image)
        with open_review(folder, (1500, 950)) as (browser, address):
            browser.get(address)
            wait(browser, READY)
            time.sleep(3)
            measured = measure_edits(browser, arguments.edits, rng)
            count, spent = measure_drawing(browser)
    alone = measure_session(smear.image, arguments.edits, rng)
    first, final = (np.array([entry[name] for entry in measured]) for name in ("first", "final"))
    largest = int(max(entry["cells"] for entry in measured))
    table = {"first new outline": first, "final outlines": final, "final outlines, time of the processor alone": alone}
    lines = [
        "| ms from sending an edit | median | p95 | largest |",
        "|---|---|---|---|",
        *(
            f"| to the {name} | {np.median(each):.0f} | {np.percentile(each, 95):.0f} | {each.max():.0f} |"
            for name, each in table.items()
        ),
        "",
        f"{len(measured)} edits (outlines dragged, seeds moved, cells deleted) in clumps of 2 to {largest} cells of a",
        f"simulated smear of 1024 x 1024 pixels; drawing its {count} cells takes {spent:.1f} ms a frame. Measured by",
        f"`python benchmarks/review.py --write` at commit {commit()}, browser and server on one machine. The first",
        "outline is the shape that the evolution starts from; the last row is what the server itself needs.",
    ]
    print("\n".join(lines))
    if arguments.write:
        replace_part("docs/review.md", "review", "\n".join(lines))


if __name__ == "__main__":
    main()
