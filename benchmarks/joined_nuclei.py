"""Nuclei that touch or overlap: simulated ones against watersheds, and those of ISBI 2015, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import ndimage

import declump
from declump.datasets import AnnotatedImage, isbi2015
from declump.evaluation import overlap_degree, pool
from declump.models import read_card
from declump.pipelines.nuclei import evolve_nuclei
from declump.regions import Regions, find_regions
from joining import divide
from watersheds import counts, distinct_seeds, from_h_maxima, from_points

SMEARS = range(9100, 9112)
"""Seeds of the simulated smears; others than those that were looked at while this was made."""
MIN_NUCLEUS = 60
"""Smallest true nucleus in pixels that counts: what the image border leaves of others is none."""
Masks = np.ndarray


def cut(masks: Masks) -> np.ndarray:
    """Label image of masks that do not overlap."""
    return np.max(masks * np.arange(1, len(masks) + 1)[:, None, None], axis=0, initial=0).astype(np.int32)


def whole(masks: Masks) -> Masks:
    return evolve_nuclei(cut(masks)).masks


def of_labels(labels: np.ndarray) -> Masks:
    return labels == np.arange(1, labels.max() + 1)[:, None, None]


def simulated_nuclei() -> list[str]:
    """Dice of whole nuclei, from the union of the true ones and from the image, beside the cuts they come from."""
    scores: dict[str, list] = {}
    for number in SMEARS:
        smear = declump.simulate.smear(cells=14, overlap=0.5, joined_nuclei=0.5, rng=number)
        seen = smear.nuclei.sum((1, 2)) >= MIN_NUCLEUS
        truth, seeds = smear.nuclei[seen], distinct_seeds(smear.nuclei[seen], smear.seeds[seen])
        mask, degree = truth.any(axis=0), overlap_degree(truth)
        given, found = from_points(mask, seeds), divide(mask)
        regions = find_regions(smear.image, cut_nuclei=True)
        results = {
            "true union, true seeds: watershed of the distance": given,
            "true union, true seeds: whole nuclei": declump.evolve(mask, seeds, prior="nucleus").masks,
            "true union, watershed of true seeds made whole": whole(given),
            "true union: watershed, h-maxima, h = 0.5 pixels": from_h_maxima(mask, 0.5),
            "true union: watershed, h-maxima, h = 1 pixel": from_h_maxima(mask, 1.0),
            "true union: the parts of `find_seeds`": found,
            "true union: the same made whole": whole(found),
            "image: nuclei of `find_regions`, cut": of_labels(regions.nuclei),
            "image: `segment_nuclei`": declump.segment_nuclei(smear.image, regions=regions).masks,
            "image: its mask, watershed, h-maxima, h = 1 pixel": from_h_maxima(regions.nuclei > 0, 1.0),
        }
        for name, masks in results.items():
            score = declump.score(truth, masks, overlap_degree=degree)
            scores.setdefault(name, []).append((score, counts(truth, masks)))
    number = sum(len(score.dice) for score, _ in next(iter(scores.values())))
    lines = [
        f"Simulated smears with joined nuclei: {len(SMEARS)} images, {number} nuclei.",
        "",
        "| | all nuclei | overlapping | hidden 1/4 to 1/2 | 1/2 to 3/4 | F1 at IoU 0.5 | found |",
        "|---" * 7 + "|",
    ]
    for name, values in scores.items():
        score, (hits, true, found) = pool([score for score, _ in values]), np.sum([each for _, each in values], axis=0)
        figures = (score.dice_all, score.dice_overlapping, *score.dice_by_overlap[1:3], 2 * hits / (true + found))
        lines.append(f"| {name} | {' | '.join(f'{value:.3f}' for value in figures)} | {found} |")
    return lines


@dataclass(frozen=True)
class Joined:
    """A piece of the true union of nuclei that serves several cells."""

    cells: list[int]
    mask: np.ndarray


def joined_nuclei(image: AnnotatedImage, union: np.ndarray) -> list[Joined]:
    pieces, count = ndimage.label(union, np.ones((3, 3)))
    owners: dict[int, list[int]] = {}
    for cell in range(len(image.cells)):
        under = pieces[image.nucleus_labels == cell + 1]
        if under.size:
            owners.setdefault(int(np.bincount(under, minlength=count + 1).argmax()), []).append(cell)
    return [Joined(cells, pieces == piece) for piece, cells in sorted(owners.items()) if len(cells) > 1]


def match_seeds(image: AnnotatedImage, joined: Joined, seeds: np.ndarray) -> list[bool]:
    """Which cells of a joined piece have a seed of their own: each takes the nearest within a radius of its nucleus."""
    free, taken = dict(enumerate(seeds)), []
    for cell in joined.cells:
        radius = np.sqrt(np.sum(image.nucleus_labels == cell + 1) / np.pi)
        distances = {index: np.hypot(*(seed - image.seeds[cell])) for index, seed in free.items()}
        nearest = min(distances, key=distances.get, default=None)
        taken.append(nearest is not None and distances[nearest] <= radius)
        if taken[-1]:
            free.pop(nearest)
    return taken


def real_nuclei(data: Path, models: Path) -> list[str]:
    """Seeds of the cells of ISBI 2015 whose nuclei are one piece, and the outlines of their cells."""
    unseen = {name: model for model in sorted(models.glob("regions-*.onnx")) for name in read_card(model)["held out"]}
    lines = [
        "ISBI 2015: every piece of the true nuclei that serves two cells; which of these have a seed of their own.",
        "",
        "| frame, cells | networks | by pieces | true mask by shape | lost by `find_regions` | lost by `segment` |",
        "|---|---|---|---|---|---|",
    ]
    totals = np.zeros(4, int)
    for image in isbi2015.read(data / "isbi2015"):
        union = isbi2015._mask(data / "isbi2015" / image.name / "nuclei.png", image.image.shape[:2])
        pieces = joined_nuclei(image, union)
        if not pieces:
            continue
        model = unseen.get(image.name)
        rays = "default" if model is None else model.with_name(model.name.replace("regions", "rays"))
        regions = find_regions(image.image, model=model or "default", judge="none")
        counted = declump.segment(image.image, regions=regions, rays=rays)
        by_shape = declump.find_seeds(union)
        by_piece = Regions(union, union).seeds
        for joined in pieces:
            every = [match_seeds(image, joined, each) for each in (by_piece, by_shape, regions.seeds, counted.seeds)]
            before, shape, *after = every
            lost = [
                ", ".join(str(cell) for cell, found in zip(joined.cells, each, strict=True) if not found) or "none"
                for each in after
            ]
            totals += [len(each) - sum(each) for each in every]
            seen = "held out" if image.name in unseen else "have seen it"
            lines.append(
                f"| {image.name}, {' and '.join(map(str, joined.cells))} | {seen} | {sum(before)} of {len(before)} "
                f"| {sum(shape)} of {len(shape)} | {' | '.join(lost)} |"
            )
    lines.append(f"| lost in all | | {' | '.join(map(str, totals))} |")
    return lines
