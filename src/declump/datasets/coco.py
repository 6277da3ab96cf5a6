"""COCO instance files: one JSON with whole masks as polygons or run lengths, which annotation tools export.

What a segmentation may be is told in :mod:`declump.io.formats.parts.coco_masks`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np

from declump.datasets.annotated import AnnotatedImage
from declump.errors import BROKEN, reason_of
from declump.images.reading import read_image
from declump.io.formats.parts.coco_masks import decode_segmentation

NUCLEUS = "nucle"
"""A category with this in its name, in whatever case, is one of nuclei; all others are cells."""
_FIELDS: dict[str, dict[str, type]] = {
    "images": {"id": int, "file_name": str, "height": int, "width": int},
    "annotations": {"id": int, "image_id": int, "category_id": int},
    "categories": {"id": int, "name": str},
}


def read(path: str | Path, *, images: str | Path | None = None) -> Iterator[AnnotatedImage]:
    """Read annotated images, sorted by file name.

    Parameters
    ----------
    path : str or Path
        A JSON file with the lists ``images`` (``id``, ``file_name``, ``height``, ``width``), ``annotations`` (``id``,
        ``image_id``, ``category_id``, ``segmentation``, ``iscrowd``) and ``categories`` (``id``, ``name``). A
        segmentation is a list of polygons ``[x1, y1, x2, y2, ...]``, which are united, or run lengths, ``counts``
        (a list, or the compressed string) and ``size``. Crowds are passed over.
    images : str or Path, optional
        Folder that the file names of the images are relative to; without it the folder of the JSON file.

    Returns
    -------
    iterator of AnnotatedImage
        Named as the images' files, the cells in the order of their annotations' ids. Categories with "nucle" in the
        name give the nuclei, all others the cells; a cell without a nucleus is seeded at its deepest point. One image
        is in memory at a time.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or a picture is missing.
    ValueError
        If the file is no such JSON; a picture cannot be read, lies outside the folder, has other than 8 bits a channel
        or another size than the file says; or a segmentation is broken or a cell's mask empty.
    """
    path = Path(path)
    document = _read_document(path)
    folder = path.parent if images is None else Path(images)
    entries = sorted(document["images"], key=lambda entry: entry["file_name"])
    annotations: dict[int, list[dict[str, Any]]] = {entry["id"]: [] for entry in entries}
    if not entries:
        raise ValueError(f"{path} lists no images; there must be at least one.")
    if len({entry["file_name"] for entry in entries}) < len(entries) or len(annotations) < len(entries):
        raise ValueError(f"{path} lists an image's id or file name twice; every image must have its own.")
    for entry in entries:
        _check_picture(path, folder, entry["file_name"])
    names = {category["id"]: category["name"] for category in document["categories"]}
    for annotation in sorted(document["annotations"], key=lambda annotation: annotation["id"]):
        for key, known in (("image_id", annotations.keys()), ("category_id", names.keys())):
            if annotation[key] not in known:
                raise ValueError(
                    f"{path}: annotation {annotation['id']} has the {key} {annotation[key]}, which the file does not "
                    "list; add it there or remove the annotation."
                )
        if not annotation.get("iscrowd"):
            annotations[annotation["image_id"]].append(annotation)
    nuclei = {number for number, name in names.items() if NUCLEUS in name.lower()}
    return (_read_annotated(path, folder, entry, annotations[entry["id"]], nuclei) for entry in entries)


def _read_document(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Read the JSON and check that its lists have the fields that are used."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}; the COCO reader needs a JSON file.")
    try:
        document = json.loads(path.read_bytes())
    except BROKEN as error:
        raise ValueError(f"{path} cannot be read as JSON: {reason_of(error)}") from error
    for key, fields in _FIELDS.items():
        entries = document.get(key) if isinstance(document, dict) else None
        if not isinstance(entries, list):
            raise ValueError(f"{path} has no list '{key}'; a COCO file has the lists {', '.join(_FIELDS)}.")
        for index, entry in enumerate(entries):
            for field, kind in fields.items():
                if not isinstance(entry, dict) or type(entry.get(field)) is not kind:
                    expected = "a text" if kind is str else "a whole number"
                    raise ValueError(f"{path}: entry {index} (counted from 0) of '{key}' needs {expected} '{field}'.")
    return {key: document[key] for key in _FIELDS}


def _check_picture(path: Path, folder: Path, file_name: str) -> None:
    name = PureWindowsPath(file_name)  # the stricter rules: both slashes separate, and drives are known
    if name.drive or name.root or ".." in name.parts:
        raise ValueError(f"{path} names the picture {file_name}; file names must be relative and stay in {folder}.")
    if not (folder / file_name).is_file():
        raise FileNotFoundError(
            f"No {folder / file_name}, which {path} names; the COCO reader looks for pictures beside the JSON file, "
            "or in the folder given as images."
        )


def _read_annotated(
    path: Path, folder: Path, entry: dict[str, Any], annotations: list[dict[str, Any]], nuclei: set[int]
) -> AnnotatedImage:
    picture = folder / entry["file_name"]
    image = read_image(picture)
    if image.dtype != np.uint8:
        raise ValueError(f"{picture} has {image.dtype} pixels; save it with 8 bits a channel.")
    height, width = image.shape[:2]
    if (entry["height"], entry["width"]) != (height, width):
        raise ValueError(
            f"{picture} has {height} rows and {width} columns, but {path} says {entry['height']} and "
            f"{entry['width']}; they must agree."
        )
    cells = np.zeros((sum(item["category_id"] not in nuclei for item in annotations), height, width), bool)
    union = np.zeros((height, width), bool)
    free = iter(cells)
    for annotation in annotations:
        is_cell = annotation["category_id"] not in nuclei
        try:
            crop = decode_segmentation(annotation.get("segmentation"), (height, width))
            if is_cell and not crop.area:
                raise ValueError("the cell covers no pixel; remove it or draw its mask.")
        except BROKEN as error:
            where = f"{path}: annotation {annotation['id']} of {entry['file_name']}"
            raise ValueError(f"{where}: {reason_of(error)}") from error
        target = next(free) if is_cell else union
        target[crop.box] |= crop.mask
    return AnnotatedImage.from_union(entry["file_name"], image, cells, union)
