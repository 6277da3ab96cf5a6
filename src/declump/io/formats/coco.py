"""``coco.json``: COCO instances, as annotation tools and evaluations read them.

Every cell with a pixel in the image is an annotation, whose ``id`` is the number of the cell. Its ``segmentation`` is
the exact mask as compressed run lengths: pycocotools and faster-coco-eval take it both as annotations and as results,
whereas polygons they fill by a rule of their own and refuse as results. Beside it stand, passed over by other readers,

- ``outline``: the polygon ``[[x1, y1, x2, y2, ...]]``, also where it leaves the image,
- ``nucleus``: run lengths like those of the cell, where the cell has a nucleus.
"""

from __future__ import annotations

import json
from pathlib import Path

from declump.errors import BROKEN, reason_of
from declump.io.formats.parts.coco_masks import decode_polygon, decode_segmentation, encode_segmentation
from declump.io.formats.parts.documents import check_size, read_json
from declump.io.formats.parts.metadata import make_metadata
from declump.io.formats.parts.rebuilding import from_outlines, from_pixels
from declump.io.formats.parts.result import DECIMALS, Result
from declump.records.crops import Crop
from declump.records.segmentation import Segmentation

FILE = "coco.json"


def write(result: Result, path: Path) -> None:
    """Write one image and one annotation a cell."""
    segmentation = result.segmentation
    height, width = segmentation.shape
    outlines = (segmentation.polygons[..., ::-1] + 0.5).round(DECIMALS)
    annotations = []
    for index, (cell, nucleus) in enumerate(zip(segmentation.crops, segmentation.nucleus_crops, strict=True)):
        if not cell.area:
            continue
        annotation = {
            "id": index + 1,
            "image_id": 1,
            "category_id": 1,
            "iscrowd": 0,
            "area": cell.area,
            "bbox": [cell.left, cell.top, cell.mask.shape[1], cell.mask.shape[0]],
            "segmentation": encode_segmentation(cell, segmentation.shape),
            "outline": [outlines[index].ravel().tolist()],
        }
        if nucleus.area:
            annotation["nucleus"] = encode_segmentation(nucleus, segmentation.shape)
        annotations.append(annotation)
    document = {
        "info": {"description": "cells found by declump", "declump": make_metadata(segmentation, "coco")},
        "licenses": [],
        "images": [{"id": 1, "file_name": result.picture, "height": height, "width": width}],
        "categories": [{"id": 1, "name": "cell", "supercategory": "cell"}],
        "annotations": annotations,
    }
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")


def read(path: Path) -> Segmentation:
    """Rebuild the cells of a COCO file with one image, ours or another's.

    Outlines are taken where they are, masks elsewhere. The seeds, the numbers of cells after one without a pixel, and
    the records of the clumps are lost.

    Raises
    ------
    ValueError
        If it is no COCO file of one image.
    """
    try:
        document = read_json(path)
        images = document["images"]
        if len(images) != 1:
            raise ValueError(f"it has {len(images)} images; keep one")
        shape = check_size(images[0]["height"], images[0]["width"])
        annotations = sorted(
            (item for item in document["annotations"] if not item.get("iscrowd")), key=lambda item: int(item["id"])
        )
        cells = [_pixels(item["segmentation"], shape) for item in annotations]
        seen = [index for index, cell in enumerate(cells) if cell.area]
        nuclei = [_pixels(annotations[index].get("nucleus", []), shape) for index in seen]
        known = nuclei if any(nucleus.area for nucleus in nuclei) else None
        if all("outline" in annotations[index] for index in seen):
            return from_outlines([decode_polygon(annotations[index]["outline"][0]) for index in seen], shape, known)
        return from_pixels([cells[index] for index in seen], shape, known)
    except BROKEN as error:
        raise ValueError(f"{path} is no COCO file that declump can read ({reason_of(error)})") from error


def _pixels(segmentation: object, shape: tuple[int, int]) -> Crop:
    """Pixels of a segmentation; none of an empty list, as where only a box was drawn."""
    return Crop.nothing() if segmentation == [] else decode_segmentation(segmentation, shape)
