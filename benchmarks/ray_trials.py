"""Ideas for hidden outlines that did not find their way into declump, measured (benchmarks/ray_ideas.py has them).

    python benchmarks/ray_trials.py train --fold a --out trials   # and b, c, d; resumable, half an hour each
    python benchmarks/ray_trials.py table --out trials --write
    python benchmarks/ray_trials.py train --fold a --out longer --steps 2500 --only Trial SecondLook

Every trial goes on from the ray network of its fold with the same images and as many batches; only what the network is
shown, what it is taught, or how its answer is used, is another. It is measured as ``true regions, rays`` of
benchmarks/evidence.py is: evolved outlines of images that it did not see. The four folds leave out two of the eight
frames of ISBI 2015 each.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import nn

import declump
from declump.datasets import AnnotatedImage, isbi2014, isbi2015, marked
from declump.evaluation import overlap_degree
from declump.evidence.windows import STEP, View, prepare_surroundings
from declump.models import read_card
from declump.regions.find import find_regions
from declump.training.examples import divide_examples
from declump.training.loop import Lesson, fit
from declump.training.pretrained import load_model
from declump.training.rays.batches import draw_batch
from declump.training.rays.examples import ExampleView, RayExample, make_example, true_radii
from declump.training.rays.lesson import calibrate
from declump.training.rays.network import RayNetwork
from declump.training.schedule import Schedule
from pages import ROOT, commit, replace_part
from ray_ideas import TRIALS, Distilled, KnownNetwork, Look, Start, Trial

SETS = {"ISBI 2015": isbi2015, "ISBI 2014": isbi2014}
FOLDS = ("a", "b", "c", "d")
EVERY = 2
"""Of the frames of Cervix93, whose cells are not drawn, every so many are shown to the team that is distilled."""


@dataclass(frozen=True, eq=False)
class Fold:
    """Images of a fold that teach, in groups, and those that no network of it saw, with the prior of the others."""

    start: Start
    groups: list[list[RayExample]]
    unmarked: list[RayExample]
    unseen: dict[str, list[AnnotatedImage]]
    priors: dict[str, declump.ShapePrior]


def read_fold(letter: str, data: Path, models: Path, composites: int) -> Fold:
    rays = {fold: models / f"rays-{fold}.onnx" for fold in FOLDS}
    kept = {fold: set(read_card(model)["held out"]) for fold, model in rays.items()}
    held_out = kept[letter]
    regions = sorted(models.glob("regions-*.onnx"))
    saw_not = [set(read_card(model)["held out"]) for model in regions]
    taught: list[tuple[str, RayExample]] = []

    def teach(image: AnnotatedImage) -> RayExample:
        fair = next((model for model, names in zip(regions, saw_not, strict=True) if image.name in names), None)
        model = fair or next(model for model in regions if model.stem != f"regions-{letter}")
        example = make_example(image, [find_regions(image.image, model=model, judge="none")])
        taught.append((image.name, example))
        return example

    images = {name: list(reader.read(data / name.lower().replace(" ", ""))) for name, reader in SETS.items()}
    names = {image.name for group in images.values() for image in group}
    groups, _ = divide_examples(
        images.values(), held_out & names, teach=teach, measure=make_example, composites=composites, seed=17
    )
    networks = {fold: read_network(model, groups) for fold, model in rays.items()}
    strangers = {
        view: networks[fold]
        for name, example in taught
        for fold in FOLDS
        if name in kept[fold]
        for view in example.views
    }
    unseen = {name: [image for image in group if image.name in held_out] for name, group in images.items()}
    teaching = {name: [image for image in group if image.name not in held_out] for name, group in images.items()}
    priors = {name: declump.learn_prior(group) for name, group in teaching.items()}
    start = Start(networks[letter], declump.learn_prior(chain.from_iterable(teaching.values())), strangers)
    unmarked = [make_unmarked(image.image, regions[0]) for image in list(marked.read(data / "cervix93"))[::EVERY]]
    return Fold(start, groups, unmarked, unseen, priors)


def read_network(model: Path, groups: list[list[RayExample]]) -> KnownNetwork:
    network = RayNetwork()
    load_model(model, network, draw_batch(groups, 64, 0)[0])
    factor, power = read_card(model)["calibration"]
    return KnownNetwork(network.eval(), (factor, power))


def make_unmarked(image: np.ndarray, model: Path) -> RayExample:
    """Make an example of an image whose outlines nobody drew: a single pixel stands for each."""
    found = find_regions(image, model=model, judge="none")
    cells = np.arange(len(found.seeds))
    view = ExampleView(prepare_surroundings(image, found.clump, found.nuclei, STEP), found.seeds, cells, cells + 1)
    masks = [np.zeros((1, 1), np.bool_)] * len(cells)
    return RayExample([view], masks, np.zeros((len(cells), 2), np.int64), image.shape[:2])


def measure(trial: Trial, network: nn.Module, fold: Fold) -> dict[str, list[list[float]]]:
    """Dice and overlap degree of every unseen cell by data set: true regions, evolved with what the network says."""
    examples = {name: [make_example(image) for image in group] for name, group in fold.unseen.items()}
    looks = {name: [trial.look(network, example.views[0]) for example in group] for name, group in examples.items()}
    pairs = zip(chain.from_iterable(examples.values()), chain.from_iterable(looks.values()), strict=True)
    factor, power = calibrate_looks(pairs)
    cells: dict[str, list[list[float]]] = {}
    for name, images in fold.unseen.items():
        cells[name] = []
        for image, example, (radii, std) in zip(images, examples[name], looks[name], strict=True):
            seen = radii, STEP * factor * (std / STEP) ** power
            found = trial.evolve(network, example.views[0], image, seen, fold.priors[name])
            dice = declump.score(image.cells, found.masks, matching="order").dice
            cells[name] += [[float(a), float(b)] for a, b in zip(dice, overlap_degree(image.cells), strict=True)]
    return cells


def calibrate_looks(seen: Iterable[tuple[RayExample, Look]]) -> tuple[float, float]:
    errors, deviations = [], []
    for example, (radii, std) in seen:
        view = example.views[0]
        for cell, number in zip(view.cells, view.numbers, strict=True):
            true, known = true_radii(example, int(cell), view.seeds[number - 1], View(STEP))
            errors.append(np.abs(radii[number - 1] / STEP - true)[known])
            deviations.append(std[number - 1][known] / STEP)
    return calibrate(np.concatenate(errors), np.concatenate(deviations))


def train(options: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    fold = read_fold(options.fold, options.data, options.models, options.composites)
    options.out.mkdir(parents=True, exist_ok=True)
    start = options.out / f"{options.fold}-start.json"
    if not start.exists():
        start.write_text(json.dumps(measure(Trial(fold.start), fold.start.known.network, fold)))
    earlier: dict[str, nn.Module] = {}
    for kind in TRIALS:
        if options.only and kind.__name__ not in options.only:
            continue
        path = options.out / f"{options.fold}-{kind.__name__}.json"
        trial, network = kind(fold.start, earlier), fold.start.known.network
        if trial.taught:
            lesson = Lesson(trial.make_network, trial.draw_batch, trial.loss, lambda *_: {})
            schedule = Schedule(
                options.steps,
                16,
                seed=3,
                rate=5e-4,
                checkpoint=path.with_suffix(".zip"),
                progress=partial(tell, path.stem),
            )
            groups = [*fold.groups, fold.unmarked] if kind is Distilled else fold.groups
            network, _ = fit(lesson, groups, [], schedule)
        earlier[kind.__name__] = network
        if not path.exists():
            path.write_text(json.dumps(measure(trial, network, fold)))


def tell(name: str, step: int, steps: int, figures: dict[str, float]) -> None:
    if step % 250 == 0:
        print(f"{name}: {step} of {steps}, loss {figures['loss']:.3f}", file=sys.stderr, flush=True)


def table(options: argparse.Namespace) -> None:
    lines = ["| | " + " | ".join(f"{name}, overlapping | hidden by 3/4 or more" for name in SETS) + " |"]
    lines.append("|---" * 5 + "|")
    unchanged = read_figures(options.out, Trial.__name__)
    for label, stem in [("as it begins", "start"), *((kind.name, kind.__name__) for kind in TRIALS)]:
        folds = {fold: cells for fold, cells in read_figures(options.out, stem).items() if fold in unchanged}
        if not folds:
            continue
        figures = []
        for name in SETS:
            dice, degree = np.concatenate([cells[name] for cells in folds.values()]).T
            before = np.concatenate([unchanged[fold][name] for fold in folds])[:, 0]
            for chosen in (degree > 0, degree >= 0.75):
                gain = (dice - before)[chosen]
                error = f" ({gain.mean():+.3f} ± {gain.std() / np.sqrt(gain.size):.3f})" if gain.any() else ""
                figures.append(f"{dice[chosen].mean():.3f}{error}")
        lines.append(f"| {label} | " + " | ".join(figures) + " |")
    letters = ", ".join(sorted(unchanged))
    origin = (
        f"Measured by `python benchmarks/ray_trials.py` at commit {commit()}; folds {letters}, {options.steps} batches "
        "a trial. In brackets: the difference from no change, cell by cell, and its standard error."
    )
    lines += ["", origin]
    print("\n".join(lines))
    if options.write:
        replace_part("benchmarks/ray_trials.md", "ray trials", "\n".join(lines))


def read_figures(folder: Path, stem: str) -> dict[str, dict[str, list[list[float]]]]:
    """Figures of a trial by the letter of its fold."""
    return {path.name[0]: json.loads(path.read_text()) for path in sorted(folder.glob(f"?-{stem}.json"))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "table"))
    parser.add_argument("--fold", choices=FOLDS, default="a")
    parser.add_argument("--out", type=Path, required=True, help="folder of checkpoints and figures")
    parser.add_argument("--only", nargs="*", choices=[kind.__name__ for kind in TRIALS], help="by default all trials")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--composites", type=int, default=100)
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / "benchmarks" / "models")
    parser.add_argument("--write", action="store_true", help="put the table into docs/results/evidence.md")
    options = parser.parse_args()
    if options.only and "Distilled" in options.only and "Trial" not in options.only:
        parser.error("the team of Distilled has the network of Trial in it; name that, too")
    (train if options.what == "train" else table)(options)


if __name__ == "__main__":
    main()
