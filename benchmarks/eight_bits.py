"""What a region network in 8 bits costs in accuracy, on images that it did not see.

    python benchmarks/eight_bits.py --data ../shared/data --write

The fold models of benchmarks/models, in float and as ``declump train quantise`` writes them (quantised here, into
build/). A frame has some tens of cells, and any change, however small, moves one or two doubtful nuclei across a limit;
so every frame is looked at several times, each time without other rows and columns at its border, and the two networks
are compared pair by pair.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import declump
from declump.datasets import AnnotatedImage, isbi2014, isbi2015
from declump.evaluation import Score
from declump.models import read_card
from declump.regions.find import find_regions
from declump.training.quantising import quantise
from pages import ROOT, commit, replace_part

SETS = {"ISBI 2015": isbi2015, "ISBI 2014": isbi2014}
BORDER = 32
"""At most so many rows and columns are left out on a side."""


@dataclass(frozen=True)
class Pair:
    """Scores of one view of one image, with the network in float and in 8 bits."""

    fold: str
    image: str
    views: tuple[Score, Score]

    def difference(self, figure: str) -> float:
        """What 8 bits give more."""
        return float(getattr(self.views[1], figure) - getattr(self.views[0], figure))


def crop(image: AnnotatedImage, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Image and cells without some rows and columns at the border."""
    low, high = rng.integers(0, BORDER, 2), np.array(image.image.shape[:2]) - rng.integers(0, BORDER, 2)
    window = tuple(slice(start, stop) for start, stop in zip(low, high, strict=True))
    cells = image.cells[:, *window]
    return np.ascontiguousarray(image.image[window]), cells[cells.any(axis=(1, 2))]


def compare(letter: str, name: str, data: Path, models: Path, views: int) -> Iterator[Pair]:
    """Look at the unseen images of a fold, so many times each."""
    network, rays = models / f"regions-{letter}.onnx", models / f"rays-{letter}.onnx"
    short = ROOT / "build" / "eight-bits" / network.name
    if not short.is_file() or short.stat().st_mtime < network.stat().st_mtime:
        short.parent.mkdir(parents=True, exist_ok=True)
        quantise(network, short)
    unseen = set(read_card(network)["held out"])
    images = list(SETS[name].read(data / name.lower().replace(" ", "")))
    prior = declump.learn_prior([image for image in images if image.name not in unseen])
    for image in (image for image in images if image.name in unseen):
        for view in range(views):
            pixels, cells = crop(image, np.random.default_rng([view, len(image.name)]))
            scores = []
            for model in (network, short):
                regions = find_regions(pixels, model=model, judge=models / f"judge-{letter}.onnx")
                scores.append(
                    declump.score(cells, declump.segment(pixels, regions=regions, rays=rays, prior=prior).masks)
                )
            yield Pair(letter, image.name, (scores[0], scores[1]))


def describe(label: str, pairs: list[Pair]) -> str:
    """Row of the table: the figures in float, the mean difference and its standard error over images."""
    cells = []
    for figure in ("dice_all", "aji", "fno", "fdo"):
        in_float = np.mean([getattr(pair.views[0], figure) for pair in pairs])
        by_image: dict[str, list[float]] = {}
        for pair in pairs:
            by_image.setdefault(pair.image, []).append(pair.difference(figure))
        means = np.array([np.mean(values) for values in by_image.values()])
        error = means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
        cells.append(f"{in_float:.4f}, {means.mean():+.4f} ± {error:.4f}")
    return f"| {label} | {len(pairs)} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / "benchmarks" / "models")
    parser.add_argument("--views", type=int, default=8, help="views of each frame of ISBI 2015; 2014 has a quarter")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    given = parser.parse_args()
    lines = [
        f"Measured by `python benchmarks/eight_bits.py --views {given.views} --write` at commit {commit()}.",
        "",
        "| in float, and what 8 bits give more | views | Dice, all cells | AJI | FNo | FDo |",
        "|---|---|---|---|---|---|",
    ]
    for name, views in (("ISBI 2015", given.views), ("ISBI 2014", max(given.views // 4, 1))):
        pairs = []
        for letter in "ab":
            own = list(compare(letter, name, given.data, given.models, views))
            lines.append(describe(f"{name}, fold {letter}", own))
            print(lines[-1], flush=True)
            pairs += own
        lines.append(describe(f"{name}, both", pairs))
        print(lines[-1], flush=True)
    if given.write:
        replace_part("docs/performance.md", "eight bits", "\n".join(lines))


if __name__ == "__main__":
    main()
