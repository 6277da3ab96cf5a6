"""What the open constants of the compared methods are worth: each changed, on the images they were chosen on.

    python paper/benchmarks/compared_choices.py --data ../shared/data --write

Every fourth image of ISBI 2014 train, true regions, the prior of ISBI 2015.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import ModuleType
from unittest import mock

import declump
from declump.datasets import AnnotatedImage, isbi2014, isbi2015
from declump.evaluation import pool
from declump_paper.compared import find_method, lsf, mcl
from declump_paper.research.images import true_regions

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from pages import ROOT, commit, replace_part

CHOICES: tuple[tuple[str, ModuleType, str, tuple[float, ...]], ...] = (
    ("steps of each of two neighbours against the other", lsf, "STEPS", (20, 40)),
    ("weight of the region fitting", mcl, "REGION", (0.5, 0.0, 1.0)),
)
"""What is open, where it stands, and what it is set to; first what was chosen."""


def measure(name: str, images: list[AnnotatedImage], prior: declump.ShapePrior) -> float:
    """Dice of overlapping cells of a method."""
    method = find_method(name)
    results = [method(image.image, true_regions(image), prior=prior) for image in images]
    scores = [
        declump.score(image.cells, result.masks, matching="order")
        for image, result in zip(images, results, strict=True)
    ]
    return pool(scores).dice_overlapping


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--write", action="store_true", help="put the table into paper/docs/compared/index.md")
    given = parser.parse_args()
    known = list(isbi2014.read(given.data / "isbi2014"))[::4]
    learnt = declump.learn_prior(isbi2015.read(given.data / "isbi2015"))
    text = ["| | what is open | set to | Dice, overlapping cells |", "|---|---|---|---|"]
    for title, module, constant, values in CHOICES:
        label = module.__name__.rpartition(".")[2]
        for value in values:
            with mock.patch.object(module, constant, value):
                dice = measure(label, known, learnt)
            text.append(f"| `{label}` | {title} | {value:g}{' (chosen)' if value == values[0] else ''} | {dice:.4f} |")
            print(text[-1], flush=True)
    cells = sum(len(image.cells) for image in known)
    text += [
        "",
        f"{len(known)} images, {cells} cells. Measured by `python paper/benchmarks/compared_choices.py --write` "
        f"at commit {commit()}.",
    ]
    if given.write:
        replace_part("paper/docs/compared/index.md", "choices", "\n".join(text))
