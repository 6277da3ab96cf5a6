"""What declump makes of a small, fixed set of inputs, by every public function and every export format.

``python tests/support/golden_outputs.py`` writes the digests of all outputs anew into ``golden.json``. Do that only in
a commit that says which outputs changed, and why.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from PIL import Image

import declump
from declump.batch import Options, Source
from declump.batch import run as run_batch
from declump.datasets import AnnotatedImage
from declump.pipelines.cells import divide_image
from declump.pipelines.cutting import Limits
from declump.pipelines.solve import CellSolver
from declump.regions import RegionOptions
from support.arithmetic import fingerprint
from support.observations import Observation, differences, digest

STORE = Path(__file__).parents[1] / "golden" / "golden.json"
CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"
LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-image",
    "onnxruntime",
    "pillow",
    "tifffile",
    "imageio",
    "pyarrow",
    "roifile",
)
SHAPE = (220, 240)


# Inputs


@cache
def smear(stain: str) -> declump.simulate.Smear:
    return declump.simulate.smear(
        SHAPE, cells=7, radius=34, overlap=0.5, clumps=2, joined_nuclei=0.5, stain=stain, rng=4
    )


@cache
def pictures() -> dict[str, np.ndarray]:
    """Grey, 16 bits and colour."""
    grey = smear("grey").image
    return {
        "grey": grey,
        "uint16": grey.astype(np.uint16) * 200 + 13,
        "pap": smear("pap").image,
        "he": smear("he").image,
    }


@cache
def true_regions() -> declump.Regions:
    known = smear("grey")
    return declump.Regions(known.clump, annotated(4).nucleus_labels)


@cache
def annotated(number: int) -> AnnotatedImage:
    made = declump.simulate.smear(
        SHAPE,
        cells=7,
        radius=34,
        overlap=0.5,
        clumps=2,
        joined_nuclei=0.5 if number == 4 else 0.0,
        stain="grey",
        rng=number,
    )
    labels = np.zeros(SHAPE, dtype=np.int32)
    for index, nucleus in enumerate(made.nuclei, start=1):
        labels[nucleus & (labels == 0)] = index
    return AnnotatedImage(f"smear {number}", made.image, made.cells, labels, made.seeds)


@cache
def discs() -> tuple[np.ndarray, np.ndarray]:
    """Mask of overlapping discs, and their centres."""
    centres = np.array([(60, 60), (60, 105), (100, 82), (40, 190), (150, 180)])
    rows, columns = np.indices(SHAPE)
    return np.any([np.hypot(rows - row, columns - column) < 34 for row, column in centres], axis=0), centres


@cache
def corner_clump() -> tuple[declump.Regions, declump.Evidence]:
    """Two clumps of discs; of the second, which goes round a corner, only the first disc has a nucleus."""
    rows, columns = np.indices(SHAPE)
    centres = [(150, 30), (150, 50), (40, 60), (40, 110), (40, 160), (90, 160)]
    distances = [np.hypot(rows - row, columns - column) for row, column in centres]
    known = declump.Regions(np.min(distances, axis=0) < 28, np.min(distances[:3], axis=0) < 5)
    return known, declump.Evidence(radii=np.full((3, 72), 28.0), radii_std=np.ones((3, 72)))


@cache
def segmented(picture: str = "grey") -> declump.Segmentation:
    return declump.segment(pictures()[picture])


@cache
def measured() -> declump.Measurements:
    return declump.measure(segmented("pap"), pictures()["pap"], prior="default", pixel_size=0.3)


# Outputs


def simulated() -> Iterator[tuple[str, Any]]:
    for stain in ("grey", "pap", "he"):
        yield stain, smear(stain)


def regions() -> Iterator[tuple[str, Any]]:
    for name, picture in pictures().items():
        yield name, declump.find_regions(picture)
    grey = pictures()["grey"]
    yield "cut nuclei", declump.find_regions(grey, cut_nuclei=True)
    yield "diameter", declump.find_regions(grey, diameter=13)


def cells() -> Iterator[tuple[str, Any]]:
    for name in pictures():
        yield name, segmented(name)
    grey = pictures()["grey"]
    for evidence in ("clump", "rays"):
        yield f"evidence {evidence}", declump.segment(grey, evidence=evidence)
    yield "paper", declump.segment(grey, setting="paper")
    yield "diameter", declump.segment(grey, diameter=18)
    yield "pixel size", declump.segment(grey, pixel_size=0.3)
    yield "true regions", declump.segment(grey, regions=true_regions())
    known = true_regions()
    spots = np.where(known.nuclei == 3, 1, np.where(known.nuclei == 5, 2, 0))
    doubted = declump.Regions(known.clump, np.where(spots > 0, 0, known.nuclei), candidates=spots)
    yield "one candidate of two is borne out", declump.segment(grey, regions=doubted)
    corner, evidence = corner_clump()
    yield "missing seed", declump.segment(np.zeros(SHAPE), regions=corner, evidence=evidence)


def evolved() -> Iterator[tuple[str, Any]]:
    mask, centres = discs()
    for prior in ("default", "cytoplasm", "nucleus", "round"):
        yield prior, declump.evolve(mask, centres, prior=prior)
    yield "paper", declump.evolve(mask, centres, setting="paper")
    yield "scale", declump.evolve(mask, centres, scale=0.7)
    large, seeds = np.kron(mask, np.ones((9, 9), bool)), centres * 9 + 4
    yield "coarser grid", declump.evolve(large, seeds)
    known = smear("grey")
    yield "smear", declump.evolve(known.clump, known.seeds)


def other_things() -> Iterator[tuple[str, Any]]:
    mask, centres = discs()
    for method in ("distance", "concavity", "both"):
        yield f"seeds {method}", declump.find_seeds(mask, method=method)
    yield "split", declump.split(mask)
    yield "split, seeds given", declump.split(mask, seeds=centres)
    yield "nuclei", declump.segment_nuclei(pictures()["grey"])
    yield "nuclei of true regions", declump.segment_nuclei(pictures()["grey"], regions=true_regions())


def learnt() -> Iterator[tuple[str, Any]]:
    images = [annotated(number) for number in range(2)]
    examples = declump.shape_examples(images[0].cells, images[0].seeds, rays=48)
    yield "examples", examples
    yield "fit", declump.ShapePrior.fit(examples)
    yield "prior", declump.learn_prior(images, rays=48)
    yield "prior without copies", declump.learn_prior(images, rays=48, copies=False, reach=False, with_examples=True)


def measurements() -> Iterator[tuple[str, Any]]:
    for name in ("cells", "clumps", "image"):
        yield name, getattr(measured(), name)
    yield "without an image", declump.measure(segmented("grey")).cells


def scores() -> Iterator[tuple[str, Any]]:
    truth, found = smear("grey").cells, segmented("grey").masks
    for matching in ("greedy", "hungarian", "isbi2014"):
        yield matching, declump.score(truth, found, matching=matching)
    evaluation = declump.evaluation
    yield "pooled", evaluation.pool([declump.score(truth, found), declump.score(truth, truth)])
    yield "dice", evaluation.dice_matrix(truth, found)
    yield "overlap degree", evaluation.overlap_degree(truth)
    yield "interval", evaluation.bootstrap_interval([np.array([0.1, -0.2]), np.array([0.3])], repetitions=200)


def drawings() -> Iterator[tuple[str, Any]]:
    pictured, result, image = declump.pictures, segmented("pap"), pictures()["pap"]
    values = measured().cells["nucleus_to_cytoplasm_area_ratio"]
    yield "overlay", pictured.overlay(result, image, nuclei=True, numbers=True)
    yield "overlay by value", pictured.overlay(result, image, values=values, title="N/C")
    yield "grid", pictured.cell_grid(result, image, values=values, title="N/C", side=80)
    yield "colours", pictured.category_colours(result)


def formats() -> Iterator[tuple[str, Any]]:
    with scratch() as folder:
        how = {"image": pictures()["pap"], "formats": list(declump.io.FORMATS), "measurements": measured().cells}
        declump.io.write_results(segmented("pap"), folder / "all", **how)
        for path in sorted((folder / "all").iterdir()):
            yield path.name, path
        for name, entry in declump.io.FORMATS.items():
            if entry.read is not None:
                yield f"{name} read back", declump.io.read(folder / "all" / entry.file)


def runs() -> Iterator[tuple[str, Any]]:
    with scratch() as folder:
        for name in ("grey", "uint16", "pap"):
            path = folder / f"{name}.{'tif' if name == 'uint16' else 'png'}"
            Image.fromarray(pictures()[name]).save(path)
        sources = [Source(path.relative_to(folder), path.stem) for path in sorted(folder.iterdir())]
        with contextlib.chdir(folder):
            run_batch(sources, Path("out"), Options(formats=("contours", "csv")), jobs=1)
        for path in sorted(folder.glob("out/*/*")):
            yield path.relative_to(folder).as_posix(), path


def chain() -> Iterator[tuple[str, Any]]:
    """Every stage on inputs of all kinds: regions, statistics, cells with what became of candidates, columns."""
    grey = pictures()["grey"]
    slope = np.linspace(1.0, 0.6, SHAPE[1])
    planes = [grey, np.roll(grey, 1, axis=0)]
    images = {
        "grey": grey,
        "colour": pictures()["pap"],
        "16 bits": pictures()["uint16"],
        "uneven light": np.rint(grey * slope).astype(np.uint8),
        "focus stack": declump.fuse_stack(planes)[0],
        "joined nuclei": declump.simulate.smear(SHAPE, cells=4, radius=34, joined_nuclei=1, stain="grey", rng=6).image,
    }
    with scratch() as folder:
        tifffile.imwrite(folder / "tiled.tif", grey, tile=(64, 64))
        images["tiled TIFF"] = declump.io.read_image(folder / "tiled.tif")
        for name, image in images.items():
            found = declump.segment(image)
            yield (
                name,
                [
                    declump.find_regions(image),
                    declump.find_statistics(image),
                    found,
                    declump.measure(found, image).cells,
                ],
            )
    options = RegionOptions()
    division = divide_image(grey, options, options, CellSolver.from_names(), limits=Limits(cells=3, side=3072))
    yield "a clump above the limits", division.solve().assemble()
    yield "a bare mask", declump.evolve(*discs())


def commands() -> Iterator[tuple[str, Any]]:
    """Files that the command line writes, but those that tell how long anything took."""
    mask, centres = discs()
    with scratch() as folder:
        Image.fromarray(mask).save(folder / "mask.png")
        labels = np.zeros(SHAPE, np.uint8)
        for number, (row, column) in enumerate(centres, start=1):
            labels[row - 4 : row + 5, column - 4 : column + 5] = number
        Image.fromarray(labels).save(folder / "nuclei.png")
        for arguments in (
            ["simulate", "-o", "smears", "--count", "2", "--cells", "6", "--size", "320"],
            ["evolve", "--clump", "mask.png", "--nuclei", "nuclei.png", "-o", "evolved"],
            ["split", "mask.png", "-o", "divided"],
            ["report", "evolved"],
            ["train", "prior", "smears", "-o", "prior.npz", "--rays", "48"],
        ):
            command(folder, *arguments)
        names = ("smears/*", "evolved/*", "divided/*", "*.npz")
        for path in sorted(path for name in names for path in folder.glob(name)):
            yield path.relative_to(folder).as_posix(), path


def networks() -> Iterator[tuple[str, Any]]:
    """Networks that the command line trains; this needs torch."""
    quick = ["--simulated", "1", "--steps", "2", "--size", "1"]
    with scratch() as folder:
        command(folder, "simulate", "-o", "smears", "--count", "2", "--cells", "6", "--size", "320")
        for network in ("regions", "rays"):
            command(folder, "train", network, "smears", "-o", f"{network}.onnx", *quick)
            yield f"{network}.onnx", folder / f"{network}.onnx"


def command(folder: Path, *arguments: str) -> None:
    """Run a command; what torch rounds depends on the number of its threads, so that is always the same."""
    words = [sys.executable, "-m", "declump.cli", *arguments]
    surroundings = {**os.environ, "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=300, env=surroundings)


PRODUCERS: dict[str, Callable[[], Iterator[tuple[str, Any]]]] = {
    "simulate": simulated,
    "find_regions": regions,
    "segment": cells,
    "evolve": evolved,
    "other things": other_things,
    "learn": learnt,
    "measure": measurements,
    "score": scores,
    "pictures": drawings,
    "formats": formats,
    "batch": runs,
    "chain": chain,
    "commands": commands,
    "networks": networks,
}


def rounds_alike() -> bool:
    """Whether versions and processor are those that the bytes were stored with."""
    pinned = dict(line.split("==") for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines() if "==" in line)
    stored = json.loads(STORE.read_text(encoding="utf-8"))["fingerprint"]
    return all(version(name) == pinned[name] for name in LIBRARIES) and fingerprint() == stored


def check_outputs(made: Mapping[str, Any], stored: Mapping[str, Any], *, alike: bool) -> None:
    """Hold outputs to what was stored: decisions and rounded values everywhere, bytes where all rounds alike."""
    assert made.keys() == stored.keys()
    changed = {name: said for name in stored if (said := differences(made[name], stored[name]))}
    if alike:
        changed |= {name: ["other bytes"] for name in stored if made[name]["sha256"] != stored[name]["sha256"]}
    assert not changed, "if these were meant to change, say why in a commit, and store them anew"


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def describe(producer: Callable[[], Iterator[tuple[str, Any]]]) -> dict[str, dict[str, Any]]:
    """What is stored of all that a producer gives, by name: see :mod:`support.observations`."""
    return {name: {"sha256": digest(value), **Observation.of(value).record()} for name, value in producer()}


def store(path: Path, made: dict[str, Any]) -> None:
    """Write outputs with the values of an array in one line."""
    text = re.sub(r"(?<=[\[,])\s+(?=[-\d\]])|(?<=\d)\s+(?=\])", "", json.dumps(made, indent=1))
    path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    store(STORE, {"fingerprint": fingerprint(), "outputs": {name: describe(made) for name, made in PRODUCERS.items()}})
