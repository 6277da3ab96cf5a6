"""The networks as packages of bioimage.io: weights, a description, and a test input with its output."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump import __version__
from declump._files import atomic_folder, file_digest
from declump.evidence.proposals import RayProposer
from declump.models import DIAMETER_ENTRY, OPSET, Model, model_path, open_model
from declump.records.regions import Regions, seeds_from_labels
from declump.regions.channels import ImageChannels, to_channels
from declump.regions.inference import COARSEST, open_region_model
from declump.simulate import smear

Json = dict[str, Any]
DESCRIPTION = "rdf.yaml"
"""JSON, which is YAML, too."""
SIDE = 256
"""Height and width of the simulated smear that the test inputs show."""
_SEEN = ["luminance", "blue minus luminance", "red minus luminance"]
_REGION_CLASSES = ["background", "cytoplasm", "nucleus", "centre", "0 cells", "1 cell", "2 cells", "3 or more cells"]
_WINDOW = [*_SEEN, "clump", "other nuclei", "own nucleus", "image", "lead over other seeds", "distance"]
_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, eq=False)
class Package:
    """What a package holds, but for what all have in common.

    Attributes
    ----------
    name, title, description, explanation : str
        Of its folder; for people; what the numbers mean that go in and come out.
    model : Model
    example : array
        A test input, without the axis of the batch.
    axes_in, axes_out : list
        Axes after that of the batch, as the specification has them.
    """

    name: str
    title: str
    description: str
    explanation: str
    model: Model
    example: NDArray[np.float32]
    axes_in: list[Json]
    axes_out: list[Json]


def export_models(folder: str | Path, *, regions: str | Path = "default", rays: str | Path = "default") -> list[Path]:
    """Write the region network and the ray network as packages of bioimage.io.

    Parameters
    ----------
    folder : str or Path
        New or empty. Gets a folder and a zip file for each network; the same models give the same bytes.
    regions, rays : str or Path
        ``"default"``, the networks that ship with declump, or ONNX files of ``declump train``.

    Returns
    -------
    list of Path
        The zip files.

    Raises
    ------
    FileExistsError
        If the folder is not empty.
    ValueError, FileNotFoundError
        If a model is none.
    """
    folder, packages = Path(folder), [_pack_regions(regions), _pack_rays(rays)]
    with atomic_folder(folder) as draft:
        for package in packages:
            _write_package(package, draft)
    return [folder / f"{package.name}.zip" for package in packages]


def _pack_regions(path: str | Path) -> Package:
    model = open_region_model(model_path(path, "regions.onnx"))
    axis = {"type": "space", "size": {"min": COARSEST, "step": COARSEST}}
    classes = _REGION_CLASSES[: 3 if model.is_published else None]
    return Package(
        "regions",
        "declump regions",
        "Background, cytoplasm and nuclei of overlapping cells in cervical smears, centres of nuclei, and how many "
        "cells lie over each other.",
        "In: luminance, B - Y and R - Y, each divided by the 95th percentile of the luminance, at a resolution at "
        f"which nuclei are {model.nucleus_diameter:g} pixels wide (`declump.regions.channels.to_channels`). Out: "
        "scores of three classes, to go through a softmax; the nearness of the centre of a nucleus; scores of 0, 1, 2, "
        "3 or more cells at a pixel, to go through a softmax.",
        model,
        to_channels(_simulate().image),
        [_channels(_SEEN), {**axis, "id": "y"}, {**axis, "id": "x"}],
        [_channels(classes), *({"type": "space", "id": side, "size": _same(side)} for side in "yx")],
    )


def _pack_rays(path: str | Path) -> Package:
    model = open_model(model_path(path, "rays.onnx"), "ray model")
    picture = _simulate()
    nuclei = (np.arange(1, len(picture.nuclei) + 1)[:, None, None] * picture.nuclei).max(axis=0).astype(np.int32)
    known = Regions(picture.clump, nuclei, diameter=model.nucleus_diameter)
    assert len(seeds_from_labels(nuclei)) == len(picture.nuclei)
    window = RayProposer(ImageChannels(picture.image), path).window(known, 0)
    angles, depths = window.shape[1:]
    return Package(
        "rays",
        "declump rays",
        "How far a whole cell reaches in every direction from its nucleus, also under others, and how sure that is.",
        f"In: a polar window about the centre of a nucleus, {angles} directions by {depths} steps, in nine planes "
        "(`declump.evidence.windows.sample_window`). Out: distance and its standard deviation in each direction, in "
        "steps.",
        model,
        window,
        [_channels(_WINDOW), _fixed("y", angles), _fixed("x", depths)],
        [_channels(["distance", "standard deviation"]), _fixed("y", angles)],
    )


def _simulate() -> Any:
    return smear((SIDE, SIDE), cells=4, clumps=1, rng=7)


def _channels(names: list[str]) -> Json:
    return {"type": "channel", "channel_names": [name.replace(" ", "_") for name in names]}


def _fixed(name: str, size: int) -> Json:
    return {"type": "space", "id": name, "size": size}


def _same(name: str) -> Json:
    return {"tensor_id": "image", "axis_id": name}


def _write_package(package: Package, draft: Path) -> None:
    folder = draft / package.name
    folder.mkdir()
    weights, taken, given = f"{package.name}.onnx", "test_input.npy", "test_output.npy"
    (folder / weights).write_bytes(package.model.path.read_bytes())
    np.save(folder / taken, package.example[None], allow_pickle=False)
    np.save(folder / given, package.model.run(package.example)[None], allow_pickle=False)
    (folder / "README.md").write_text(_document(package), encoding="utf-8")

    def source(name: str) -> Json:
        return {"source": name, "sha256": file_digest(folder / name)}

    def tensor(name: str, axes: list[Json], file: str) -> Json:
        return {
            "id": name,
            "axes": [{"type": "batch"}, *axes],
            "data": {"type": "float32"},
            "test_tensor": source(file),
        }

    content = {
        "type": "model",
        "format_version": "0.5.3",
        "name": package.title,
        "description": package.description,
        "version": __version__,
        "authors": [{"name": "The declump developers"}],
        "license": "BSD-3-Clause",
        "tags": ["cytology", "cells", "nuclei", "overlap", "2d"],
        "documentation": "README.md",
        # No time of writing: the same models give the same bytes.
        "timestamp": "1980-01-01T00:00:00+00:00",
        "inputs": [tensor("image", package.axes_in, taken)],
        "outputs": [tensor("answer", package.axes_out, given)],
        "weights": {"onnx": {**source(weights), "opset_version": OPSET}},
    }
    (folder / DESCRIPTION).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    with zipfile.ZipFile(draft / f"{package.name}.zip", "w") as archive:
        for path in sorted(folder.iterdir()):
            entry = zipfile.ZipInfo(path.name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


def _document(package: Package) -> str:
    card = {name: value for name, value in package.model.card.items() if name != "curve"}
    return (
        f"# {package.title}\n\n{package.description}\n\n{package.explanation}\n\n"
        "It is a part of declump, which finds whole cells with it; by itself it finds none. The test input shows a "
        f"simulated smear.\n\nTraining: `{json.dumps(card, sort_keys=True)}`\n\n"
        "The method follows Song et al., Constrained Multi-shape Evolution for Overlapping Cytoplasm Segmentation.\n\n"
        f"Usual diameter of a nucleus: {card.get(DIAMETER_ENTRY, package.model.nucleus_diameter)} pixels.\n"
    )
