"""Importance in the paper's words, on top of its setting: what E is of, true or found clumps, with and without a bound.

    python paper/benchmarks/importance_units.py --data ../shared/data --write

ISBI 2015, setting ``paper`` (cells aligned once), the paper's folds, tested with true regions. Learnt from E of the
clump of an example, and of its whole training image; on true clumps, and on those that a region network finds (of the
models in benchmarks/models the one that did not see the image where there is one). Then once without any bound on the
cycles, on the fold with the fewest cells, stopped after ``--seconds`` at most, which the table tells. Interrupted, the
same command goes on with what it has learnt (``--states``).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import declump
from declump.datasets import AnnotatedImage, isbi2015
from declump.evaluation import Score, bootstrap_interval, pool
from declump.models import read_card
from declump.regions import find_regions
from declump_paper.folds import folds
from declump_paper.importance import Importance, learn_importance

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from pages import ROOT, commit, replace_part

SHAPES: dict[str, Any] = {"copies": False, "reach": False}
KINDS: dict[str, dict[str, Any] | None] = {
    "off (paper-L)": None,
    "E of the clump": {"unit": "clump"},
    "E of the image": {"unit": "image"},
    "E of the image, found clumps": {"unit": "image", "found": True},
}
CYCLES = 20
"""Cycles of a long learning by E of a clump."""
MODELS = [ROOT / "benchmarks" / "models" / f"regions-{fold}.onnx" for fold in "ab"]


class OutOfTimeError(Exception):
    """The learning without a bound has had its time."""


def find_clump(image: AnnotatedImage) -> np.ndarray:
    """Give the found clump of an image, of a model that did not see it if there is one."""
    unseen = [path for path in MODELS if image.name in read_card(path).get("held out", ())]
    return np.asarray(find_regions(image.image, model=(unseen or MODELS)[0]).clump)


def measure(images: list[AnnotatedImage], importance: Importance | None, taught: list[AnnotatedImage]) -> list[Score]:
    """Score of each image under the prior of some others."""
    prior = declump.learn_prior(taught, **({} if importance is None else importance.to_weights()), **SHAPES)
    results = [declump.evolve(image.clump, image.seeds, prior=prior, setting="paper") for image in images]
    return [
        declump.score(image.cells, result.masks, matching="order")
        for image, result in zip(images, results, strict=True)
    ]


def compare(images: list[AnnotatedImage], split: list[tuple[np.ndarray, np.ndarray]], states: Path) -> list[str]:
    """Rows of the table: what each kind of importance comes to."""
    groups = isbi2015.fields([image.name for image in images])
    clumps: dict[str, np.ndarray] = {}
    found: dict[str, list[list[Score]]] = {kind: [] for kind in KINDS}
    learnt_of: dict[str, list[Importance]] = {kind: [] for kind in KINDS}
    for train, test in split:
        taught, asked = [images[index] for index in train], [images[index] for index in test]
        fold = "-".join(image.name for image in taught)
        for kind, how in KINDS.items():
            importance = None
            if how is not None:
                for image in taught:
                    if image.name not in clumps and how.get("found"):
                        clumps[image.name] = find_clump(image)
                masks = [clumps[image.name] for image in taught] if how.get("found") else None
                state = states / f"{fold}-{how['unit']}{'-found' if masks else ''}.npz"
                importance = learn_importance(
                    taught, setting="paper", unit=how["unit"], masks=masks, state=state, **SHAPES
                )
                learnt_of[kind].append(importance)
            found[kind].append(measure(asked, importance, taught))
            raises = "" if importance is None else f", {len(importance.steps)} raises"
            print(f"{kind}: {pool(found[kind][-1]).dice_overlapping:.4f}{raises}", flush=True)
    rows = []
    for kind, scores in found.items():
        overall = pool([one for part in scores for one in part])
        cells = [kind, f"{overall.dice_overlapping:.4f}", "", f"{overall.tpr:.3f}", "", "", ""]
        if KINDS[kind] is not None:
            differences: dict[int, list[np.ndarray]] = defaultdict(list)
            for (_, test), learnt, plain in zip(split, scores, found["off (paper-L)"], strict=True):
                for index, on, off in zip(test, learnt, plain, strict=True):
                    differences[groups[index]].append((on.dice - off.dice)[on.overlap_degree > 0])
            interval = bootstrap_interval([np.concatenate(values) for values in differences.values()])
            weighed = learnt_of[kind]
            ended = sum(importance.ended == "nothing improves" for importance in weighed)
            cells[2], cells[4] = str(interval), ", ".join(str(len(importance.steps)) for importance in weighed)
            cells[5:] = [f"{max(importance.weights.max() for importance in weighed):g}", f"{ended} of {len(weighed)}"]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def learn_endless(taught: list[AnnotatedImage], asked: list[AnnotatedImage], seconds: float, states: Path) -> str:
    """Sentence on a learning without any bound on the cycles; after some time it is stopped."""
    began, state = time.monotonic(), {"raises": 0, "cycle": 0}

    def count(step: Any) -> None:
        state["raises"] += 1
        state["cycle"] = step.cycle
        if time.monotonic() - began > seconds:
            raise OutOfTimeError

    try:
        ended = learn_importance(
            taught,
            setting="paper",
            unit="image",
            tries=10**9,
            cycles=None,
            log=count,
            state=states / "endless.npz",
            **SHAPES,
        )
    except OutOfTimeError:
        return (
            f"Without any bound (fold of {sum(len(image.cells) for image in taught)} training cells, E of the image) "
            f"the learning was still raising weights after {seconds:.0f} s: {state['raises']} raises, in cycle "
            f"{state['cycle']}."
        )
    dice = pool(measure(asked, ended, taught)).dice_overlapping
    plain = pool(measure(asked, None, taught)).dice_overlapping
    return (
        f"Without any bound (fold of {sum(len(image.cells) for image in taught)} training cells, E of the image) the "
        f"learning came to an end after {ended.cycles} cycles and {len(ended.steps)} raises; weights reach "
        f"{ended.weights.max():g}. Dice of overlapping tested cells is {dice:.4f}, with equal weights {plain:.4f}."
    )


def learn_long(taught: list[AnnotatedImage], states: Path) -> str:
    """Sentence on a learning by E of a clump over many cycles: whether raises become fewer."""
    state = states / "long.npz"
    learnt = learn_importance(taught, setting="paper", unit="clump", cycles=CYCLES, state=state, **SHAPES)
    first = sum(step.cycle <= CYCLES // 2 for step in learnt.steps)
    return (
        f"By E of a clump, on the same fold, {len(learnt.weights)} whole cells: {len(learnt.steps)} raises in "
        f"{learnt.cycles} cycles (at most {CYCLES}; ended: {learnt.ended}), {first} of them in the first "
        f"{CYCLES // 2}; {np.sum(learnt.weights > 1)} weights have grown, the largest to {learnt.weights.max():g}."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--folds", type=int, default=5, choices=range(1, 6), help="number of folds that are run")
    parser.add_argument("--seconds", type=float, default=600, help="time of the learning without a bound, at most")
    parser.add_argument("--states", type=Path, default=ROOT / "build" / "importance-units", help="what is learnt")
    parser.add_argument("--write", action="store_true", help="put the table into paper/docs/results.md")
    given = parser.parse_args()
    given.states.mkdir(parents=True, exist_ok=True)
    known = list(isbi2015.read(given.data / "isbi2015"))
    groups = isbi2015.fields([image.name for image in known])
    every = folds(len(known), n_folds=5, rng=0, train="one", groups=groups)
    fewest, others = min(every, key=lambda fold: sum(len(known[index].cells) for index in fold[0]))
    text = ["### E of a clump or an image, true or found clumps, without a bound", ""]
    columns = ("importance", "Dice, overlapping cells", "difference from off (95 % interval)", "TPR")
    columns += ("raises of each fold", "largest weight", "ended by itself")
    text += [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    text += [*compare(known, every[-given.folds :], given.states), ""]
    taught, asked = ([known[index] for index in part] for part in (fewest, others))
    text += [learn_endless(taught, asked, given.seconds, given.states), "", learn_long(taught, given.states), ""]
    text += [
        f"Setting `paper`, {given.folds} of 5 folds, at most 2 cycles and 10 raises in a row. Measured by `python "
        f"paper/benchmarks/importance_units.py --folds {given.folds} --seconds {given.seconds:g} --write` at commit "
        f"{commit()}."
    ]
    print("\n".join(text))
    if given.write:
        replace_part("paper/docs/results.md", "importance units", "\n".join(text))
