"""Things that are no cells: overlapping nanoparticles from the mask of where any of them is, and overlapping nuclei.

    python benchmarks/others.py --data ../shared/data/nanoparticles --write

The clump is the union of the true objects. Seeds are the true centroids, or found in the mask. The watersheds of
scikit-image work on the same masks, with the same seeds as markers where these are given and otherwise with their own.
What was settled on these images, and what on simulated ones, stands in docs/others.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import declump
from declump.datasets import AnnotatedImage, objects
from declump.evaluation import overlap_degree, pool
from joined_nuclei import real_nuclei, simulated_nuclei
from joining import divide
from pages import ROOT, commit, replace_part
from watersheds import counts, distinct_seeds, from_h_maxima, from_peaks, from_points

Method = Callable[[np.ndarray, np.ndarray], np.ndarray]


GIVEN: dict[str, Method] = {
    "`declump.split`": lambda mask, seeds: declump.split(mask, seeds=seeds).masks,
    "`declump.evolve`, prior `default`": lambda mask, seeds: declump.evolve(mask, seeds).masks,
    "watershed of the distance": from_points,
}
FOUND: dict[str, Method] = {
    "`declump.split`": lambda mask, _: declump.split(mask).masks,
    "the parts of `find_seeds`, not made whole": lambda mask, _: divide(mask),
    "watershed, peaks 0.5 median depths apart": lambda mask, _: from_peaks(mask, 0.5),
    "watershed, peaks 1 median depth apart": lambda mask, _: from_peaks(mask, 1.0),
    "watershed, h-maxima, h = 0.5 pixels": lambda mask, _: from_h_maxima(mask, 0.5),
    "watershed, h-maxima, h = 1 pixel": lambda mask, _: from_h_maxima(mask, 1.0),
    "watershed, h-maxima, h = 2 pixels": lambda mask, _: from_h_maxima(mask, 2.0),
}
DISTANCES = (0.6, 0.8, 1.0, 1.3, 1.6)
PAIRS = 60


def row(label: str, method: Method, images: list[AnnotatedImage], degrees: list[np.ndarray], matching: str) -> str:
    scores, pairs, seconds = [], [], 0.0
    for image, degree in zip(images, degrees, strict=True):
        mask, seeds = image.clump, distinct_seeds(image.cells, image.seeds)
        start = time.perf_counter()
        masks = method(mask, seeds)
        seconds += time.perf_counter() - start
        scores.append(declump.score(image.cells, masks, matching=matching, overlap_degree=degree))
        pairs.append(counts(image.cells, masks))
        print(".", end="", file=sys.stderr, flush=True)
    score = pool(scores)
    hits, true, found = np.sum(pairs, axis=0)
    figures = (score.dice_all, score.dice_overlapping, *score.dice_by_overlap[1:], 2 * hits / (true + found))
    return f"| {label} | {' | '.join(f'{value:.3f}' for value in figures)} | {found} | {seconds / len(images):.2f} |"


def pair(radius: float, apart: float, random: np.random.Generator) -> np.ndarray:
    """Two discs, the second 0.7 to 1 times as large, some mean radii apart."""
    side, angle, ratio = int(8 * radius), random.uniform(0, 2 * np.pi), random.uniform(0.7, 1)
    rows, columns = np.indices((side, side))
    first = side / 2 + random.uniform(-1, 1, 2)
    second = first + apart * radius * (1 + ratio) / 2 * np.array([np.sin(angle), np.cos(angle)])
    discs = ((first, radius), (second, ratio * radius))
    return np.any([np.hypot(rows - row, columns - column) < size for (row, column), size in discs], axis=0)


def measure_simulated() -> list[str]:
    """Share of simulated pairs of discs in which two seeds are found."""
    lines = [f"| radius | method | {' | '.join(map(str, DISTANCES))} |", "|---" * (2 + len(DISTANCES)) + "|"]
    for radius in (6, 12, 25):
        for method in ("distance", "concavity", "both"):
            random = np.random.default_rng(0)
            shares = [
                np.mean(
                    [len(declump.find_seeds(pair(radius, apart, random), method=method)) == 2 for _ in range(PAIRS)]
                )
                for apart in DISTANCES
            ]
            lines.append(f"| {radius} | `{method}` | {' | '.join(f'{100 * share:.0f} %' for share in shares)} |")
    return lines


HEADER = (
    "| | all objects | overlapping | hidden 1/4 to 1/2 | 1/2 to 3/4 | 3/4 or more | F1 at IoU 0.5 | found "
    "| s an image |\n"
    f"{'|---' * 9}|"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data" / "nanoparticles")
    parser.add_argument("--models", type=Path, default=ROOT / "benchmarks" / "models")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/others.md")
    options = parser.parse_args()
    if not options.data.is_dir():
        sys.exit(f"there is no folder {options.data}: give the one with ID/image.png and ID/objects with --data")
    images = list(objects.read(options.data))
    degrees = [overlap_degree(image.cells) for image in images]
    number = sum(len(image.cells) for image in images)
    declump.split(images[0].clump, seeds=images[0].seeds[:1])  # load before the clock runs
    text = [
        f"Measured by `python benchmarks/others.py --write` at commit {commit()} on {len(images)} images, "
        f"{number} objects.",
        "",
        "### True centroids as seeds",
        "",
        HEADER,
        *(row(label, method, images, degrees, "order") for label, method in GIVEN.items()),
        "",
        "### Seeds found in the mask",
        "",
        HEADER,
        *(row(label, method, images, degrees, "greedy") for label, method in FOUND.items()),
    ]
    pairs = measure_simulated()
    origin = f"Measured by `python benchmarks/others.py --write` at commit {commit()}."
    nuclei = [origin, "", *simulated_nuclei(), "", *real_nuclei(options.data.parent, options.models)]
    print("\n".join([*text, "", *pairs, "", *nuclei]))
    if options.write:
        replace_part("docs/others.md", "nuclei", "\n".join(nuclei))
        replace_part("docs/others.md", "others", "\n".join(text))
        replace_part("docs/others.md", "pairs", "\n".join(pairs))


if __name__ == "__main__":
    main()
