"""What a round of review gains: three images corrected, the networks trained on them, the rest segmented anew.

    python benchmarks/review_round.py --lab near --write
    python benchmarks/review_round.py --lab far --write

The images are simulated smears of a lab whose appearance the shipped models have not learnt: one near to what they
know, a little out of focus with faint edges, coarse texture and much debris; and one far from it, where all of that is
worse, the light is uneven, cells are folded and the camera is noisy (chosen among three by how badly the shipped models
do on two of its images, before any gain was known). The hand that corrects them is simulated, too: it paints clumps in
and out where they are wrong by more than a brush, deletes what has no nucleus in the truth, adds what is missed, and
drags an outline where it is off by more than a person would tolerate, a few times a cell. All else is the real thing:
edits go through the session and its log, models through ``declump train --start default`` on the reviewed folder.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import imageio.v3 as iio
import numpy as np
from scipy import ndimage

import declump
from declump.review.album import open_album
from declump.review.edits import AddSeed, DeleteCell, Edit, FinishImage, PaintClump, PullOutline
from declump.review.images import ReviewedImage, prepare_image
from declump.shapes.contours import outermost_crossings
from declump.simulate import Smear
from pages import commit, replace_part

CORRECTED, REST = 3, 8
"""Images that are corrected, and that are measured on."""
FIRST = 9_000
"""Seed of the first image; those from 7000 on guided how networks are taught further, and tell nothing any more."""
TOLERANCE, PULLS = 6.0, 4
"""Pixels by which an outline may be off, and the times that one is dragged at most."""
BRUSH = 10
"""Radius in pixels of the brush that clumps are painted with."""
STEPS, SIMULATED = 300, 12
"""Batches of each training, and smears of the usual appearance that are learnt from as well: so that what the networks
know is kept."""
LABS = {
    "near": {"texture": 2.5, "edges": 0.3, "blur": 2.5, "debris": 2.0, "noise": 2.0},
    "far": {"texture": 4.0, "edges": 0.0, "blur": 5.0, "debris": 4.0, "noise": 8.0, "illumination": 3.0, "folds": 3.0},
}
"""Appearance of smears by lab: factors on what is usual."""
WHERE = {"near": "near to", "far": "far from"}


def simulate_lab(lab: str, count: int) -> list[Smear]:
    """Smears of a lab that the models do not know."""
    return [
        declump.simulate.smear((512, 512), cells=14, overlap=0.55, stain="grey", rng=FIRST + number, **LABS[lab])
        for number in range(count)
    ]


def correct(image: ReviewedImage, truth: Smear) -> int:
    """Correct an image by its truth, as a person would; give the number of edits."""
    made = 0

    def make(edit: Edit) -> None:
        nonlocal made
        try:
            image.session.make(edit)
        except ValueError:
            return  # as the page would say: there is no clump here, or another nucleus
        image.log.append(edit.to_record(), f"edit {made}")
        made += 1

    session = image.session
    for stroke in paint(session.state.clump, truth.cells.any(axis=0)):
        make(stroke)
    taken = set()
    for number in session.numbers:
        row, column = (round(part) for part in session.state.seed_of(number))
        here = [cell for cell in np.flatnonzero(truth.nuclei[:, row, column]).tolist() if cell not in taken]
        taken |= set(here[:1])
        if not here:
            make(DeleteCell(number))
    for cell in range(len(truth.cells)):
        if cell not in taken and truth.nuclei[cell].any():
            make(AddSeed(*map(float, np.argwhere(truth.nuclei[cell]).mean(axis=0).round())))
    for _ in range(PULLS):
        result, numbers = session.evolve(), session.numbers
        for row, number in enumerate(numbers):
            seed = result.seeds[row].astype(int)
            own = np.flatnonzero(truth.nuclei[:, seed[0], seed[1]])
            if not own.size:
                continue
            wanted, _ = outermost_crossings(truth.cells[own[0]], result.seeds[row], result.radii.shape[1])
            off = np.abs(result.radii[row] - wanted)
            if off.max() > TOLERANCE:
                angle = 2 * np.pi * off.argmax() / off.size
                place = result.seeds[row] + wanted[off.argmax()] * np.array([np.sin(angle), np.cos(angle)])
                make(PullOutline(number, *place.tolist()))
    make(FinishImage(True))
    return made


def paint(found: np.ndarray, true: np.ndarray) -> Iterator[PaintClump]:
    """Strokes, row by row, over parts of the clumps that are missed or false and wide enough for the brush."""
    brush = np.hypot(*np.mgrid[-BRUSH : BRUSH + 1, -BRUSH : BRUSH + 1]) <= BRUSH
    for wrong, inside in ((true & ~found, True), (found & ~true, False)):
        places = ndimage.binary_erosion(wrong, brush, border_value=1)
        for row in np.flatnonzero(places.any(axis=1))[::BRUSH].tolist():
            runs, count = ndimage.label(places[row])
            for number in range(1, count + 1):
                columns = np.flatnonzero(runs == number)
                ends = ((float(row), float(columns[0])), (float(row), float(columns[-1])))
                yield PaintClump(ends, float(BRUSH), inside)


def review(results: Path, truths: list[Smear]) -> tuple[int, list[float], list[float]]:
    """Review all images of a results folder; give the edits, and Dice over all cells before and after them."""
    album = open_album(results)
    edits, before, after = 0, [], []
    for entry, truth in zip(album.entries.values(), truths, strict=True):
        prepare_image(entry.source, album.options, entry.folder)
        before.append(score(declump.io.read(entry.folder), truth))
        image = ReviewedImage(entry.source, album.options, entry.folder)
        edits += correct(image, truth)
        image.save()
        image.close()
        after.append(score(declump.io.read(entry.folder), truth))
    return edits, before, after


def score(result: declump.Segmentation, truth: Smear) -> float:
    """Dice over all cells, a missed one counting 0."""
    return declump.score(truth.cells, result.masks).dice_all


def run(*arguments: str | int | Path) -> float:
    """Run a command of declump; give the minutes of a processor that it takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "declump.cli", *map(str, arguments)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 60


def segment_rest(images: Path, out: Path, truths: list[Smear], *models: str | Path) -> list[float]:
    """Segment images, and give Dice over all cells of each."""
    run("segment", images, "-o", out, *models)
    found = [declump.io.read(out / path.stem) for path in sorted(images.iterdir())]
    return [score(result, truth) for result, truth in zip(found, truths, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lab", choices=LABS, default="near", help="whose smears")
    parser.add_argument("--steps", type=int, default=STEPS, help="batches of each training")
    parser.add_argument("--write", action="store_true", help="write the table into docs/review.md")
    arguments = parser.parse_args()
    truths = simulate_lab(arguments.lab, CORRECTED + REST)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        for number, truth in enumerate(truths):
            place = work / ("corrected" if number < CORRECTED else "rest") / f"smear-{number:02}.png"
            place.parent.mkdir(exist_ok=True)
            iio.imwrite(place, truth.image)
        reviewed, rest = work / "results", truths[CORRECTED:]
        run("segment", work / "corrected", "-o", reviewed)
        edits, before, after = review(reviewed, truths[:CORRECTED])
        shipped = segment_rest(work / "rest", work / "shipped", rest)
        regions, rays, judge, second = (work / f"{name}.onnx" for name in ("regions", "rays", "judge", "second"))
        how = ("--data", reviewed, "--start", "default", "--steps", arguments.steps)
        minutes = run("train", "regions", *how, "--simulated", SIMULATED, "-o", regions)
        minutes += run("train", "rays", *how, "--simulated", SIMULATED, "-o", rays)
        minutes += run("train", "judge", *how, "--simulated", SIMULATED, "-o", judge)
        minutes += run("train", "judge", *how, "--simulated", SIMULATED, "--regions", regions, "-o", second)
        own = {
            "own judge of nuclei": ("--judge", judge),
            "own rays": ("--rays", rays),
            "own regions": ("--regions", regions),
            "all own": ("--regions", regions, "--judge", second, "--rays", rays),
        }
        rows = {"shipped models": shipped}
        for number, (name, models) in enumerate(own.items()):
            rows[name] = segment_rest(work / "rest", work / f"own-{number}", rest, *models)
            print(name, np.mean(rows[name]) - np.mean(shipped), flush=True)
    cells = sum(len(truth.cells) for truth in truths[:CORRECTED])
    lines = [
        f"| {REST} images that nobody corrected | Dice over all cells | gain | images that gain |",
        "|---|---|---|---|",
        *(
            f"| {name} | {np.mean(row):.3f} | {np.mean(row) - np.mean(shipped):+.3f} | "
            f"{sum(new > old for new, old in zip(row, shipped, strict=True))} of {REST} |"
            for name, row in rows.items()
        ),
        "",
        f"{CORRECTED} simulated smears with {cells} cells, {WHERE[arguments.lab]} what the models know, were",
        f"corrected by {edits} edits: Dice over all cells rose from {np.mean(before):.3f} to {np.mean(after):.3f}.",
        f"Training, {arguments.steps} batches from the shipped networks each, with {SIMULATED} usual smears beside the",
        f"corrected ones, took {minutes:.0f} minutes of one processor. Measured by",
        f"`python benchmarks/review_round.py --lab {arguments.lab} --write` at commit {commit()}.",
    ]
    print("\n".join(lines))
    if arguments.write:
        replace_part("docs/review.md", f"round {arguments.lab}", "\n".join(lines))


if __name__ == "__main__":
    main()
