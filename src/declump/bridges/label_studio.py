"""Cells for Label Studio: all of an image, or those that key points are set in.

Plain dictionaries in the JSON of Label Studio; the server that calls this stands in ``integrations/label_studio``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from declump._files import file_digest
from declump.batch.options import Options
from declump.bridges.polygons import TOLERANCE, simplify_outline
from declump.images.reading import read_image
from declump.measurements.tables import measure
from declump.records.regions import Regions
from declump.records.segmentation import Segmentation
from declump.review.edits import AddSeed
from declump.review.session import Session, freeze_image

Json = dict[str, Any]
KEY_POINTS, POLYGONS = "KeyPointLabels", "PolygonLabels"


@dataclass(frozen=True)
class Controls:
    """Where predictions go: names of the tags of a labelling interface.

    Attributes
    ----------
    from_name, to_name : str
        Of the tag ``PolygonLabels`` and of the image.
    value : str
        Under which a task has its image.
    label : str
        The first of the tag's labels.
    """

    from_name: str
    to_name: str
    value: str
    label: str

    @classmethod
    def of(cls, parsed: Mapping[str, Any]) -> Controls:
        """Find them in a labelling interface as ``label_studio_tools`` or ``label_studio_sdk`` parses it.

        Raises
        ------
        ValueError
            If it has no polygons.
        """
        for name, tag in parsed.items():
            if tag["type"] == POLYGONS:
                labels = list(tag.get("labels", ())) or ["cell"]
                return cls(name, tag["to_name"][0], tag["inputs"][0]["value"].lstrip("$"), labels[0])
        raise ValueError(f"the labelling interface has no {POLYGONS}; add one for the cells")


def predict_image(
    path: Path, controls: Controls, context: Mapping[str, Any] | None = None, tolerance: float = TOLERANCE
) -> Json:
    """Predict the cells of one image.

    Parameters
    ----------
    path : Path
        Of the image.
    controls : Controls
    context : mapping, optional
        What a person has drawn so far, as Label Studio sends it while somebody works: cells come from its key points,
        as seeds; without any all cells are predicted. A key point in the nucleus of a cell means that cell.
    tolerance : float
        See :func:`declump.bridges.polygons.simplify_outline`.

    Returns
    -------
    dict
        A prediction: ``result``, a region a cell, and ``score``, their mean confidence.
    """
    image = read_image(path)
    session = Session(image, _freeze(path, file_digest(path)), Options())
    chosen = None if context is None else _place_seeds(session, context.get("result") or ())
    regions, numbers = session.regions, session.numbers
    result = session.complete(session.evolve(), regions)
    confidence = measure(result, image).cells["confidence"]
    rows = [row for row, number in enumerate(numbers) if chosen is None or number in chosen]
    found = [_to_region(result, row, float(confidence[row]), controls, tolerance) for row in rows]
    regions_found = [region for region in found if region is not None]
    score = float(np.mean([region["score"] for region in regions_found])) if regions_found else 0.0
    return {"result": regions_found, "score": score}


@lru_cache(maxsize=4)
def _freeze(path: Path, _content: str) -> Regions:
    """Regions of an image, found once: a person sets many key points in it."""
    return freeze_image(read_image(path), Options())


def _place_seeds(session: Session, drawn: Sequence[Mapping[str, Any]]) -> set[int]:
    """Give the numbers of the cells that key points are set in; a point in no nucleus is a new seed."""
    height, width = session.state.clump.shape
    chosen = set()
    for region in drawn:
        if region.get("type") != KEY_POINTS.lower():
            continue
        row = float(np.clip(region["value"]["y"] / 100 * height - 0.5, 0, height - 1))
        column = float(np.clip(region["value"]["x"] / 100 * width - 0.5, 0, width - 1))
        number = int(session.state.nuclei[round(row), round(column)])
        if not number:
            try:
                (number,) = session.make(AddSeed(row, column)).cells
            except ValueError:
                continue  # no clump here, or the same point once more
        chosen.add(number)
    return chosen


def _to_region(result: Segmentation, row: int, score: float, controls: Controls, tolerance: float) -> Json | None:
    height, width = result.shape
    ring = simplify_outline(result.polygons[row], result.shape, tolerance)
    if ring is None:
        return None
    return {
        "from_name": controls.from_name,
        "to_name": controls.to_name,
        "type": POLYGONS.lower(),
        "original_width": width,
        "original_height": height,
        "image_rotation": 0,
        "score": score,
        "value": {
            "points": (ring / (width, height) * 100).round(4).tolist(),
            POLYGONS.lower(): [controls.label],
            "closed": True,
        },
    }
