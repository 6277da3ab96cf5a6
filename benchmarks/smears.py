"""Any smear: clump, nuclei, other objects and whole cells, from one model, on every source.

    python benchmarks/smears.py --part report --cells --json docs/results/smears.json

CRIC frames are those of one part of the split (``split.csv`` of the marks); Cervix93, ISBI 2015 and ISBI 2014 those
that the model's card names as held out, beside the 90 official test images of ISBI 2014, which teach nothing. Means are
over frames. Points count as found within 24 px, one to one; on Cervix93, which has other pixels, within 1.2 radii.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

import declump
from declump import io
from declump.datasets import AnnotatedImage, isbi2014, isbi2015
from declump.evaluation.points import match_points
from declump.models import model_path, read_card
from declump.records.regions import Regions, seeds_from_labels
from declump.regions.channels import ImageChannels
from declump.regions.inference import SHIPPED, open_region_model, region_maps
from pages import ROOT, commit

REACH = 24.0
"""Largest distance in pixels of a found nucleus from the point that marks it."""
CANDIDATE = 0.1
"""Least probability of a candidate that counts."""
NEAR = 6
"""What the network calls a mark is looked up so near to it, in pixels."""
CLASSES = ("NILM", "ASC-US", "LSIL", "ASC-H", "HSIL", "SCC")


@dataclass
class Tally:
    """Figures of frames, to be averaged."""

    rows: list[dict[str, float]] = field(default_factory=list)

    def mean(self) -> dict[str, float]:
        """Means of all figures over the frames that have them."""
        names = sorted({name for row in self.rows for name in row})
        return {name: float(np.mean([row[name] for row in self.rows if name in row])) for name in names}


@dataclass(frozen=True)
class Case:
    """One frame with what is known of it."""

    name: str
    image: np.ndarray
    points: np.ndarray
    classes: tuple[str, ...] = ()
    reach: float | None = REACH
    annotated: AnnotatedImage | None = None
    marks: Path | None = None


def dice(found: np.ndarray, true: np.ndarray) -> float:
    return float(2 * np.sum(found & true) / max(found.sum() + true.sum(), 1))


def f1(right: int, found: int, true: int) -> dict[str, float]:
    return {
        "recall": right / max(true, 1),
        "precision": right / max(found, 1),
        "F1": 2 * right / max(found + true, 1),
    }


def count_points(places: np.ndarray, case: Case, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    reach = 1.2 * radii if case.reach is None else case.reach
    return match_points(places, case.points, reach) if len(places) and len(case.points) else (np.zeros(0, int),) * 2


def outlines(records: list[dict[str, Any]], shape: tuple[int, ...]) -> list[np.ndarray]:
    masks = []
    for record in records:
        drawn = Image.new("1", (shape[1], shape[0]))
        ImageDraw.Draw(drawn).polygon([(column, row) for row, column in record["outline"]], fill=1)
        mask = np.asarray(drawn)
        if mask.any():
            masks.append(mask)
    return masks


def pair_dice(found: np.ndarray, masks: list[np.ndarray]) -> list[float]:
    """Dice of each true nucleus with the found one that shares most with it; those not found are left out."""
    areas, values = np.bincount(found.ravel()), []
    for mask in masks:
        shared = np.bincount(found[mask], minlength=areas.size)
        shared[0] = 0
        best = int(shared.argmax())
        if shared[best] > 0.3 * mask.sum():
            values.append(2 * shared[best] / (areas[best] + mask.sum()))
    return values


def measure_regions(case: Case, regions: Regions, pooled: dict[str, list[Any]]) -> dict[str, float]:
    """Figures of the regions of one frame."""
    row: dict[str, float] = {}
    radii = np.sqrt(np.bincount(regions.nuclei.ravel(), minlength=len(regions.seeds) + 1)[1:] / np.pi)
    if len(case.points):
        own, right = count_points(regions.seeds, case, radii)
        row |= {f"nuclei {name}": value for name, value in f1(len(own), len(regions.seeds), len(case.points)).items()}
        places, reaches = regions.seeds, radii
        if regions.candidates is not None and regions.candidate_probability is not None:
            kept = regions.candidate_probability >= CANDIDATE
            areas = np.bincount(regions.candidates.ravel(), minlength=kept.size + 1)[1:][kept]
            places = np.vstack([places, seeds_from_labels(regions.candidates)[kept]])
            reaches = np.append(reaches, np.sqrt(areas / np.pi))
        pooled["lost"].append((len(case.points) - len(count_points(places, case, reaches)[1]), len(case.points)))
        pooled["candidates"].append((len(places), len(case.points)))
        rows, columns = np.rint(case.points).astype(int).T
        inside = regions.clump[rows.clip(0, regions.clump.shape[0] - 1), columns.clip(0, regions.clump.shape[1] - 1)]
        pooled["outside"].append((int(np.sum(~inside)), len(inside)))
        hit = np.zeros(len(case.points), bool)
        hit[right] = True
        for name, found in zip(case.classes, hit, strict=False):
            pooled[f"recall {name}"].append((int(found), 1))
    if case.annotated is not None:
        row["clump Dice"] = dice(regions.clump, case.annotated.clump)
        row["nucleus Dice"] = float(np.mean(pair_dice(regions.nuclei, list(case.annotated.nuclei)) or [0]))
        own = match_points(regions.seeds, case.annotated.seeds, np.maximum(radii, 3))[0] if len(radii) else radii
        row |= {f"nuclei {k}": v for k, v in f1(len(own), len(radii), len(case.annotated.seeds)).items()}
    if case.marks is not None:
        levels = np.asarray(io.read_image(case.marks / "clump.png"))
        known = levels != 128
        row["clump Dice"] = dice(regions.clump & known, levels == 255)
        drawn = json.loads((case.marks / "nuclei.json").read_text())
        masks = outlines(drawn["nuclei"], regions.clump.shape)
        if masks:
            row["nucleus Dice"] = float(np.mean(pair_dice(regions.nuclei, masks) or [0]))
        if drawn["complete"] and masks:
            seeds = np.array([np.argwhere(mask).mean(axis=0) for mask in masks])
            at = np.rint(regions.seeds).astype(int)
            sure = np.array([levels[place[0], place[1]] != 128 for place in at], bool)
            sure_masks = np.array([levels[int(seed[0]), int(seed[1])] != 128 for seed in seeds], bool)
            own, _ = match_points(regions.seeds[sure], seeds[sure_masks], REACH)
            row |= {f"drawn nuclei {k}": v for k, v in f1(len(own), int(sure.sum()), int(sure_masks.sum())).items()}
    return row


def measure_kinds(case: Case, model: str, pooled: dict[str, list[Any]]) -> None:
    """Of what is marked, nuclei among it, how much is called a leukocyte, and how much of that is one."""
    opened = open_region_model(model)
    if case.marks is None or not opened.is_smear:
        return
    maps = region_maps(ImageChannels(case.image).channels, opened)
    assert maps.centres is not None
    rows = list(csv.DictReader((case.marks / "points.csv").open()))
    rows = [row for row in rows if row["kind"] not in ("background", "nucleus")]
    places = np.array([[float(row["row"]), float(row["column"])] for row in rows]).reshape(-1, 2)
    kinds = np.array([row["kind"] == "leukocyte" for row in rows] + [False] * len(case.points), bool)
    named = []
    for row, column in np.rint(np.vstack([places, case.points])).astype(int):
        near = maps.centres[:4, max(row - NEAR, 0) : row + NEAR + 1, max(column - NEAR, 0) : column + NEAR + 1]
        named.append(near.max(axis=(1, 2)).argmax() == 1)
    called = np.array(named, bool)
    pooled["leukocytes named"] += [(int(found), 1) for found in called[kinds]]
    pooled["named leukocytes right"] += [(int(right), 1) for right in kinds[called]]


def measure_cells(case: Case, found: declump.Segmentation) -> dict[str, float]:
    """Figures of the cells of one frame."""
    row: dict[str, float] = {}
    if case.annotated is not None:
        score = declump.score(case.annotated.cells, found.masks)
        row |= {"cells Dice": score.dice_all, "cells AJI": score.aji, "cells FNo": score.fno}
        row["cells F1"] = 2 * float(np.sum(score.dice > 0.7)) / max(len(found) + len(case.annotated.cells), 1)
    elif len(case.points):
        radii = np.full(len(found), REACH)
        if found.nuclei is not None:
            areas = np.bincount(found.nuclei.ravel(), minlength=len(found) + 1)[1 : len(found) + 1]
            radii = np.sqrt(np.maximum(areas, 1) / np.pi)
        own, _ = count_points(found.seeds, case, radii)
        row |= {f"cells {name}": value for name, value in f1(len(own), len(found), len(case.points)).items()}
    if case.marks is not None:
        drawn = outlines(json.loads((case.marks / "cells.json").read_text()), found.shape)
        best = [max((dice(mask, cell) for cell in found.masks), default=0.0) for mask in drawn]
        if best:
            row["drawn cells Dice"] = float(np.mean(best))
    return row


def read_cric(data: Path, marks: Path, part: str) -> Iterator[Case]:
    names = [row["frame"] for row in csv.DictReader((marks / "split.csv").open()) if row["part"] == part]
    for name in names:
        rows = list(csv.DictReader((data / "cric" / f"{name}.csv").open()))
        points = np.array([[float(row["row"]), float(row["column"])] for row in rows]).reshape(-1, 2)
        folder = marks / part / name
        image = np.asarray(io.read_image(data / "cric" / f"{name}.jpg"))
        yield Case(
            name,
            image,
            points,
            tuple(row["class"] for row in rows),
            marks=folder if (folder / "points.csv").is_file() else None,
        )


def read_cervix93(data: Path, held_out: set[str]) -> Iterator[Case]:
    for path in sorted((data / "cervix93").glob("frame*.png")):
        if f"cervix93/{path.stem}" in held_out:
            points = np.loadtxt(path.with_suffix(".csv"), delimiter=",", ndmin=2)
            yield Case(path.stem, np.asarray(io.read_image(path)), points, reach=None)


def read_cells(images: Iterator[AnnotatedImage], held_out: set[str] | None) -> Iterator[Case]:
    for image in images:
        if held_out is None or image.name in held_out:
            yield Case(image.name, image.image, np.zeros((0, 2)), annotated=image)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--marks", type=Path, default=ROOT / "marks" / "cric")
    parser.add_argument("--part", choices=("choose", "report"), default="choose", help="of the CRIC frames")
    parser.add_argument("--model", default="default", help="region model")
    parser.add_argument("--rays", default="default", help="ray model")
    parser.add_argument("--held-out", type=Path, help="model whose card names the held-out images; by default --model")
    parser.add_argument("--sources", nargs="*", help="by default all")
    parser.add_argument("--min-nucleus", type=float, help="least probability of a nucleus")
    parser.add_argument("--cells", action="store_true", help="measure whole cells, too")
    parser.add_argument("--every", type=int, default=1, help="only every so many frames of a source")
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args()
    card = read_card(model_path(str(options.held_out or options.model), SHIPPED))
    held_out = set(card["held out"])
    sources: dict[str, Callable[[], Iterator[Case]]] = {
        f"CRIC, {options.part}": lambda: read_cric(options.data, options.marks, options.part),
        "Cervix93": lambda: read_cervix93(options.data, held_out),
        "ISBI 2015": lambda: read_cells(isbi2015.read(options.data / "isbi2015"), held_out),
        "ISBI 2014": lambda: read_cells(isbi2014.read(options.data / "isbi2014"), held_out),
        "ISBI 2014 test": lambda: read_cells(isbi2015.read(options.data / "isbi2014_test"), None),
    }
    extra = {} if options.min_nucleus is None else {"min_nucleus": options.min_nucleus}
    results: dict[str, dict[str, float]] = {}
    for source, read in sources.items():
        if options.sources and not any(source.startswith(name) for name in options.sources):
            continue
        tally = Tally()
        pooled: dict[str, list[Any]] = {f"recall {name}": [] for name in CLASSES}
        pooled |= {"lost": [], "outside": [], "candidates": [], "leukocytes named": [], "named leukocytes right": []}
        for index, case in enumerate(read()):
            if index % options.every:
                continue
            regions = declump.find_regions(case.image, model=options.model, **extra)
            row = measure_regions(case, regions, pooled)
            measure_kinds(case, options.model, pooled)
            if options.cells:
                row |= measure_cells(case, declump.segment(case.image, regions=regions, rays=options.rays))
            tally.rows.append(row)
        figures = {"frames": float(len(tally.rows)), **tally.mean()}
        for name, pairs in pooled.items():
            if pairs:
                counts = np.array(pairs).sum(axis=0)
                figures[name] = float(counts[0] / counts[1])
        results[source] = figures
        print(f"{source}: " + ", ".join(f"{name} {value:.3f}" for name, value in figures.items()), flush=True)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        text = {"commit": commit(), "model": str(options.model), "sources": results}
        options.json.write_text(json.dumps(text, indent=1) + "\n")


if __name__ == "__main__":
    main()
