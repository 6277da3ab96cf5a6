"""Ideas for hidden outlines that did not find their way into declump: what else the ray network can be shown or taught.

    python benchmarks/ray_trials.py train --fold a --out trials     # and b; resumable, 20 minutes of one core each
    python benchmarks/ray_trials.py table --out trials --write

Every trial goes on from the ray network of its fold with the same images and as many batches; only what the network is
shown, or what it is taught, is another. It is measured as ``true regions, rays`` of benchmarks/evidence.py is: evolved
outlines of images that it did not see.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from scipy import ndimage
from torch import Tensor, nn
from torch.nn import functional

import declump
from declump.datasets import AnnotatedImage, isbi2014, isbi2015
from declump.evaluation import overlap_degree
from declump.evidence import Evidence
from declump.evidence.windows import ANGLES, CHANNELS, DEPTHS, STEP, View, sample_points, sample_window
from declump.models import read_card
from declump.regions.find import find_regions
from declump.training.examples import divide_examples
from declump.training.loop import Lesson, fit
from declump.training.pretrained import load_model
from declump.training.rays.batches import DrawnCell, change_look, draw_batch, draw_cell, sample_with_errors
from declump.training.rays.examples import ExampleView, RayExample, make_example, true_radii
from declump.training.rays.lesson import calibrate, loss
from declump.training.rays.network import WIDTHS, RayNetwork, moments
from declump.training.schedule import Schedule
from pages import ROOT, commit, replace_part

SETS = {"ISBI 2015": isbi2015, "ISBI 2014": isbi2014}
FINER = 3
"""Rays for each direction, with finer directions."""
HIDDEN_WEIGHT = 3.0
"""What a ray counts whose true outline lies in another cell."""
MAPS_WEIGHT = 0.5
SECOND_LOOKS = 0.6
"""Share of the windows that show first outlines."""
BLUR = 2.0
"""Pixels that are added, in quadrature, to the standard deviation of a first outline."""
Floats = np.ndarray
Look = tuple[Floats, Floats]
"""Radii (N, A) and their standard deviations, in pixels."""


class TriedNetwork(RayNetwork):
    """A ray network with further channels and further answers, which are not heeded, or zero, at first."""

    def __init__(self, known: RayNetwork, inputs: int = 0, outputs: int = 0) -> None:
        super().__init__()
        weights = known.state_dict()
        first = weights["down.0.0.weights.weight"]
        weights["down.0.0.weights.weight"] = functional.pad(first, (0, 0, 0, 0, 0, inputs))
        self.down[0][0].weights = nn.Conv2d(CHANNELS + inputs, WIDTHS[0], 3, padding=(0, 1), bias=False)
        self.load_state_dict(weights)
        self.further = nn.Conv2d(WIDTHS[0], outputs, 1) if outputs else None

    def forward(self, windows: Tensor) -> Tensor:
        """Scores (B, A, D), or with further answers (B, 1 + outputs, A, D)."""
        maps = self.features(windows)
        scores: Tensor = self.answer(maps)
        return scores[:, 0] if self.further is None else torch.cat([scores, self.further(maps)], 1)


class Trial:
    """Nothing new: what more batches alone are worth."""

    name = "no change, as many batches"
    inputs = 0
    outputs = 0

    def __init__(self, known: RayNetwork, calibration: tuple[float, float]) -> None:
        self.known, self.calibration = known, calibration

    def make_network(self) -> TriedNetwork:
        """Make the network as it begins."""
        return TriedNetwork(self.known, self.inputs, self.outputs)

    def draw_batch(self, groups: Sequence[Sequence[RayExample]], size: int, seed: int) -> tuple[Tensor, ...]:
        """Draw windows, true radii, what they count, and whatever else is taught."""
        return draw_batch(groups, size, seed)

    def loss(self, scores: Tensor, radii: Tensor, counted: Tensor, *_: Tensor) -> Tensor:
        """One number."""
        return loss(scores, radii, counted)

    def look(self, network: nn.Module, view: ExampleView) -> Look:
        """Radii and their deviations of all cells of an image, the latter not calibrated yet."""
        return look(network, view, lambda index: see(view, index))


class HiddenRays(Trial):
    """Rays whose true outline is hidden count more."""

    name = "hidden rays count three times"

    def draw_batch(self, groups: Sequence[Sequence[RayExample]], size: int, seed: int) -> tuple[Tensor, ...]:
        """Draw as usual, with a weight a ray."""
        return draw_cells(groups, size, seed, lambda _, window, __: (window, ()), self.weigh)

    def weigh(self, drawn: DrawnCell, radii: Floats, known: Floats) -> Floats:
        """Tell what each ray counts."""
        rows, columns = drawn.pose.directions()
        distance = radii * drawn.pose.step
        points = drawn.seed + np.stack([rows * distance, columns * distance], axis=1)
        hidden = sample_map(layers_of(drawn.example), points[:, 0], points[:, 1]) >= 2
        return np.where(hidden, HIDDEN_WEIGHT, 1.0).astype(np.float32) * known


class OtherCells(Trial):
    """The network also tells how many cells lie at every point, and where outlines of any cell run."""

    name = "layers and all outlines as further targets"
    outputs = 2

    def draw_batch(self, groups: Sequence[Sequence[RayExample]], size: int, seed: int) -> tuple[Tensor, ...]:
        """Draw with two maps (B, 2, A, D) more."""

        def add_maps(drawn: DrawnCell, window: Tensor, _: np.random.Generator) -> tuple[Tensor, tuple[Tensor, ...]]:
            points = sample_points(drawn.seed, drawn.pose)
            layers = layers_of(drawn.example)
            maps = np.stack([sample_map(layers, *points), sample_map(outlines_of(drawn.example), *points)])
            return window, (torch.from_numpy(maps.astype(np.float32)),)

        return draw_cells(groups, size, seed, add_maps)

    def loss(self, scores: Tensor, radii: Tensor, counted: Tensor, *further: Tensor) -> Tensor:
        """Add what the further answers are off by."""
        (maps,) = further
        layers = functional.smooth_l1_loss(scores[:, 1], maps[:, 0])
        outlines = functional.binary_cross_entropy_with_logits(scores[:, 2], maps[:, 1])
        return loss(scores[:, 0], radii, counted) + MAPS_WEIGHT * (layers + outlines)

    def look(self, network: nn.Module, view: ExampleView) -> Look:
        """Only the scores count."""
        return look(lambda windows: network(windows)[:, 0], view, lambda index: see(view, index))


class FinerDirections(Trial):
    """Between two directions the network sees the luminance of two more rays."""

    name = "three rays a direction"
    inputs = FINER - 1

    def draw_batch(self, groups: Sequence[Sequence[RayExample]], size: int, seed: int) -> tuple[Tensor, ...]:
        """Draw finer windows, the rays between as channels."""
        return draw_cells(groups, size, seed, lambda _, window, __: (join_rays(window), ()), angles=FINER * ANGLES)

    def look(self, network: nn.Module, view: ExampleView) -> Look:
        """See finer."""
        return look(network, view, lambda index: join_rays(see(view, index, FINER * ANGLES)))


class SecondLook(Trial):
    """The network sees its first outlines of the cell and of the others, as soft as they are doubtful."""

    name = "a second look"
    inputs = 2

    def __init__(self, known: RayNetwork, calibration: tuple[float, float]) -> None:
        super().__init__(known, calibration)
        self.first: dict[int, Look] = {}

    def draw_batch(self, groups: Sequence[Sequence[RayExample]], size: int, seed: int) -> tuple[Tensor, ...]:
        """Draw with first outlines that are as wrong as those of unseen images."""

        def add_first(drawn: DrawnCell, window: Tensor, rng: np.random.Generator) -> tuple[Tensor, tuple[Tensor, ...]]:
            shown = torch.zeros(2, ANGLES, DEPTHS)
            if rng.random() < SECOND_LOOKS:
                radii, std = self._look_first(drawn.view)
                wrong = rng.uniform(0.2, 1.2, (len(radii), 1)) * draw_smooth(radii.shape, rng)
                radii = np.clip(radii + std * wrong, 4, None)
                shown = show_first(drawn.view, drawn.number - 1, drawn.seed, drawn.pose, (radii, std), drawn.hidden - 1)
            return torch.cat([window, shown]), ()

        return draw_cells(groups, size, seed, add_first)

    def look(self, network: nn.Module, view: ExampleView) -> Look:
        """Look twice; the first time nothing is shown."""
        nothing = torch.zeros(2, ANGLES, DEPTHS)
        first = self._calibrate(look(network, view, lambda index: torch.cat([see(view, index), nothing])))

        def see_again(index: int) -> Tensor:
            return torch.cat([see(view, index), show_first(view, index, view.seeds[index], View(STEP), first)])

        return look(network, view, see_again)

    def _look_first(self, view: ExampleView) -> Look:
        if id(view) not in self.first:
            self.first[id(view)] = self._calibrate(super().look(self.known, view))
        return self.first[id(view)]

    def _calibrate(self, seen: Look) -> Look:
        factor, power = self.calibration
        return seen[0], STEP * factor * (seen[1] / STEP) ** power


TRIALS: tuple[type[Trial], ...] = (Trial, HiddenRays, OtherCells, FinerDirections, SecondLook)
Sampler = Callable[[DrawnCell, Tensor, np.random.Generator], tuple[Tensor, tuple[Tensor, ...]]]


def draw_cells(
    groups: Sequence[Sequence[RayExample]],
    size: int,
    seed: int,
    sampler: Sampler,
    weigh: Callable[[DrawnCell, Floats, Floats], Floats] = lambda _, __, known: known,
    angles: int = ANGLES,
) -> tuple[Tensor, ...]:
    """Draw a batch of windows that a sampler adds to, with further targets."""
    rng = np.random.default_rng(seed)
    rows = []
    for index in range(size):
        drawn = draw_cell(groups[index % len(groups)], rng)
        finer = replace(drawn, pose=replace(drawn.pose, angles=angles))
        window = torch.from_numpy(sample_with_errors(finer, rng))
        change_look(window, rng)
        seen, further = sampler(drawn, window, rng)
        radii, known = true_radii(drawn.example, drawn.cell, drawn.seed, drawn.pose)
        rows.append((seen, torch.from_numpy(radii), torch.from_numpy(weigh(drawn, radii, known)), *further))
    return tuple(torch.stack(column) for column in zip(*rows, strict=True))


@torch.no_grad()
def look(network: Callable[[Tensor], Tensor], view: ExampleView, see_cell: Callable[[int], Tensor]) -> Look:
    """What a network says of all cells of an image, one window at a time."""
    said = [moments(network(see_cell(index)[None])) for index in range(len(view.seeds))]
    means, deviations = (STEP * np.array([part[which][0].numpy() for part in said]) for which in range(2))
    return means, deviations


def see(view: ExampleView, index: int, angles: int = ANGLES) -> Tensor:
    """A window (9, A, D) of one cell."""
    others = np.delete(view.seeds, index, axis=0)
    return torch.from_numpy(sample_window(view.around, view.seeds[index], index + 1, others, View(STEP, angles=angles)))


def join_rays(fine: Tensor) -> Tensor:
    """From (9, 3 A, D) to (11, A, D): the luminance of the ray before and of the one behind are channels."""
    return torch.cat([fine[:, ::FINER], fine[:1, 1::FINER], torch.roll(fine[:1], 1, 1)[:, ::FINER]])


def show_first(
    view: ExampleView, own: int, seed: Floats, pose: View, first: Look, hidden: Sequence[int] | Floats = ()
) -> Tensor:
    """Two channels (2, A, D): how many other cells cover a point, and whether its own does, by first outlines."""
    radii, std = first
    points = sample_points(seed, pose)
    reach = radii.max(axis=1) + pose.step * DEPTHS
    near = np.setdiff1d(np.flatnonzero(np.hypot(*(view.seeds - seed).T) < reach), [own, *hidden])
    covering = np.zeros(points[0].shape)
    for index in near:
        covering += cover(points, view.seeds[index], radii[index], std[index])
    shown = np.stack([np.minimum(covering / 2, 2), 2 * cover(points, view.seeds[own], radii[own], std[own]) - 1])
    return torch.from_numpy(shown.astype(np.float32))


def cover(points: tuple[Floats, Floats], seed: Floats, radii: Floats, std: Floats) -> Floats:
    """Probability that points lie within an outline that is known to a standard deviation."""
    rows, columns = points[0] - seed[0], points[1] - seed[1]
    turn = np.arctan2(rows, columns) / (2 * np.pi) * len(radii)
    radius, spread = (np.interp(turn, np.arange(len(radii)), values, period=len(radii)) for values in (radii, std))
    return 1 / (1 + np.exp(np.clip(1.7 * (np.hypot(rows, columns) - radius) / np.hypot(spread, BLUR), -30, 30)))


def draw_smooth(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Noise of variance 1 that is smooth along the directions, by a width that is drawn."""
    parts = np.fft.rfft(rng.normal(size=shape), axis=1)
    parts *= np.exp(-0.5 * (np.arange(parts.shape[1]) * rng.uniform(0.05, 0.3)) ** 2)
    noise = np.fft.irfft(parts, shape[1], axis=1)
    return noise / noise.std()


def sample_map(values: Floats, rows: Floats, columns: Floats) -> Floats:
    """Values (H, W) at the pixels nearest to points; beyond the image those of its border."""
    height, width = values.shape
    nearest = np.rint(rows).astype(int), np.rint(columns).astype(int)
    return values[np.clip(nearest[0], 0, height - 1), np.clip(nearest[1], 0, width - 1)]


@cache
def layers_of(example: RayExample) -> Floats:
    """Number of cells (H, W) at every pixel of an example."""
    return add_masks(example, lambda mask: mask)


@cache
def outlines_of(example: RayExample) -> Floats:
    """Whether (H, W) the outline of a cell is next to a pixel."""
    return ndimage.grey_dilation(add_masks(example, lambda mask: mask & ~ndimage.binary_erosion(mask)) > 0, size=3)


def add_masks(example: RayExample, change: Callable[[Floats], Floats]) -> Floats:
    """Sum (H, W) of all masks of an example, each changed."""
    total = np.zeros(example.shape, np.uint8)
    for mask, (row, column) in zip(example.masks, example.corners, strict=True):
        total[row : row + mask.shape[0], column : column + mask.shape[1]] += change(mask)
    return total


@dataclass(frozen=True, eq=False)
class Fold:
    """Images of a fold that teach, in groups, and those that no network of it saw, with the prior of the others."""

    known: RayNetwork
    calibration: tuple[float, float]
    groups: list[list[RayExample]]
    unseen: dict[str, list[AnnotatedImage]]
    priors: dict[str, declump.ShapePrior]


def read_fold(letter: str, data: Path, models: Path, composites: int) -> Fold:
    rays = models / f"rays-{letter}.onnx"
    card = read_card(rays)
    held_out = set(card["held out"])
    regions = sorted(models.glob("regions-*.onnx"))
    saw_not = [set(read_card(model)["held out"]) for model in regions]

    def teach(image: AnnotatedImage) -> RayExample:
        fair = next((model for model, names in zip(regions, saw_not, strict=True) if image.name in names), None)
        model = fair or next(model for model in regions if model.stem != f"regions-{letter}")
        return make_example(image, [find_regions(image.image, model=model, judge="none")])

    images = {name: list(reader.read(data / name.lower().replace(" ", ""))) for name, reader in SETS.items()}
    names = {image.name for group in images.values() for image in group}
    groups, _ = divide_examples(
        images.values(), held_out & names, teach=teach, measure=make_example, composites=composites, seed=17
    )
    known = RayNetwork()
    load_model(rays, known, draw_batch(groups, 64, 0)[0])
    unseen = {name: [image for image in group if image.name in held_out] for name, group in images.items()}
    priors = {
        name: declump.learn_prior([image for image in group if image.name not in held_out])
        for name, group in images.items()
    }
    return Fold(known.eval(), tuple(card["calibration"]), groups, unseen, priors)


def measure(trial: Trial, network: nn.Module, fold: Fold) -> dict[str, list[list[float]]]:
    """Dice and overlap degree of every unseen cell by data set: true regions, evolved with what the network says."""
    examples = {name: [make_example(image) for image in group] for name, group in fold.unseen.items()}
    looks = {name: [trial.look(network, example.views[0]) for example in group] for name, group in examples.items()}
    seen = zip(chain.from_iterable(examples.values()), chain.from_iterable(looks.values()), strict=True)
    factor, power = calibrate_looks(seen)
    cells: dict[str, list[list[float]]] = {}
    for name, images in fold.unseen.items():
        cells[name] = []
        for image, (radii, std) in zip(images, looks[name], strict=True):
            evidence = Evidence(radii=radii, radii_std=STEP * factor * (std / STEP) ** power)
            found = declump.evolve(image.clump, image.seeds, evidence=evidence, prior=fold.priors[name])
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
        start.write_text(json.dumps(measure(Trial(fold.known, fold.calibration), fold.known, fold)))
    for kind in TRIALS:
        path = options.out / f"{options.fold}-{kind.__name__}.json"
        if path.exists():
            continue
        trial = kind(fold.known, fold.calibration)
        lesson = Lesson(trial.make_network, trial.draw_batch, trial.loss, lambda *_: {})
        schedule = Schedule(
            options.steps, 16, seed=3, rate=5e-4, checkpoint=path.with_suffix(".zip"), progress=partial(tell, path.stem)
        )
        network, _ = fit(lesson, fold.groups, [], schedule)
        path.write_text(json.dumps(measure(trial, network, fold)))


def tell(name: str, step: int, steps: int, figures: dict[str, float]) -> None:
    if step % 250 == 0:
        print(f"{name}: {step} of {steps}, loss {figures['loss']:.3f}", file=sys.stderr, flush=True)


def table(options: argparse.Namespace) -> None:
    lines = ["| | " + " | ".join(f"{name}, overlapping | hidden by 3/4 or more" for name in SETS) + " |"]
    lines.append("|---" * 5 + "|")
    for label, stem in [("as it begins", "start"), *((kind.name, kind.__name__) for kind in TRIALS)]:
        folds = [json.loads(path.read_text()) for path in sorted(options.out.glob(f"?-{stem}.json"))]
        figures = []
        for name in SETS:
            dice, degree = np.concatenate([fold[name] for fold in folds]).T
            figures += [dice[degree > 0].mean(), dice[degree >= 0.75].mean()]
        lines.append(f"| {label} | " + " | ".join(f"{value:.3f}" for value in figures) + " |")
    origin = f"Measured by `python benchmarks/ray_trials.py` at commit {commit()}; {options.steps} batches a trial."
    lines += ["", origin]
    print("\n".join(lines))
    if options.write:
        replace_part("docs/results.md", "ray trials", "\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "table"))
    parser.add_argument("--fold", choices=("a", "b"), default="a")
    parser.add_argument("--out", type=Path, required=True, help="folder of checkpoints and figures")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--composites", type=int, default=100)
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / "benchmarks" / "models")
    parser.add_argument("--write", action="store_true", help="put the table into docs/results/evidence.md")
    options = parser.parse_args()
    (train if options.what == "train" else table)(options)


if __name__ == "__main__":
    main()
