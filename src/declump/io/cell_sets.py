"""Whole masks of cells from wherever a program or a data set keeps them, of one image or of many, by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.errors import BROKEN, reason_of
from declump.images.decoding import decode_single_page
from declump.images.reading import read_image, read_mask_stack
from declump.io.formats.parts.coco_masks import decode_segmentation
from declump.io.formats.parts.documents import check_size, read_json
from declump.io.results import read
from declump.records.crops import Crop, crop_polygon

Masks = NDArray[np.bool_]
Shape = tuple[int, int]
CellReader = Callable[[Shape | None], Masks]
"""Reads masks (N, H, W); is given the size of the image where another file knows it."""
TAILS = ("_cp_masks", "_seg", "_masks", "_mask", "_labels", "_label", "_cells")
"""What programs add to the name of an image for its masks."""
_PICTURES = (".png", ".tif", ".tiff")
_OUTLINES = (".json", ".geojson", ".zip", ".npz")


def find_cell_sets(path: str | Path) -> dict[str, CellReader]:
    """Find the cells of one or many images.

    Parameters
    ----------
    path : str or Path
        A folder that ``declump segment -o`` wrote; a folder of one folder a frame with ``cells/*.png``, as ISBI 2015
        has; a folder of label images (every number a cell, as Cellpose and StarDist write them), GeoJSON files, ROI
        archives or ``.npz`` files, one an image; a COCO file. Or the cells of one image: a results folder or a file of
        it, a folder with ``cells/*.png``, a folder or TIFF stack with a mask a cell, a label image, a GeoJSON file, an
        ``.npz`` file with an array ``masks``.

    Returns
    -------
    dict of str to callable
        A reader for each image, by its name without ending; of a single image by "".

    Raises
    ------
    FileNotFoundError, ValueError
        If there is nothing of that name, or nothing in it is known.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; give cells of one image, or a folder of many")
    if path.is_dir():
        return _in_folder(path)
    if path.suffix.lower() == ".json":
        document = _read_document(path)
        if "annotations" in document and len(document.get("images", ())) > 1:
            return _in_coco(document, path)
    return {"": _of_file(path)}


def pair_cell_sets(
    truth: dict[str, CellReader], predicted: dict[str, CellReader]
) -> list[tuple[str, CellReader, CellReader]]:
    """Pair what belongs to the same image, by name; a single image on either side needs no name.

    Raises
    ------
    ValueError
        If an image of the truth has no counterpart.
    """
    if len(truth) == len(predicted) == 1:
        return [(name, truth[name], next(iter(predicted.values()))) for name in truth]
    known = {_plain_name(name): reader for name, reader in predicted.items()}
    missing = [name for name in truth if _plain_name(name) not in known]
    if missing:
        raise ValueError(
            f"{len(missing)} of {len(truth)} images have no prediction, the first {missing[0]!r}; there are some "
            f"for {', '.join(map(repr, list(predicted)[:3]))}{' ...' if len(predicted) > 3 else ''}"
        )
    return [(name, reader, known[_plain_name(name)]) for name, reader in truth.items()]


def _plain_name(name: str) -> str:
    """Name of an image without what data sets and programs add: ``frame004/image`` is ``frame004``."""
    parts = PurePosixPath(name).parts
    parts = parts[:-1] if len(parts) > 1 and parts[-1] == "image" else parts
    plain = parts[-1] if parts else ""
    for tail in TAILS:
        plain = plain.removesuffix(tail)
    return plain


def _in_folder(folder: Path) -> dict[str, CellReader]:
    if (folder / "run.json").is_file():
        run = _read_document(folder / "run.json")
        names = [str(image["name"]) for image in run.get("images", ()) if image.get("status") == "done"]
        return {name: _of_file(folder / name) for name in names}
    if (folder / "contours.json").is_file() or (folder / "cells").is_dir():
        return {"": _of_file(folder)}
    frames = sorted(place.parent for place in folder.glob("*/cells") if place.is_dir())
    if frames:
        return {frame.name: _of_file(frame) for frame in frames}
    results = sorted(place.parent for place in folder.glob("*/contours.json"))
    if results:
        return {place.name: _of_file(place) for place in results}
    files = sorted(place for place in folder.iterdir() if place.suffix.lower() in (*_PICTURES, *_OUTLINES))
    pictures = [place for place in files if place.suffix.lower() in _PICTURES]
    if pictures and not any(_is_label_image(place) for place in pictures):
        return {"": lambda _shape: read_mask_stack(folder)}
    if not files:
        raise ValueError(f"the folder {folder} holds no cells; give results, label images, masks or outlines")
    return {place.name.partition(".")[0]: _of_file(place) for place in files}


def _of_file(path: Path) -> CellReader:
    """Reader of the cells of one image."""
    ending = path.suffix.lower()
    if path.is_dir() and (path / "cells").is_dir() and not (path / "contours.json").is_file():
        return lambda _shape: _read_frame(path)
    if ending == ".geojson":
        return lambda shape: _read_geojson(path, shape)
    if ending in _PICTURES and path.is_file() and _is_label_image(path):
        return lambda _shape: _read_labels(path)
    if path.is_dir() or ending in (".json", ".zip"):
        return lambda _shape: read(path).masks
    return lambda _shape: read_mask_stack(path)


def _read_frame(folder: Path) -> Masks:
    if (folder / "image.png").is_file() and not any((folder / "cells").iterdir()):
        return np.zeros((0, *read_image(folder / "image.png").shape[:2]), dtype=np.bool_)
    return read_mask_stack(folder / "cells")


def _is_label_image(path: Path) -> bool:
    """Whether a picture has one page with more numbers than a mask has."""
    try:
        page = decode_single_page(path)
    except ValueError:
        return False
    return page.ndim == 2 and page.dtype.kind in "iu" and np.unique(page).size > 2


def _read_labels(path: Path) -> Masks:
    labels = decode_single_page(path)
    return np.stack([labels == number for number in np.unique(labels[labels > 0])])


def _read_document(path: Path) -> dict[str, Any]:
    try:
        document = read_json(path)
    except BROKEN as error:
        raise ValueError(f"{path} cannot be read as JSON ({reason_of(error)})") from error
    return document if isinstance(document, dict) else {}


def _in_coco(document: dict[str, Any], path: Path) -> dict[str, CellReader]:
    def reader(image: dict[str, Any]) -> CellReader:
        def read_masks(_shape: Shape | None) -> Masks:
            try:
                size = check_size(image["height"], image["width"])
                own = [
                    one for one in document["annotations"] if one["image_id"] == image["id"] and not one.get("iscrowd")
                ]
                return _stack([decode_segmentation(one["segmentation"], size) for one in own], size)
            except BROKEN as error:
                raise ValueError(f"{path} is no COCO file that declump can read ({reason_of(error)})") from error

        return read_masks

    return {
        PurePosixPath(str(image.get("file_name", number))).with_suffix("").as_posix(): reader(image)
        for number, image in enumerate(document["images"])
    }


def _read_geojson(path: Path, shape: Shape | None) -> Masks:
    """Outer rings of the polygons, as QuPath writes them: x before y, corner of the first pixel at (0, 0)."""
    try:
        document = json.loads(path.read_bytes())
        own = document.get("declump", {}).get("size") if isinstance(document, dict) else None
        size = shape if own is None else check_size(*own)
        if size is None:
            raise ValueError("it does not say how large the image is, and nor does the other side")
        features = document["features"] if isinstance(document, dict) else document
        crops = []
        for feature in features:
            geometry = feature["geometry"]
            several = geometry["type"] == "MultiPolygon"
            rings = [part[0] for part in geometry["coordinates"]] if several else [geometry["coordinates"][0]]
            outlines = [np.array(ring, dtype=np.float64)[:, 1::-1] - 0.5 for ring in rings]
            parts = [crop_polygon(outline[:-1], size) for outline in outlines]
            whole = parts[0]
            for part in parts[1:]:
                whole = whole.join(part)
            crops.append(whole)
    except BROKEN as error:
        raise ValueError(f"{path} is no GeoJSON of cells that declump can read ({reason_of(error)})") from error
    return _stack(crops, size)


def _stack(crops: list[Crop], shape: Shape) -> Masks:
    masks = np.zeros((len(crops), *shape), np.bool_)
    for mask, crop in zip(masks, crops, strict=True):
        mask[crop.box] = crop.mask
    return masks[masks.any(axis=(1, 2))] if len(masks) else masks
