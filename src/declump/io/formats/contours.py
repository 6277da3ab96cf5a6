"""``contours.json``: everything that a segmentation is, as plain JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.errors import BROKEN, reason_of
from declump.io.formats.parts.documents import check_size, read_json
from declump.io.formats.parts.result import DECIMALS, Result
from declump.records.crops import crop_labels, crop_runs
from declump.records.others import Others
from declump.records.segmentation import ClumpRecord, Segmentation

FILE = "contours.json"
VERSION = 2
"""Version of the file; a reader refuses a later one. Version 1 had no nuclei. What a judge said, the probabilities of
nuclei and the others, is there where one looked; a reader that does not know it passes over it."""
DIGITS = 4
"""Digits of a probability."""
_FORMAT = "declump contours"


def write(result: Result, path: Path) -> None:
    """Write seeds, radii, nuclei and clumps, a line for each cell and each clump."""
    segmentation = result.segmentation
    cells = [
        {"id": index + 1, "seed": seed, "clump": clump + 1 if clump >= 0 else None, "radii": radii}
        for index, (seed, clump, radii) in enumerate(
            zip(segmentation.seeds.tolist(), segmentation.clump.tolist(), segmentation.radii.tolist(), strict=True)
        )
    ]
    layers = {"nucleus": segmentation.nuclei, "second_nucleus": segmentation.second_nuclei}
    for name, labels in layers.items():
        for cell, part in zip(
            cells, [] if labels is None else crop_labels(labels, len(cells)), strict=labels is not None
        ):
            if part.area or name == "nucleus":
                cell[name] = part.encode(segmentation.shape)
    if segmentation.nucleus_probability is not None:
        for cell, probability in zip(cells, segmentation.nucleus_probability.tolist(), strict=True):
            cell["nucleus_probability"] = None if np.isnan(probability) else round(probability, DIGITS)
    clumps = [
        {"id": index + 1, "size": record.size, "stopped": record.stopped, "history": record.history}
        for index, record in enumerate(segmentation.clumps)
    ]
    head = {
        "format": _FORMAT,
        "version": VERSION,
        "shape": list(segmentation.shape),
        "rays": segmentation.radii.shape[1],
        "nuclei": segmentation.nuclei is not None,
    }
    parts = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    parts_of = {"cells": cells, "clumps": clumps}
    if segmentation.others is not None:
        parts_of["others"] = _list_others(segmentation.others)
    for name, records in parts_of.items():
        lines = ",\n  ".join(json.dumps(record) for record in records)
        parts.append(f'"{name}": [\n  {lines}\n]' if records else f'"{name}": []')
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def _list_others(others: Others) -> list[dict[str, Any]]:
    return [
        {
            "kind": kind,
            "place": np.round(place, DECIMALS).tolist(),
            "area": float(area),
            "probability": round(said, DIGITS),
        }
        for kind, place, area, said in zip(
            others.kinds, others.places, others.areas, others.probability.tolist(), strict=True
        )
    ]


def read(path: Path) -> Segmentation:
    """Read a contours file of any version up to the present one.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no contours file, or one of a later version.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no contours file {path}; give the contours.json of a results folder")
    try:
        content = read_json(path)
        if content["format"] != _FORMAT:
            raise ValueError(f"its format is {content['format']!r}")
        if content["version"] > VERSION:
            raise ValueError(f"it has version {content['version']}, this declump reads up to {VERSION}")
        return _parse_segmentation(content)
    except BROKEN as error:
        raise ValueError(f"{path} is no contours file that declump can read ({reason_of(error)})") from error


def _parse_segmentation(content: dict[str, Any]) -> Segmentation:
    cells, (height, width) = content["cells"], content["shape"]
    shape = check_size(height, width)
    radii = np.array([cell["radii"] for cell in cells], dtype=np.float64).reshape(len(cells), content["rays"])
    return Segmentation(
        shape=shape,
        seeds=np.array([cell["seed"] for cell in cells], dtype=np.float64).reshape(-1, 2),
        radii=radii,
        clump=np.array([(cell["clump"] or 0) - 1 for cell in cells], dtype=np.int64),
        clumps=tuple(
            ClumpRecord(int(record["size"]), tuple(map(int, record["history"])), record["stopped"])
            for record in content["clumps"]
        ),
        nuclei=_parse_nuclei(cells, "nucleus", shape) if content["version"] > 1 and content["nuclei"] else None,
        second_nuclei=_parse_nuclei(cells, "second_nucleus", shape)
        if any("second_nucleus" in cell for cell in cells)
        else None,
        nucleus_probability=_parse_probability(cells),
        others=_parse_others(content["others"]) if "others" in content else None,
    )


def _parse_probability(cells: list[dict[str, Any]]) -> NDArray[np.float64] | None:
    if not any("nucleus_probability" in cell for cell in cells):
        return None
    return np.array([cell.get("nucleus_probability") for cell in cells], dtype=np.float64)


def _parse_others(records: list[dict[str, Any]]) -> Others:
    return Others(
        np.array([record["place"] for record in records], dtype=np.float64).reshape(-1, 2),
        np.array([record["area"] for record in records], dtype=np.float64),
        np.array([record["probability"] for record in records], dtype=np.float64),
        tuple(str(record["kind"]) for record in records),
    )


def _parse_nuclei(cells: list[dict[str, Any]], name: str, shape: tuple[int, int]) -> NDArray[np.int32]:
    labels = np.zeros(shape, np.int32)
    for index, cell in enumerate(cells):
        if name == "nucleus" or name in cell:
            nucleus = crop_runs(cell[name], shape)
            labels[nucleus.box][nucleus.mask] = index + 1
    return labels
