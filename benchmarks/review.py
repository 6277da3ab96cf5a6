"""How fast the page of a review answers: from sending an edit to the first and the final new outline.

    python benchmarks/review.py --write
    python benchmarks/review.py --alone --write     # what the server itself needs, which a busy machine can tell, too

A simulated smear is reviewed in Chromium on this machine, with the server beside it. Outlines are dragged, seeds moved
and cells deleted in clumps of up to 20 cells, each edit undone after it; the time is read by the page itself, from
sending the edit to the frame in which the outline is on the screen.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np

import declump
from declump.review import Session
from declump.review.edits import DeleteCell, PullOutline
from pages import commit, replace_part
from review_page import READY, open_review, wait

MIDDLE, LARGEST = 13, 20
"""Cells of the clumps that are told apart, and of the largest one that is edited."""
SMEARS: dict[int, dict[str, int]] = {11: {"cells": 60}, 21: {"cells": 20, "clumps": 1}, 22: {"cells": 54, "clumps": 3}}
"""Smears by their seeds: many clumps of up to 13 cells, one of 20, and one of 19 beside a larger one."""


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


def measure_session(image: np.ndarray, edits: int, rng: np.random.Generator) -> list[dict[str, float]]:
    """Milliseconds of the processor from an edit to its final outlines, without page, log and the work of others."""
    session = Session(image)
    measured: list[dict[str, float]] = []
    while len(measured) < edits:
        clump = session.evolve().clump
        members = np.bincount(clump[clump >= 0])
        chosen = [row for row in range(len(clump)) if clump[row] >= 0 and 2 <= members[clump[row]] <= LARGEST]
        row = int(rng.choice(chosen))
        number = session.numbers[row]
        place = session.state.seed_of(number)
        start = time.process_time()
        edit = [PullOutline(number, place[0] + rng.uniform(30, 60), place[1]), DeleteCell(number)][len(measured) % 2]
        session.make(edit)
        session.evolve()
        spent = 1000 * (time.process_time() - start)
        measured.append({"cells": float(members[clump[row]]), "alone": spent})
        session.undo()
    return measured


def measure_drawing(browser: Any) -> tuple[int, float]:
    """Cells of the open image, and milliseconds that drawing all of them takes."""
    script = (
        "const start = performance.now(); for (let k = 0; k < 5; k++) declump.view.draw();"
        " return [declump.cells.shapes.size, (performance.now() - start) / 5]"
    )
    count, spent = browser.execute_script(script)
    return int(count), float(spent)


def open_image(browser: Any, name: str) -> None:
    """Open an image of the list, and wait for its cells and its table."""
    browser.execute_script(
        "const id = [...declump.images.images.values()].find((image) => image.name === arguments[0]).id;"
        " declump.images.list.querySelector(`[data-id='${id}']`).click()",
        name,
    )
    wait(browser, f"{READY} && declump.images.images.get(declump.page.id).name === '{name}'")
    wait(browser, "declump.cells.values.size === declump.cells.shapes.size")


def tell_row(name: str, values: list[float]) -> str:
    """One row of the table."""
    return f"| {name} | {np.median(values):.0f} | {np.percentile(values, 95):.0f} | {max(values):.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=60, help="in all, a third in each smear")
    parser.add_argument("--alone", action="store_true", help="without a browser: the time of the processor alone")
    parser.add_argument("--write", action="store_true", help="write the table into docs/review.md")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    share = -(-arguments.edits // len(SMEARS))
    smears = {
        f"smear-{seed}": declump.simulate.smear((1024, 1024), overlap=0.5, rng=np.random.default_rng(seed), **cells)
        for seed, cells in SMEARS.items()
    }
    if arguments.alone:
        times = [entry for smear in smears.values() for entry in measure_session(smear.image, share, rng)]
        tell("review alone", describe_alone(times), write=arguments.write)
        return
    measured: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "smears"
        folder.mkdir()
        for name, smear in smears.items():
            iio.imwrite(folder / f"{name}.png", smear.image)
        with open_review(folder, (1500, 950)) as (browser, address):
            browser.get(address)
            wait(browser, "window.declump && declump.begun")
            wait(browser, "[...declump.images.images.values()].every((image) => image.status === 'ready')")
            for name in smears:
                open_image(browser, name)
                time.sleep(2)
                measured += measure_edits(browser, share, rng)
            count, spent = measure_drawing(browser)
    small, largest = (int(max(e["cells"] for e in measured if e["cells"] <= most)) for most in (MIDDLE, LARGEST))
    groups = [(2, small, "first"), (small + 1, largest, "first"), (2, small, "final"), (small + 1, largest, "final")]
    rows = [
        tell_row(
            f"to the {'first new outline' if what == 'first' else 'final outlines'}, clumps of {low} to {high} cells",
            [entry[what] for entry in measured if low <= entry["cells"] <= high],
        )
        for low, high, what in groups
    ]
    above = sum(entry["cells"] > small for entry in measured)
    lines = [
        "| ms from sending an edit | median | p95 | largest |",
        "|---|---|---|---|",
        *rows,
        "",
        f"{len(measured)} edits (outlines dragged, seeds moved, cells deleted), {above} of them in clumps of more than",
        f"{small} cells, in {len(smears)} simulated smears of 1024 x 1024 pixels; drawing {count} cells takes",
        f"{spent:.1f} ms a frame. Measured by `python benchmarks/review.py --write` at commit {commit()}, browser and",
        f"server on one machine with {os.cpu_count()} cores, beside other work (load {os.getloadavg()[1]:.0f}). The",
        "first outline is the shape that the evolution starts from.",
    ]
    tell("review", lines, write=arguments.write)


def describe_alone(times: list[dict[str, float]]) -> list[str]:
    """A table of the time of the processor, by the size of clumps."""
    most = int(max(entry["cells"] for entry in times))
    rows = []
    for low, high in ((2, MIDDLE), (MIDDLE + 1, most)):
        group = [entry["alone"] for entry in times if low <= entry["cells"] <= high]
        rows.append(tell_row(f"clumps of {low} to {high} cells, {len(group)} edits", group))
    return [
        "| ms of the processor from an edit to its final outlines | median | p95 | largest |",
        "|---|---|---|---|",
        *rows,
        "",
        f"Outlines dragged and cells deleted in {len(SMEARS)} simulated smears of 1024 x 1024 pixels. Measured by",
        f"`python benchmarks/review.py --alone --write` at commit {commit()}, beside other work.",
    ]


def tell(part: str, lines: list[str], *, write: bool) -> None:
    """Print a table, and put it into the page."""
    print("\n".join(lines))
    if write:
        replace_part("docs/review.md", part, "\n".join(lines))


if __name__ == "__main__":
    main()
