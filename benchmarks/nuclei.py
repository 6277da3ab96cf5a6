"""Chooses the rules by which a dark spot counts as a nucleus, on images that the networks did not see.

    python benchmarks/nuclei.py --data ../shared/data

Each model in benchmarks/models holds out other images. Rules are chosen on those of one model and measured on those of
the other, which tells what choosing them is worth; the defaults are what is chosen on all of them together.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

import numpy as np

from choosing import choose_best
from declump.datasets import isbi2014, isbi2015
from declump.models import NUCLEUS_DIAMETER
from declump.regions.channels import to_channels
from declump.regions.find import read_maps
from declump.regions.inference import open_region_model, region_maps
from declump.regions.nuclei import RULES, NucleusRules
from detection import count_detected
from pages import ROOT

CHOICES = {
    "min_probability": (0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7),
    "min_peak": (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55),
    "min_dip": (0.08, 0.12, 0.16, 0.2, 0.25, 0.3),
    "min_area": (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4),
    "min_share": (0.0, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5),
    "min_solidity": (0.75, 0.8, 0.85, 0.88, 0.9),
    "min_contrast": (0.0, 0.02, 0.04, 0.06, 0.08),
}
MIN_GAIN = 0.002
"""A rule is changed only for a gain of F1 that is more than chance."""


def read_unseen(model: Path, data: Path) -> dict[str, list[tuple]]:
    """Maps, channels and true nuclei of the images that a model did not see, by data set."""
    network = open_region_model(model)
    unseen = set(network.card["held out"])
    return {
        name: [
            (region_maps(channels, network), channels, image.nucleus_labels, len(image.cells))
            for image in reader.read(data / name)
            if image.name in unseen
            for channels in (to_channels(image.image),)
        ]
        for name, reader in (("isbi2015", isbi2015), ("isbi2014", isbi2014))
    }


def f1(examples: list[tuple], rules: NucleusRules) -> float:
    counts = np.zeros(3)
    for maps, channels, true, cells in examples:
        found = read_maps(maps, channels, NUCLEUS_DIAMETER, rules=rules).nuclei
        counts += [count_detected(found, true), found.max(), cells]
    return 2 * counts[0] / (counts[1] + counts[2])


def merit(folds: list[dict[str, list[tuple]]], rules: NucleusRules) -> float:
    """Mean F1 over folds and data sets."""
    return float(np.mean([f1(examples, rules) for fold in folds for examples in fold.values()]))


def best(folds: list[dict[str, list[tuple]]]) -> NucleusRules:
    return choose_best(RULES, CHOICES, lambda rules: merit(folds, rules), min_gain=MIN_GAIN)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / "benchmarks" / "models")
    options = parser.parse_args()
    folds = [read_unseen(model, options.data) for model in sorted(options.models.glob("regions-*.onnx"))]
    for index, fold in enumerate(folds):
        others = folds[:index] + folds[index + 1 :]
        rules = best(others) if others else RULES
        for name, examples in fold.items():
            print(f"fold {index}, {name}: F1 {f1(examples, rules):.3f} with {asdict(rules)} chosen on the other folds")
    rules = best(folds)
    print(f"chosen on all folds: {asdict(rules)}, mean F1 {merit(folds, rules):.3f}")


if __name__ == "__main__":
    main()
