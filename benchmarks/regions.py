"""Clump, nuclei and whole cells from images: how good a region model is on images it did not see.

    python benchmarks/regions.py --data ../shared/data

The models in benchmarks/models were trained as the default one, but each without the images that its card names as held
out; on those it is measured, with a shape prior of the others. Cervix93 was seen by no model, and is measured with the
default one. It has points only: a nucleus counts as found when a point lies in it or within its radius.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

import declump
from declump import io, simulate
from declump.datasets import AnnotatedImage, isbi2014, isbi2015
from declump.evaluation import pool
from declump.models import read_card
from declump.regions.find import find_regions
from detection import count_detected
from pages import ROOT, commit, replace_part


def dice(found: np.ndarray, true: np.ndarray) -> np.ndarray:
    return np.array([2 * np.sum(found & true), found.sum() + true.sum()], float)


def rows(cases: list[tuple[AnnotatedImage, str, declump.ShapePrior]], *, cut: bool = False) -> Iterator[str]:
    """Figures over images, each with its model and its prior."""
    clump, nucleus, nuclei = np.zeros(2), np.zeros(2), np.zeros(3)
    layers, scores = np.zeros((4, 2)), []
    for image, model, prior in cases:
        regions = find_regions(image.image, model=model, cut_nuclei=cut, judge="none")
        result = declump.segment(image.image, regions=regions, prior=prior, evidence="clump")
        clump += dice(regions.clump, image.clump)
        nucleus += dice(regions.nuclei > 0, image.nucleus_labels > 0)
        nuclei += [count_detected(regions.nuclei, image.nucleus_labels), regions.nuclei.max(), len(image.cells)]
        scores.append(declump.score(image.cells, result.masks))
        if regions.layers is not None:
            found, true = np.rint(regions.layers), np.minimum(image.cells.sum(0), 3)
            for count in range(4):
                layers[count] += np.sum((found == count) & (true == count)), np.sum((found == count) | (true == count))
    score = pool(scores)
    yield f"cytoplasm Dice {clump[0] / clump[1]:.3f}, nucleus pixel Dice {nucleus[0] / nucleus[1]:.3f}"
    yield f"nuclei F1 {2 * nuclei[0] / (nuclei[1] + nuclei[2]):.3f} (found {nuclei[1]:.0f}, true {nuclei[2]:.0f})"
    if layers.any():
        yield "layers IoU of 0 / 1 / 2 / 3+: " + " / ".join(f"{both / max(either, 1):.2f}" for both, either in layers)
    yield (
        f"end to end by shapes alone: Dice over all cells {score.dice_all:.3f}, of good cells {score.dice_good:.3f}, "
        f"FNo {score.fno:.3f}, FDo {score.fdo:.3f}"
    )


def annotate(smear: simulate.Smear) -> AnnotatedImage:
    numbers = np.arange(1, len(smear.cells) + 1)[:, None, None]
    labels = np.max(smear.nuclei * numbers, axis=0).astype(np.int32)
    return AnnotatedImage("simulated", smear.image, smear.cells, labels, smear.seeds)


def cervix93(folder: Path, model: str) -> str:
    counts = np.zeros(3)
    for path in sorted(folder.glob("frame*.png")):
        regions = find_regions(io.read_image(path), model=model, judge="none")
        points = np.loadtxt(path.with_suffix(".csv"), delimiter=",", ndmin=2)
        areas = np.bincount(regions.nuclei.ravel(), minlength=len(regions.seeds) + 1)[1:]
        distances = np.hypot(*(points[:, None] - regions.seeds[None]).transpose(2, 0, 1))
        near = distances <= 1.2 * np.sqrt(areas / np.pi)
        counts += [near[linear_sum_assignment(near, maximize=True)].sum(), len(regions.seeds), len(points)]
    f1 = 2 * counts[0] / (counts[1] + counts[2])
    return f"nuclei F1 {f1:.3f} (right {counts[0]:.0f}, found {counts[1]:.0f}, true {counts[2]:.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / "benchmarks" / "models")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/regions.md")
    options = parser.parse_args()
    models = sorted(options.models.glob("regions-*.onnx"))
    lines = [f"`python benchmarks/regions.py` at commit {commit()}; images the networks did not see.", ""]
    for name, reader in (("ISBI 2015", isbi2015), ("ISBI 2014", isbi2014)):
        images = list(reader.read(options.data / name.lower().replace(" ", "")))
        cases = []
        for model in models:
            unseen = set(read_card(model)["held out"])
            prior = declump.learn_prior([image for image in images if image.name not in unseen])
            cases += [(image, str(model), prior) for image in images if image.name in unseen]
        lines += [f"**{name}, {len(cases)} images**", "", *(f"- {row}" for row in rows(cases)), ""]
    whole = declump.ShapePrior.load("default")
    for stain in ("grey", "pap", "he"):
        lines += [f"**Simulated smears, {stain}, 6 images, network**", ""]
        smears = [simulate.smear(cells=12, overlap=0.4, stain=stain, rng=9000 + index) for index in range(6)]
        cases = [(annotate(smear), "default", whole) for smear in smears]
        lines += [f"- {row}" for row in rows(cases, cut=True)] + [""]  # their truth holds cells with cut nuclei
    lines += [f"**Cervix93, 12 frames**: {cervix93(options.data / 'cervix93', 'default')}", ""]
    print("\n".join(lines))
    if options.write:
        replace_part("docs/regions.md", "figures", "\n".join(lines))


if __name__ == "__main__":
    main()
