"""``cells.ome.zarr``: label images as OME-Zarr (OME-NGFF 0.4, Zarr 2), for napari, Fiji and the like.

The folder is an image, if one was given, with its labels: ``labels/cells-1``, ``labels/cells-2``, ... hold the planes
in which no two cells overlap, ``labels/nuclei`` the nuclei, if they are known, and ``labels/second-nuclei``, if two
overlap anywhere, those below others. There is one resolution. These are a few JSON files and compressed chunks, so no
library is needed to write them.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.io.formats.parts.metadata import make_metadata
from declump.io.formats.parts.planes import label_planes
from declump.io.formats.parts.result import Result

FILE = "cells.ome.zarr"
CHUNK = 1024
NGFF = "0.4"
_OWN = re.compile(r"(labels/(cells-\d+/|nuclei/|second-nuclei/)?)?(\.z(group|attrs)|0/(\.zarray|[\d/]+))")
"""Names of files in the folder."""
_COLOURS = {"red": "FF0000", "green": "00FF00", "blue": "0000FF"}


def write(result: Result, path: Path) -> None:
    """Write the folder."""
    segmentation, image = result.segmentation, result.image
    labels = {f"cells-{number}": plane for number, plane in enumerate(label_planes(segmentation), start=1)}
    if segmentation.nuclei is not None:
        labels["nuclei"] = segmentation.nuclei
    if segmentation.second_nuclei is not None:
        labels["second-nuclei"] = segmentation.second_nuclei
    own: dict[str, Any] = {"declump": make_metadata(segmentation, "ome-zarr")}
    if image is not None:
        pixels = np.asarray(image)
        pixels = pixels.astype(np.uint8) if pixels.dtype == np.bool_ else pixels
        own |= _write_image(path, np.moveaxis(pixels[..., :3], 2, 0) if pixels.ndim == 3 else pixels)
    _write_group(path, own)
    _write_group(path / "labels", {"labels": list(labels)})
    for name, plane in labels.items():
        source = {} if image is None else {"source": {"image": "../../"}}
        label = {"image-label": {"version": NGFF, **source}}
        _write_group(path / "labels" / name, {**_write_multiscale(path / "labels" / name, name, plane), **label})


def list_files(folder: Path) -> list[str]:
    """Names, from the folder on, of the files in it that :func:`write` may have written; links are not followed."""
    walked = [] if folder.is_symlink() else os.walk(folder)
    names = ((Path(place) / name).relative_to(folder).as_posix() for place, _, files in walked for name in files)
    return sorted(name for name in names if _OWN.fullmatch(name))


def _write_image(folder: Path, pixels: NDArray[Any]) -> dict[str, Any]:
    """Write an image (H, W) or (3, H, W) and give its attributes, which say of three channels that they are colours."""
    attributes = _write_multiscale(folder, "image", pixels)
    if pixels.ndim == 3:
        kind = pixels.dtype
        low, high = (0, int(np.iinfo(kind).max)) if kind.kind in "iu" else (float(pixels.min()), float(pixels.max()))
        window = {"min": low, "start": low, "max": high, "end": high}
        attributes["omero"] = {
            "version": NGFF,
            "channels": [
                {"label": name, "color": colour, "active": True, "window": window} for name, colour in _COLOURS.items()
            ],
            "rdefs": {"model": "color"},
        }
    return attributes


def _write_multiscale(folder: Path, name: str, pixels: NDArray[Any]) -> dict[str, Any]:
    """Write an array at its only resolution and give the attributes of the group it lies in."""
    _write_array(folder / "0", pixels)
    axes = [{"name": "c", "type": "channel"}, {"name": "y", "type": "space"}, {"name": "x", "type": "space"}]
    scale = {"type": "scale", "scale": [1.0] * pixels.ndim}
    datasets = [{"path": "0", "coordinateTransformations": [scale]}]
    return {"multiscales": [{"version": NGFF, "name": name, "axes": axes[-pixels.ndim :], "datasets": datasets}]}


def _write_group(folder: Path, attributes: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(folder / ".zgroup", {"zarr_format": 2})
    _write_json(folder / ".zattrs", attributes)


def _write_array(folder: Path, pixels: NDArray[Any]) -> None:
    """Write an array in chunks; those of 0 only need no file."""
    pixels = pixels.astype(pixels.dtype.newbyteorder("<"), copy=False)
    chunk = (1,) * (pixels.ndim - 2) + tuple(min(CHUNK, extent) for extent in pixels.shape[-2:])
    counts = [-(-extent // size) for extent, size in zip(pixels.shape, chunk, strict=True)]
    folder.mkdir(parents=True)
    for place in product(*map(range, counts)):
        box = tuple(slice(index * size, (index + 1) * size) for index, size in zip(place, chunk, strict=True))
        part = pixels[box]
        if part.any():
            whole = np.pad(part, [(0, size - extent) for size, extent in zip(chunk, part.shape, strict=True)])
            target = folder.joinpath(*map(str, place))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(zlib.compress(whole.tobytes(), 1))
    description = {
        "zarr_format": 2,
        "shape": list(pixels.shape),
        "chunks": list(chunk),
        "dtype": pixels.dtype.str,
        "compressor": {"id": "zlib", "level": 1},
        "fill_value": 0,
        "order": "C",
        "filters": None,
        "dimension_separator": "/",
    }
    _write_json(folder / ".zarray", description)


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
