"""What the paper's package makes of the fixed inputs of ``tests/support/golden_outputs.py``.

``python paper/tests/paper_support/golden_outputs.py`` writes the digests anew into ``golden.json``. Do that only in a
commit that says which outputs changed, and why.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
sys.path[:0] = [path for path in (str(ROOT / "tests"),) if path not in sys.path]

import declump  # noqa: E402
from declump_paper import pictures  # noqa: E402
from declump_paper.compared import METHODS, find_method  # noqa: E402
from declump_paper.comparison import compare  # noqa: E402
from declump_paper.folds import folds  # noqa: E402
from declump_paper.importance import held_out_importance, learn_importance  # noqa: E402
from declump_paper.regions import find_regions  # noqa: E402
from declump_paper.research.ablations.examples import evolve_clump_by_examples  # noqa: E402
from declump_paper.research.ablations.level_sets import evolve_clump_by_level_sets  # noqa: E402
from support.golden_outputs import (  # noqa: E402
    annotated,
    command,
    describe,
    discs,
    scratch,
    segmented,
    smear,
    store,
    true_regions,
)
from support.golden_outputs import pictures as images  # noqa: E402

STORE = Path(__file__).parents[1] / "golden" / "golden.json"


def regions() -> Iterator[tuple[str, Any]]:
    yield "refined", find_regions(images()["grey"], refined=True)


def evolved() -> Iterator[tuple[str, Any]]:
    known = smear("grey")
    prior = declump.learn_prior([annotated(0)], rays=72, copies=False, reach=False, with_examples=True)
    for name, solver in (("ablation F", evolve_clump_by_examples), ("ablation M", evolve_clump_by_level_sets)):
        yield name, declump.evolve(known.clump, known.seeds, prior=prior, setting="paper", solver=solver)


def learnt() -> Iterator[tuple[str, Any]]:
    smears = [annotated(number) for number in range(2)]
    how = {"rays": 48, "copies": False}
    importance = learn_importance(smears, cycles=1, tries=2, reach=False, **how)
    yield "importance", importance
    yield "held-out importance", held_out_importance(smears, iterations=20, **how)
    yield "prior with importance", declump.learn_prior(smears, reach=False, **importance.to_weights(), **how)


def divided() -> Iterator[tuple[str, Any]]:
    yield "folds", list(folds(9, n_folds=3))


def compared() -> Iterator[tuple[str, Any]]:
    prior = declump.ShapePrior.load("default")
    for name in METHODS:
        yield name, find_method(name)(images()["grey"], true_regions(), prior=prior)
    found = compare(images()["grey"], methods=["declump", "cf"], regions=true_regions(), truth=smear("grey").cells)
    yield "side by side", [(each.name, each.segmentation, each.score) for each in found]


def drawings() -> Iterator[tuple[str, Any]]:
    result, image = segmented("pap"), images()["pap"]
    yield "comparison", pictures.comparison_picture([(image, [result, result])], ["one", "two"], side=120)
    growth = pictures.record_growth(*discs(), clump=0)
    yield "growth", growth
    yield "strip", pictures.growth_strip(growth, count=3)
    with scratch() as folder:
        pictures.write_growth(growth, folder / "growth.png")
        yield "animation", folder


def commands() -> Iterator[tuple[str, Any]]:
    """Files that the command line writes, but those that tell how long anything took."""
    with scratch() as folder:
        for number in range(2):
            small = declump.simulate.smear((170, 170), cells=5, radius=22, overlap=0.5, clumps=2, rng=number)
            declump.simulate.write(small, folder / "small" / str(number))
        command(
            folder, "reproduce", "folder", "--data", "small", "-o", "tables", "--folds", "2", "--methods", "joint,L,F"
        )
        for path in sorted([*folder.glob("tables/table*.csv"), *folder.glob("tables/comparison.png")]):
            yield path.relative_to(folder).as_posix(), path


PRODUCERS: dict[str, Callable[[], Iterator[tuple[str, Any]]]] = {
    "find_regions": regions,
    "evolve": evolved,
    "learn": learnt,
    "score": divided,
    "compared": compared,
    "pictures": drawings,
    "commands": commands,
}


if __name__ == "__main__":
    store(STORE, {name: describe(made) for name, made in PRODUCERS.items()})
