"""The clump stage as the paper has it: region networks trained on one fifth of the images, tested on the other four.

    python paper/benchmarks/clump_stage.py --data ../shared/data --write

Runs ``declump reproduce --regions train`` with declump's own network and with the published one, each without and with
the Markov random field, and puts clumps, nuclei and cells of all folds into paper/docs/results.md. Trainings
are short (``STEPS``, or --steps). --fold trains on the fifth of one fold alone (``declump train regions``, then
``declump reproduce --regions MODEL``), for which a longer training is affordable, and tells how long each took. What is
done already is kept, so that an interrupted run goes on; --only makes some of the rows, and the table then holds what
is there.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from declump.datasets import AnnotatedImage, isbi2014, isbi2015
from declump.models import read_card
from declump_paper.folds import folds
from declump_paper.research.networks import REGION_SMEARS, REGION_WINDOWS
from declump_paper.research.storage import read_arrays

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from detection import count_detected
from pages import ROOT, commit, replace_part

ARCHITECTURES = ("declump", "paper")
STEPS = {"declump": 600, "paper": 200}
"""Batches of four windows: 0.8 s each for declump's network, 0.35 s for the published one, on one core. Below some
hundred batches the statistics of declump's network have not settled, and it finds no nucleus."""
READERS = {"isbi2014": isbi2014, "isbi2015": isbi2015}
METHODS = ("joint", "L", "cf")
MODEL, TIME = Path("models", "fold1-regions.onnx"), Path("models", "processor-seconds.json")
"""In the folder of a run: the network of the first fold, or of the only one, and how long it was trained."""


@dataclass(frozen=True)
class Case:
    """One run: an architecture, and whether its answers are refined."""

    architecture: str
    refined: bool

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{self.architecture}{'-refined' if self.refined else ''}"

    @property
    def title(self) -> str:
        """As in the table."""
        network = "published network" if self.architecture == "paper" else "declump's network"
        return f"{network}{', MRF' if self.refined else ''}"


CASES = tuple(Case(architecture, refined) for architecture in ARCHITECTURES for refined in (False, True))


def reproduce(case: Case, folder: Path, dataset: str, data: Path, steps: int | None) -> None:
    """Run a case, or go on with it; a refined one takes the networks of the other."""
    plain = folder.with_name(Case(case.architecture, False).name)
    if case.refined and not folder.exists():
        shutil.copytree(plain / "models", folder / "models")
        shutil.copyfile(plain / "run.json", folder / "run.json")
    how = ["--regions", "train", "--steps", str(steps or STEPS[case.architecture])]
    test(case, folder, dataset, data, [*how, "--architecture", case.architecture])


def test(case: Case, folder: Path, dataset: str, data: Path, regions: list[str]) -> None:
    """Run, or go on with, ``declump reproduce`` with given regions."""
    words = [sys.executable, "-m", "declump.cli", "reproduce", dataset, "--data", str(data), "-o", str(folder)]
    words += [*regions, "--methods", ",".join(METHODS), "--jobs", "1"]
    words += ["--refined"] if case.refined else []
    words += ["--resume"] if (folder / "run.json").exists() else []
    print(f"{case.title}: {folder}", flush=True)
    subprocess.run(words, check=True)


def reproduce_fold(case: Case, folder: Path, dataset: str, data: Path, steps: int, fold: int) -> None:
    """Train on the fifth of one fold, unless that is done, and test on the images of the other four."""
    models = folder.with_name(f"{Case(case.architecture, False).name}-models")
    if not (models / MODEL).exists():
        (models / MODEL).parent.mkdir(parents=True, exist_ok=True)
        names = [image.name for image in READERS[dataset].read(data / dataset)]
        groups = isbi2015.fields(names) if dataset == "isbi2015" else None
        _, tested = folds(len(names), groups=groups)[fold - 1]
        words = [sys.executable, "-m", "declump.cli", "train", "regions", "--data", str(data / dataset)]
        words += ["--architecture", case.architecture, "--steps", str(steps), "--size", str(REGION_WINDOWS)]
        words += ["--simulated", str(REGION_SMEARS), "--seed", str(fold), "-o", str(models / MODEL)]
        words += [word for index in tested for word in ("--held-out", names[index])]
        before = processor_seconds()
        subprocess.run(words, check=True)
        (models / TIME).write_text(json.dumps(processor_seconds() - before))
    test(case, folder, dataset, data, ["--regions", str(models / MODEL)])
    shutil.copytree(models / "models", folder / "models", dirs_exist_ok=True)


def processor_seconds() -> float:
    """Seconds that the processor worked for programs that this one has run."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_regions(folder: Path, images: list[AnnotatedImage]) -> list[float]:
    """Dice of clumps, of nuclei and of single nuclei (F1) over all tested images of all folds."""
    clump, nucleus, nuclei = np.zeros(2), np.zeros(2), np.zeros(3)
    for path in sorted((folder / "regions").glob("fold*.npz")):
        arrays, _ = read_arrays(path) or ({}, {})
        for index, image in enumerate(images):
            if f"nuclei{index}" in arrays:
                found = arrays[f"nuclei{index}"]
                mask = np.unpackbits(arrays[f"clump{index}"], axis=1, count=found.shape[1]).astype(bool)
                clump += [2 * np.sum(mask & image.clump), mask.sum() + image.clump.sum()]
                true = image.nucleus_labels > 0
                nucleus += [2 * np.sum((found > 0) & true), np.sum(found > 0) + true.sum()]
                nuclei += [count_detected(found, image.nucleus_labels), found.max(), len(image.cells)]
    return [clump[0] / clump[1], nucleus[0] / nucleus[1], 2 * nuclei[0] / (nuclei[1] + nuclei[2])]


def read_dice(folder: Path) -> dict[str, dict[str, float]]:
    """Table II: for each method its own figures, by column."""
    figures: dict[str, dict[str, float]] = {}
    with (folder / "table2.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            if line["value"] and line["source"] == "ours":
                figures.setdefault(line["method"], {})[line["figure"]] = float(line["value"])
    return figures


def describe(case: Case, folder: Path, images: list[AnnotatedImage]) -> str:
    """Row of the table."""
    steps, dice = str(read_card(folder / MODEL)["steps"]), read_dice(folder)
    if (folder / TIME).exists():
        steps += f", {json.loads((folder / TIME).read_text()) / 60:.1f} min"
    cells = [f"{dice[name]['overall']:.3f} / {dice[name]['all cells']:.3f}" for name in METHODS]
    regions = [f"{value:.3f}" for value in measure_regions(folder, images)]
    return f"| {case.title} | {steps} | {' | '.join([*regions, *cells])} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--dataset", choices=sorted(READERS), default="isbi2015")
    parser.add_argument("--out", type=Path, help="folder for the runs; by default build/clump-stage/DATASET")
    parser.add_argument("--only", default="", help="only runs with this in their name")
    parser.add_argument("--steps", type=int, help="batches of each training, in place of those of this file")
    parser.add_argument("--fold", type=int, choices=range(1, 6), help="one fold alone; needs --steps")
    parser.add_argument("--write", action="store_true", help="put the table into paper/docs/results.md")
    options = parser.parse_args()
    if options.fold and not options.steps:
        parser.error("--fold needs --steps")
    part = f"{options.dataset} fold" if options.fold else options.dataset
    out = options.out or ROOT / "build" / "clump-stage" / part.replace(" ", "-")
    for case in CASES:
        if options.only in case.name:
            where = (case, out / case.name, options.dataset, options.data)
            if options.fold:
                reproduce_fold(*where, options.steps, options.fold)
            else:
                reproduce(*where, options.steps)
    images = list(READERS[options.dataset].read(options.data / options.dataset))
    done = [case for case in CASES if (out / case.name / "table2.csv").is_file()]
    how = f" --fold {options.fold} --steps {options.steps}" if options.fold else ""
    length = "batches, processor time" if options.fold else "batches a fold"
    header = ["", length, "clump Dice", "nucleus pixel Dice", "nuclei F1", *(f"`{name}`" for name in METHODS)]
    lines = [
        f"Measured by `python paper/benchmarks/clump_stage.py --dataset {options.dataset}{how} --write` at commit "
        f"{commit()}.",
        "",
        f"| {' | '.join(header)} |",
        "|---" * len(header) + "|",
        *(describe(case, out / case.name, images) for case in done),
    ]
    print("\n".join(lines))
    if options.write:
        replace_part("paper/docs/results.md", f"clump stage {part}", "\n".join(lines))


if __name__ == "__main__":
    main()
