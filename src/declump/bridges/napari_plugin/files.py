"""Files as layers of napari and back, and a sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from declump._files import atomic_file
from declump.bridges.napari_plugin.layers import Layer, from_layers, to_layers
from declump.io.formats import FORMATS, Result, csv_table
from declump.io.formats.parts.metadata import find_metadata
from declump.io.results import read
from declump.simulate import smear

ENDINGS = {
    ".json": "contours",
    ".geojson": "geojson",
    ".zip": "imagej",
    ".tif": "planes",
    ".csv": "csv",
}
"""Formats by what the name of a file ends on."""


def get_reader(path: str | Sequence[str]) -> Callable[[Any], list[Layer]] | None:
    """Give what reads a path, or None if it is no result of declump."""
    if not isinstance(path, str):
        return None
    given = Path(path)
    if given.is_dir():
        ours = any((given / entry.file).is_file() for entry in FORMATS.values() if entry.read)
    else:
        told = find_metadata(given) or {}
        form = FORMATS.get(str(told.get("format", "")).removeprefix("declump "))
        ours = form is not None and form.read is not None
    return read_layers if ours else None


def read_layers(path: str) -> list[Layer]:
    """Read a results folder or a file in it; the table beside becomes features of the cells."""
    result, given = read(path), Path(path)
    table = (given if given.is_dir() else given.parent) / csv_table.FILE
    measured = csv_table.read_numbers(table) if table.is_file() else None
    if measured is not None and any(len(values) != len(result) for values in measured.values()):
        measured = None  # of another result
    return to_layers(result, measured)


def write_layers(path: str, layers: list[Layer]) -> list[str]:
    """Write the cells of layers to a file in the format that its name asks for."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{path} names no format; let it end on {', '.join(ENDINGS)}")
    result, measured = from_layers(layers)
    images = [np.asarray(data) for data, _, kind in layers if kind == "image"]
    image = next((pixels for pixels in images if pixels.shape[:2] == result.shape), None)
    with atomic_file(Path(path)) as draft:
        FORMATS[ENDINGS[ending]].write(Result(result, image, measured), draft)
    return [path]


def sample_smear() -> list[Layer]:
    """Simulate a Pap smear with overlapping cells."""
    return [(smear((512, 512), cells=12, clumps=3, rng=4).image, {"name": "simulated smear"}, "image")]
