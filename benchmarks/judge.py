"""What the judge of nuclei is worth, on images that neither it nor the other networks saw.

    python benchmarks/judge.py --data ../shared/data --write

Each judge in benchmarks/models (judge-a, judge-b) learnt without the images that its card names as held out: those of
the region and ray models of the same letter, and a third of the frames of Cervix93. Only those are measured. The least
probability of a nucleus that one fold is measured with is chosen on the images of the other, by nuclei alone; the
colour frames (benchmarks/colour_marks.py) choose none.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

import colour_marks
import declump
from declump.datasets import isbi2014, isbi2015, marked
from declump.datasets.marked import MarkedNuclei
from declump.evaluation import Score, pool
from declump.measurements import calibration_curve
from declump.models import NUCLEUS_DIAMETER, Model
from declump.records.regions import Regions
from declump.regions.channels import to_channels
from declump.regions.find import read_maps
from declump.regions.inference import open_region_model, region_maps
from declump.regions.judge import SpotPlanes, judge_spots, open_judge
from declump.regions.lattice import maps_at_found_scale
from declump.regions.spots import find_spots
from declump.training.judge.examples import leave_unknown, tell_nuclei
from declump.training.judge.lesson import calibrate
from detection import count_detected
from pages import ROOT, commit, replace_part

SETS = ("Cervix93", "ISBI 2015", "ISBI 2014")
COLOUR = "colour frames"
LIMITS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8)
CURVE = (0.2, 0.3, 0.4, 0.6)
"""Limits of the curve in colour and end to end."""


@dataclass(frozen=True, eq=False)
class Frame:
    """An image that the networks of a fold did not see, with its spots and what the judge says of them.

    Attributes
    ----------
    image : MarkedNuclei
    cells : (N, H, W) bool, optional
    rules : Regions
        Found without a judge.
    spots : Regions
        With every spot as a nucleus.
    said : (S,) float
        Probabilities.
    seconds : (float, float)
        Time of the judge, and of the region network.
    """

    image: MarkedNuclei
    cells: np.ndarray | None
    rules: Regions
    spots: Regions
    said: np.ndarray
    seconds: tuple[float, float]

    def judged(self, limit: float) -> Regions:
        """Regions with the nuclei that are probable enough."""
        return choose_nuclei(self.spots, self.said, limit)


@dataclass(frozen=True, eq=False)
class Fold:
    """The frames of one fold by data set, the ray model, and the prior of the other images by data set."""

    name: str
    frames: dict[str, list[Frame]]
    rays: Path
    priors: dict[str, declump.ShapePrior]


def choose_nuclei(regions: Regions, probability: np.ndarray, min_nucleus: float) -> Regions:
    """Make nuclei of the spots in clumps that are probable enough, and candidates of all others.

    Parameters
    ----------
    regions : Regions
        With all spots as nuclei.
    probability : (S,)
        What a judge says of each.
    min_nucleus : float
        Least probability of a nucleus.
    """
    places = np.flatnonzero(regions.nuclei)  # few of a large image
    own = regions.nuclei.ravel()[places]
    areas = np.bincount(own, minlength=len(probability) + 1)
    within = np.bincount(own[regions.clump.ravel()[places]], minlength=areas.size)
    chosen = np.append(False, probability >= min_nucleus) & (2 * within >= areas)
    said = np.append(0, probability).astype(np.float64)
    # A nucleus, and with it its seed, lies in the clump.
    nuclei = np.where(chosen[regions.nuclei] & regions.clump, regions.nuclei, 0)
    rest = ~chosen
    rest[0] = False
    return replace(
        regions,
        nuclei=nuclei,
        nucleus_probability=said[chosen],
        candidates=np.where(rest[regions.nuclei], regions.nuclei, 0).astype(np.int32, copy=False),
        candidate_probability=said[rest],
    )


def make_frame(image: MarkedNuclei, cells: np.ndarray | None, regions: Model, judge: Model) -> Frame:
    channels = to_channels(image.image)
    start = time.process_time()
    scale, maps = maps_at_found_scale(channels, regions)
    network = time.process_time() - start
    diameter = regions.nucleus_diameter / scale
    rules = replace(read_maps(maps, channels, diameter), diameter=diameter)
    spots = find_spots(maps.classes[2], maps.centre_map, channels[0], diameter, clump=maps.classes[0] < 0.5)
    if image.unknown is not None:
        spots = leave_unknown(spots, tell_nuclei(spots, image), image.unknown)
        rules = replace(rules, nuclei=leave_unknown(rules.nuclei, tell_nuclei(rules.nuclei, image), image.unknown))
    start = time.process_time()
    said = judge_spots(SpotPlanes.from_maps(channels[0], maps, spots), judge, diameter)
    seconds = time.process_time() - start, network
    every = Regions(rules.clump, spots, diameter=diameter)
    return Frame(image, cells, rules, every, said.astype(float), seconds)


def read_fold(letter: str, data: Path, models: Path) -> Fold:
    regions, judge = open_region_model(models / f"regions-{letter}.onnx"), open_judge(models / f"judge-{letter}.onnx")
    unseen = set(judge.card["held out"])
    if not set(regions.card["held out"]) <= unseen:
        sys.exit(f"judge-{letter} saw images that regions-{letter} did not")
    frames: dict[str, list[Frame]] = {name: [] for name in (*SETS, COLOUR)}
    priors = {}
    for name, reader in (("ISBI 2015", isbi2015), ("ISBI 2014", isbi2014)):
        images = list(reader.read(data / name.lower().replace(" ", "")))
        priors[name] = declump.learn_prior([image for image in images if image.name not in unseen])
        for image in images:
            if image.name in unseen:
                frames[name].append(make_frame(MarkedNuclei.from_cells(image), image.cells, regions, judge))
    for image in marked.read(data / "cervix93"):
        if image.name in unseen:
            frames["Cervix93"].append(make_frame(image, None, regions, judge))
    for image in colour_marks.read(data / "colour"):
        # A judge that holds none of them out learnt before they were marked.
        if image.name in unseen or not any(name.startswith(colour_marks.FOLDER) for name in unseen):
            frames[COLOUR].append(make_frame(image, None, regions, judge))
    print(f"fold {letter}: { ({name: len(group) for name, group in frames.items()}) }", file=sys.stderr, flush=True)
    return Fold(letter, frames, models / f"rays-{letter}.onnx", priors)


def count_nuclei(frame: Frame, regions: Regions) -> np.ndarray:
    """Nuclei right, found and true: by shared pixels where nuclei are drawn, by points where they are marked."""
    found = len(regions.seeds)
    if frame.image.labels is not None:
        true = len(frame.cells) if frame.cells is not None else len(frame.image.points)
        return np.array([count_detected(regions.nuclei, frame.image.labels), found, true])
    areas = np.bincount(regions.nuclei.ravel(), minlength=found + 1)[1:]
    distances = np.hypot(*(frame.image.points[:, None] - regions.seeds[None]).transpose(2, 0, 1))
    near = distances <= 1.2 * np.sqrt(areas / np.pi)
    return np.array([near[linear_sum_assignment(near, maximize=True)].sum(), found, len(frame.image.points)])


def f1(counts: np.ndarray) -> float:
    return 2 * counts[0] / max(counts[1] + counts[2], 1)


def merit(folds: Sequence[Fold], limit: float) -> float:
    """Mean F1 of nuclei over the data sets."""
    return float(
        np.mean(
            [
                f1(sum(count_nuclei(frame, frame.judged(limit)) for fold in folds for frame in fold.frames[name]))
                for name in SETS
            ]
        )
    )


def choose_limit(folds: Sequence[Fold]) -> float:
    """The limit of best merit; of equals the middle one."""
    merits = np.round([merit(folds, limit) for limit in LIMITS], 3)
    best = np.flatnonzero(merits == merits.max())
    return LIMITS[best[len(best) // 2]]


def run_cells(fold: Fold, name: str, limit: float | None) -> Iterator[Score]:
    """Scores of the images of a fold, end to end; without a limit by rules alone."""
    for frame in fold.frames[name]:
        regions = frame.rules if limit is None else frame.judged(limit)
        result = declump.segment(
            frame.image.image, regions=regions, rays=fold.rays, prior=fold.priors[name], min_nucleus=limit
        )
        assert frame.cells is not None
        yield declump.score(frame.cells, result.masks)


def cell_row(label: str, score: Score) -> str:
    good = score.dice[score.good]
    found = 2 * len(good) / max(len(score.dice) + score.n_predicted, 1)
    quality = np.sum(good / (2 - good)) / max((len(score.dice) + score.n_predicted) / 2, 1)
    figures = (score.fdo, score.fno, score.dice_all, score.aji, found, quality)
    return f"| {label} | " + " | ".join(f"{value:.3f}" for value in figures) + " |"


def nuclei_row(label: str, counts: np.ndarray) -> str:
    recall, precision = counts[0] / max(counts[2], 1), counts[0] / max(counts[1], 1)
    return f"| {label} | {counts[2]:.0f} | {recall:.3f} | {precision:.3f} | {f1(counts):.3f} |"


def tell_spots(folds: Sequence[Fold]) -> tuple[np.ndarray, np.ndarray]:
    """What the judge says of all spots as log odds, and whether they are nuclei."""
    frames = [frame for fold in folds for group in fold.frames.values() for frame in group]
    said = np.clip(np.concatenate([frame.said for frame in frames]), 1e-6, 1 - 1e-6)
    truth = np.concatenate([tell_nuclei(frame.spots.nuclei, frame.image) for frame in frames])
    return np.log(said / (1 - said)), truth


def calibration_lines(folds: Sequence[Fold]) -> list[str]:
    """How well the probabilities of the folds hold, and what all of them together ask for."""
    odds, truth = tell_spots(folds)
    curve = calibration_curve(1 / (1 + np.exp(-odds)), truth)
    for fold in folds:
        others = [other for other in folds if other is not fold]
        print(f"other folds ask of {fold.name}: {calibrate(*tell_spots(others))}", file=sys.stderr)
    print(f"all folds ask: {calibrate(odds, truth)}", file=sys.stderr, flush=True)
    return [
        "Each judge is calibrated on the unseen images of the other fold. Expected calibration error over "
        f"{len(truth)} spots {curve.error:.3f}, Brier score {curve.brier:.3f}.",
    ]


def time_judge(data: Path, models: Path, repeats: int = 5) -> str:
    """What the judge costs on the first frame of ISBI 2015: best of several, to be run on a quiet machine."""
    image = next(isbi2015.read(data / "isbi2015"))
    regions, judge = open_region_model(models / "regions-a.onnx"), open_judge(models / "judge-a.onnx")
    channels = to_channels(image.image)
    maps = region_maps(channels, regions)
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        spots = find_spots(maps.classes[2], maps.centre_map, channels[0], NUCLEUS_DIAMETER, clump=maps.classes[0] < 0.5)
        between = time.process_time()
        judge_spots(SpotPlanes.from_maps(channels[0], maps, spots), judge)
        seconds.append((between - start, time.process_time() - between))
    found, judged = np.min(seconds, axis=0)
    return f"{image.name}, {spots.max()} spots: found in {found:.3f} s, judged in {judged:.3f} s of one core"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / "benchmarks" / "models")
    parser.add_argument("--nuclei", action="store_true", help="nuclei only, not end to end")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/results.md")
    parser.add_argument("--speed", action="store_true", help="only what the judge costs")
    options = parser.parse_args()
    if options.speed:
        print(time_judge(options.data, options.models))
        return
    letters = sorted(path.stem.removeprefix("judge-") for path in options.models.glob("judge-*.onnx"))
    folds = [read_fold(letter, options.data, options.models) for letter in letters]
    limits = {fold.name: choose_limit([other for other in folds if other is not fold]) for fold in folds}
    lines = [
        f"Measured by `python benchmarks/judge.py --write` at commit {commit()}; unseen images. Limits, each chosen on "
        f"the other fold: {', '.join(f'{limit} for {name}' for name, limit in limits.items())}; on both together "
        f"{choose_limit(folds)}.",
        "",
        "| nuclei | true | recall | precision | F1 |",
        "|---|---|---|---|---|",
    ]
    for name in (*SETS, COLOUR):
        frames = [(fold, frame) for fold in folds for frame in fold.frames[name]]
        spots = sum(count_nuclei(frame, frame.spots) for _, frame in frames)
        rules = sum(count_nuclei(frame, frame.rules) for _, frame in frames)
        judged = sum(count_nuclei(frame, frame.judged(limits[fold.name])) for fold, frame in frames)
        lines.append(nuclei_row(f"{name}, {len(frames)} images, rules", rules))
        lines.append(nuclei_row(f"{name}, judge", judged))
        lines.append(nuclei_row(f"{name}, all spots that the judge is shown", spots))
    for limit in CURVE:
        judged = sum(count_nuclei(frame, frame.judged(limit)) for fold in folds for frame in fold.frames[COLOUR])
        lines.append(nuclei_row(f"{COLOUR}, judge, limit {limit}", judged))
    lines += ["", *calibration_lines(folds), ""]
    seconds = np.array([frame.seconds for fold in folds for frame in fold.frames["ISBI 2015"]]).mean(axis=0)
    lines.append(
        f"A frame of 1024 x 1024 pixels costs {seconds[0]:.2f} s of one core (region network {seconds[1]:.2f} s)."
    )
    print("\n".join(lines), flush=True)
    if not options.nuclei:
        table = ["", "| end to end | FDo | FNo | Dice, all cells | AJI | F1 of cells | panoptic quality |"]
        table.append("|---" * 7 + "|")
        ways: list[tuple[str, dict[str, float | None]]] = [
            ("rules", {fold.name: None for fold in folds}),
            ("judge", {**limits}),
            *((f"judge, limit {limit}", {fold.name: limit for fold in folds}) for limit in CURVE),
        ]
        for label, chosen in ways:
            for name in SETS[1:]:
                score = pool(score for fold in folds for score in run_cells(fold, name, chosen[fold.name]))
                table.append(cell_row(f"{name}, {label}", score))
                print(table[-1], flush=True)
        lines += table
    if options.write:
        replace_part("docs/results.md", "judge", "\n".join(lines))


if __name__ == "__main__":
    main()
