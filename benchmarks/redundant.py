"""What a doubtful cell must explain, chosen by nuclei of images that no network of a fold saw.

    python benchmarks/redundant.py --data ../shared/data --write

Frames of Cervix93 and colour frames, whose nuclei are marked by points, are segmented once with a low limit and all
doubtful cells; then cells are left out as :mod:`declump.pipelines.decide` does, for several limits of it and of the
judge, and the nuclei that stay are counted. Evolved outlines stand for the proposed ones here, so that all of it
follows from one run.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

import colour_marks
import declump
from declump.datasets import marked
from declump.datasets.marked import MarkedNuclei
from declump.pipelines import decide
from declump.regions.inference import open_region_model
from declump.regions.judge import open_judge
from judge import f1, make_frame
from pages import ROOT, commit, replace_part

LOWEST = 0.15
"""Least probability of a nucleus in the run that all rows follow from."""
LIMITS = (0.15, 0.2, 0.3, 0.4, 0.5)
RULES = ((0.0, 0.0), (0.5, 0.2), (0.6, 0.1), (0.6, 0.2), (0.6, 0.3), (0.7, 0.2), (0.8, 0.2))
"""Probability below which a cell is doubtful, and the share that then has to be its own."""


@dataclass(frozen=True, eq=False)
class Frame:
    """Cells of an image, and which marked point each nucleus may stand for (P, N)."""

    result: declump.Segmentation
    probability: np.ndarray
    near: np.ndarray

    def count(self, limit: float, doubtful: float, own: float) -> np.ndarray:
        """Nuclei right, found and true that stay."""
        probable = np.flatnonzero(self.probability >= limit)
        cells = [self.result.crops[index] for index in probable]
        decide.SURE, decide.OWN = doubtful, own
        everywhere = np.ones(self.result.shape, np.bool_)
        left = np.delete(probable, decide.find_redundant(cells, self.probability[probable], everywhere))
        near = self.near[:, left]
        return np.array([near[linear_sum_assignment(near, maximize=True)].sum(), len(left), len(near)])


def read_frames(images: Iterable[MarkedNuclei], letter: str, models: Path) -> Iterator[Frame]:
    """Segment those of some frames that a fold did not see, with all doubtful cells."""
    regions, judge = open_region_model(models / f"regions-{letter}.onnx"), open_judge(models / f"judge-{letter}.onnx")
    decide.SURE = 0.0
    for image in images:
        if image.name in judge.card["held out"]:
            found = make_frame(image, None, regions, judge).judged(LOWEST)
            result = declump.segment(
                image.image, regions=found, rays=models / f"rays-{letter}.onnx", min_nucleus=LOWEST
            )
            assert result.nuclei is not None and result.nucleus_probability is not None
            areas = np.bincount(result.nuclei.ravel(), minlength=len(result) + 1)[1:]
            distances = np.hypot(*(image.points[:, None] - result.seeds[None]).transpose(2, 0, 1))
            yield Frame(result, result.nucleus_probability, distances <= 1.2 * np.sqrt(areas / np.pi))


def describe(sets: Sequence[Sequence[Frame]], limit: float, doubtful: float, own: float) -> str:
    figures = []
    for frames in sets:
        counts = np.sum([frame.count(limit, doubtful, own) for frame in frames], axis=0)
        figures.append(f"{counts[0] / counts[2]:.3f} | {counts[0] / counts[1]:.3f} | {f1(counts):.4f}")
    rule = f"below {doubtful} | {own}" if doubtful else "none | "
    return f"| {limit} | {rule} | " + " | ".join(figures) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / "benchmarks" / "models")
    parser.add_argument("--write", action="store_true", help="put the table into docs/results.md")
    options = parser.parse_args()
    images = list(marked.read(options.data / "cervix93")), list(colour_marks.read(options.data / "colour"))
    sets = [[frame for letter in "ab" for frame in read_frames(group, letter, options.models)] for group in images]
    lines = [
        f"Measured by `python benchmarks/redundant.py --write` at commit {commit()}; {len(sets[0])} unseen frames of "
        f"Cervix93 and {len(sets[1])} in colour; recall, precision and F1 of nuclei.",
        "",
        "| least probability | doubtful | least share of its own | Cervix93, recall | precision | F1 "
        "| colour, recall | precision | F1 |",
        "|---" * 9 + "|",
        *(describe(sets, limit, *rule) for limit in LIMITS for rule in RULES),
    ]
    print("\n".join(lines))
    if options.write:
        replace_part("benchmarks/redundant.md", "redundant", "\n".join(lines))


if __name__ == "__main__":
    main()
