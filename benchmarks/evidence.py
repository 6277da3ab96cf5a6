"""Evidence beside the clump: what each kind is worth, and what each stage of the pipeline costs.

    python benchmarks/evidence.py --data ../shared/data --write

The models in benchmarks/models come in folds (regions-a with rays-a, ...): each learnt without the images that its card
names as held out, and only those are measured, with a shape prior of the other images. Each stage is replaced by the
truth in turn, which shows what limits the whole.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

import declump
from declump.datasets import AnnotatedImage, isbi2014, isbi2015
from declump.evaluation import Score, pool
from declump.evidence import Evidence
from declump.evidence.proposals import propose_rays
from declump.evolution.settings import SETTINGS, Settings
from declump.models import read_card
from declump.records.segmentation import Segmentation
from declump.regions import Regions, find_regions
from pages import ROOT, commit, replace_part

READERS = {"ISBI 2015": isbi2015, "ISBI 2014": isbi2014}


@dataclass(frozen=True, eq=False)
class Case:
    """An image that the models of a fold did not see."""

    image: AnnotatedImage
    prior: declump.ShapePrior
    found: Regions
    rays: Path

    def propose(self, regions: Regions) -> Evidence:
        """What the ray network that did not see the image proposes."""
        return propose_rays(self.image.image, regions, model=self.rays)

    @property
    def true(self) -> Regions:
        """True regions."""
        labels = self.image.nucleus_labels
        return Regions(self.image.clump, labels)

    def mix(self, clump: Regions, nuclei: Regions) -> Regions:
        """Clump of one, nuclei of another; a nucleus outside the clump brings its own place."""
        return Regions(clump.clump | (nuclei.nuclei > 0), nuclei.nuclei)


EXPLAIN_ALL = replace(SETTINGS["joint"], claim=np.inf)
"""Cells grow over all of their clump, whatever their proposals reach."""


def evolve_case(case: Case, regions: Regions, kind: str, setting: str | Settings = "joint") -> Segmentation:
    evidence = case.propose(regions) if kind == "rays" else None
    return declump.evolve(regions.clump, regions.seeds, evidence=evidence, prior=case.prior, setting=setting)


def propose_outlines(case: Case, regions: Regions) -> Segmentation:
    """What the ray network says, without any evolution."""
    evidence = case.propose(regions)
    assert evidence.radii is not None
    nowhere = np.zeros(len(regions.seeds), np.int64)
    return Segmentation(regions.clump.shape, regions.seeds, evidence.resample(360).radii, nowhere)


def with_true_rays(case: Case, regions: Regions) -> Segmentation:
    radii = declump.shape_examples(case.image.cells, regions.seeds).radii
    evidence = Evidence(radii=radii, radii_std=np.ones_like(radii))
    return declump.evolve(regions.clump, regions.seeds, evidence=evidence, prior=case.prior)


def leave_out(case: Case, spoken_against: Callable[[Segmentation, np.ndarray], np.ndarray]) -> Segmentation:
    """Evolve, leave out the cells (by number) that the outlines speak against, and evolve anew."""
    first = evolve_case(case, case.found, "rays")
    sizes = np.bincount(case.found.nuclei.ravel(), minlength=len(first) + 1)[1:]
    nuclei = np.where(np.isin(case.found.nuclei, spoken_against(first, sizes) + 1), 0, case.found.nuclei)
    return evolve_case(case, Regions(case.found.clump, nuclei), "rays")


def find_doubled(found: Segmentation, sizes: np.ndarray) -> np.ndarray:
    """Cells that are another, with a larger nucleus, a second time: intersection over union above 0.65."""
    masks = found.masks.reshape(len(found), -1).astype(np.float32)
    shared = masks @ masks.T
    areas = np.diag(shared)
    alike = shared > 0.65 * np.maximum(areas[:, None] + areas - shared, 1)
    kept: list[int] = []
    for index in np.argsort(-sizes, kind="stable"):
        if not alike[index, kept].any():
            kept.append(int(index))
    return np.setdiff1d(np.arange(len(found)), kept)


def find_unneeded(found: Segmentation, _: np.ndarray) -> np.ndarray:
    """Cells of which less than a hundredth lies outside all others."""
    layers = found.masks.sum(axis=0)
    alone = np.array([np.mean(layers[mask] == 1) if mask.any() else 0.0 for mask in found.masks])
    return np.flatnonzero(alone < 0.01)


def with_missing_seeds(case: Case, setting: str | Settings = "joint") -> Segmentation:
    """As `declump.segment` does it."""
    return declump.segment(case.image.image, regions=case.found, rays=case.rays, prior=case.prior, setting=setting)


SHAPE_ONLY, WITH_RAYS = "true regions, `clump` (shape only)", "true regions, `rays`"
DEFAULT = "end to end, `rays`, candidates, seeds where nothing is explained (default)"
Way = tuple[str, bool, Callable[[Case], Segmentation]]
WAYS: tuple[Way, ...] = (
    (SHAPE_ONLY, True, lambda case: evolve_case(case, case.true, "clump")),
    ("true regions, ray proposals alone, no evolution", True, lambda case: propose_outlines(case, case.true)),
    (WITH_RAYS, True, lambda case: evolve_case(case, case.true, "rays")),
    (f"{WITH_RAYS}, all of the clump explained", True, lambda case: evolve_case(case, case.true, "rays", EXPLAIN_ALL)),
    ("true regions, true rays", True, lambda case: with_true_rays(case, case.true)),
    (
        "found clump, true nuclei, `rays`",
        True,
        lambda case: evolve_case(case, case.mix(case.found, case.true), "rays"),
    ),
    (
        "found clump, true nuclei, `rays`, all of the clump explained",
        True,
        lambda case: evolve_case(case, case.mix(case.found, case.true), "rays", EXPLAIN_ALL),
    ),
    (
        "true clump, found nuclei, `rays`",
        False,
        lambda case: evolve_case(case, case.mix(case.true, case.found), "rays"),
    ),
    ("end to end, `clump`", False, lambda case: evolve_case(case, case.found, "clump")),
    ("end to end, ray proposals alone", False, lambda case: propose_outlines(case, case.found)),
    ("end to end, `rays`", False, lambda case: evolve_case(case, case.found, "rays")),
    ("end to end, `rays`, doubled cells left out", False, lambda case: leave_out(case, find_doubled)),
    (
        "end to end, `rays`, cells that explain nothing left out",
        False,
        lambda case: leave_out(case, find_unneeded),
    ),
    (DEFAULT, False, with_missing_seeds),
    (f"{DEFAULT}, all of the clump explained", False, lambda case: with_missing_seeds(case, EXPLAIN_ALL)),
)
HEADER = (
    "| | overlapping cells | hidden by 3/4 or more | Dice <= 0.7 | all cells, missed ones 0 | good cells | FNo | FDo "
    "| ms a cell |\n|---|---|---|---|---|---|---|---|---|"
)


def line(label: str, score: Score, milliseconds: float) -> str:
    hidden = score.overlap_degree > 0
    bad = 100 * np.mean(score.dice[hidden] <= 0.7)
    return (
        f"| {label} | {score.dice_overlapping:.3f} | {score.dice_by_overlap[-1]:.3f} | {bad:.1f} % "
        f"| {score.dice_all:.3f} | {score.dice_good:.3f} | {score.fno:.3f} | {score.fdo:.3f} | {milliseconds:.0f} |"
    )


def cases_of(name: str, data: Path, models: Path) -> list[Case]:
    images = list(READERS[name].read(data / name.lower().replace(" ", "")))
    cases = []
    for regions in sorted(models.glob("regions-*.onnx")):
        rays = regions.with_name(regions.name.replace("regions", "rays"))
        judge = regions.with_name(regions.name.replace("regions", "judge"))
        unseen = set(read_card(regions)["held out"]) & {image.name for image in images}
        for partner in (judge, rays):
            if not partner.exists() or not set(read_card(partner)["held out"]) >= unseen:
                sys.exit(f"{regions} needs a {partner.name} beside it that holds out the same images")
        prior = declump.learn_prior([image for image in images if image.name not in unseen])
        cases += [
            Case(image, prior, find_regions(image.image, model=regions, judge=judge), rays)
            for image in images
            if image.name in unseen
        ]
    return cases


def measure_way(cases: list[Case], way: Way) -> tuple[Score, float]:
    """Score over all images, and milliseconds a cell."""
    _, by_nucleus, run = way
    scores, seconds, count = [], 0.0, 0
    for case in cases:
        start = time.perf_counter()
        result = run(case)
        seconds, count = seconds + time.perf_counter() - start, count + len(result)
        matching = "order" if by_nucleus else "greedy"
        scores.append(declump.score(case.image.cells, result.masks, matching=matching))
    return pool(scores), 1e3 * seconds / max(count, 1)


def calibration_table(cases: list[Case]) -> list[str]:
    """How often the true outline lies within so many standard deviations of the proposal, by the doubt."""
    off, doubts = [], []
    for case in cases:
        evidence = case.propose(case.true)
        examples = declump.shape_examples(case.image.cells, case.true.seeds, rays=evidence.radii.shape[1])
        whole = ~examples.cut
        off.append(np.abs(evidence.radii - examples.radii)[whole].ravel())
        doubts.append(evidence.radii_std[whole].ravel())
    off, std = np.concatenate(off), np.concatenate(doubts)
    edges = (0, 1, 2, 4, 8, 16, np.inf)
    groups = [(f"{low} to {high}", (std >= low) & (std < high)) for low, high in pairwise(edges)]
    lines = [
        "| standard deviation in pixels | rays | mean error | within 1 deviation | within 2 |",
        "|---|---|---|---|---|",
    ]
    for label, chosen in [*groups, ("all", std > 0)]:
        if chosen.sum() >= 50:
            error, ratios = off[chosen].mean(), off[chosen] / std[chosen]
            within = " | ".join(f"{100 * np.mean(ratios < limit):.0f} %" for limit in (1, 2))
            lines.append(f"| {label} | {chosen.sum()} | {error:.1f} px | {within} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / "benchmarks" / "models")
    parser.add_argument("--only", default="", help="only rows with this in their name")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/results.md")
    options = parser.parse_args()
    origin = f"Measured by `python benchmarks/evidence.py --write` at commit {commit()}."
    text, headline = [origin, ""], ["| | shape only | with evidence | end to end, all cells | good cells | FNo |"]
    headline.append("|---" * 6 + "|")
    for name in READERS:
        cases = cases_of(name, options.data, options.models)
        cells = sum(len(case.image.cells) for case in cases)
        text += [f"### {name}: {len(cases)} unseen images, {cells} cells", "", HEADER]
        scores: dict[str, Score] = {}
        for way in (way for way in WAYS if options.only in way[0]):
            scores[way[0]], milliseconds = measure_way(cases, way)
            text.append(line(way[0], scores[way[0]], milliseconds))
            print(text[-1], file=sys.stderr, flush=True)
        if not options.only:
            true, rays, whole = (scores[label] for label in (SHAPE_ONLY, WITH_RAYS, DEFAULT))
            figures = (true.dice_overlapping, rays.dice_overlapping, whole.dice_all, whole.dice_good, whole.fno)
            headline.append(
                f"| {name}, {cells} cells of unseen images | " + " | ".join(f"{value:.3f}" for value in figures) + " |"
            )
        title = f"Calibration of the rays' standard deviations, {name}, true regions:"
        text += ["", title, "", *calibration_table(cases), ""]
    print("\n".join(text))
    if options.write:
        replace_part("docs/results.md", "evidence", "\n".join(text))
        replace_part("docs/results.md", "evidence headline", "\n".join([*headline, "", origin]))


if __name__ == "__main__":
    main()
