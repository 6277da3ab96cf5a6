"""A segmentation as layers of napari, and back; plain tuples, so that napari need not be there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.drawing.palette import COLOURS, separate_colours
from declump.io.formats.parts.planes import label_planes
from declump.io.formats.parts.rebuilding import from_outlines, from_pixels
from declump.records.crops import Crop, crop_nuclei
from declump.records.segmentation import Segmentation

Layer = tuple[Any, dict[str, Any], str]
"""Data, attributes and kind of a layer, as plugins of napari hand them on."""
Columns = Mapping[str, Sequence[Any] | NDArray[Any]]

MAX_SHAPES = 5000
"""More outlines than this make napari slow: they become labels, in as many layers as no two overlap in one."""
KEY = "declump"
"""Entry of a layer's metadata: the segmentation that it shows."""
NUMBER = "cell"
"""Feature of points and shapes: the number of the cell, which stays with it whatever else is deleted."""
CELLS, SEEDS, NUCLEI, SECOND = "cells", "seeds", "nuclei", "second nuclei"
WIDTH = 2


def to_layers(
    result: Segmentation, measured: Columns | None = None, numbers: Sequence[int] | None = None
) -> list[Layer]:
    """Give the layers of a segmentation: nuclei, cells and seeds.

    Parameters
    ----------
    result : Segmentation
    measured : mapping of str to sequence, optional
        Columns that become features; by default those that follow from the outlines.
    numbers : sequence of int, optional
        Of the cells; by default from 1.

    Returns
    -------
    list of (data, attributes, kind)
        Nuclei as labels, cells as polygons or, if there are more than ``MAX_SHAPES``, as labels in several layers, and
        seeds as points.
    """
    cells = np.arange(1, len(result) + 1) if numbers is None else np.asarray(numbers, dtype=np.int64)
    features = make_features(result, measured, cells)
    layers: list[Layer] = []
    for name, labels in ((NUCLEI, result.nuclei), (SECOND, result.second_nuclei)):
        if labels is not None:
            known = np.append(0, cells)[labels]
            layers.append((known, {"name": name, "opacity": 0.4, "metadata": {KEY: result}}, "labels"))
    if len(result) <= MAX_SHAPES:
        layers.append((list(result.polygons), _style_shapes(result, features), "shapes"))
    else:
        for number, plane in enumerate(label_planes(result), start=1):
            layers.append((plane, {"name": f"{CELLS} {number}", "metadata": {KEY: result}}, "labels"))
    style = {"name": SEEDS, "features": {NUMBER: cells}, "metadata": {KEY: result}, "size": 8, "face_color": "yellow"}
    layers.append((result.seeds.copy(), style, "points"))
    return layers


def make_features(result: Segmentation, measured: Columns | None, numbers: NDArray[np.int64]) -> dict[str, Any]:
    """Give the features of the cells: their numbers, and what was measured."""
    columns = result.to_columns() if measured is None else measured
    found = {name: np.array(values) for name, values in columns.items() if name not in ("id", NUMBER)}
    return {NUMBER: numbers, **{name: _plain(values) for name, values in found.items()}}


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers with NaN for what is missing; texts stay."""
    return values.astype(np.float64) if values.dtype == object else values


def _style_shapes(result: Segmentation, features: dict[str, Any]) -> dict[str, Any]:
    colours = np.array(COLOURS)[separate_colours(result.seeds, result.radii)] / 255
    return {
        "name": CELLS,
        "shape_type": "polygon",
        "features": features,
        "edge_color": [(*colour, 1.0) for colour in colours.tolist()] or "orange",
        "edge_width": WIDTH,
        "face_color": "transparent",
        "metadata": {KEY: result},
    }


def from_layers(layers: Sequence[Layer]) -> tuple[Segmentation, dict[str, NDArray[Any]] | None]:
    """Give the cells that layers show, and their features.

    What was not changed since it was shown comes back exactly, seeds and records of clumps included. Otherwise radii
    are measured anew, from the centroid of the nucleus or else of the cell.

    Raises
    ------
    ValueError
        If there are no cells in them, or nothing tells the size of the image.
    """
    shapes = _find(layers, "shapes", CELLS)
    shape = _find_shape(layers)
    if shapes is not None:
        data, attributes, _ = shapes
        outlines = [np.asarray(vertices, dtype=np.float64)[:, -2:] for vertices in data]
        features = attributes.get("features")
        columns = {} if features is None else {str(name): np.asarray(features[name]) for name in features}
        known = attributes.get("metadata", {}).get(KEY)
        if known is not None and _shows(known, outlines):
            return known, _measured(columns)
        numbers = np.nan_to_num(columns.get(NUMBER, np.zeros(len(outlines)))).astype(np.int64)
        return from_outlines(outlines, shape, _find_nuclei(layers, numbers)), None
    planes = [layer for layer in layers if layer[2] == "labels" and layer[1].get("name") not in (NUCLEI, SECOND)]
    if not planes:
        raise ValueError("these layers hold no cells: give the shapes or labels of the cells, too")
    known = planes[0][1].get("metadata", {}).get(KEY)
    if known is not None and _is_shown_by(known, [np.asarray(layer[0]) for layer in planes]):
        return known, None
    crops = [
        crop
        for layer in planes
        for crop in crop_nuclei(np.asarray(layer[0], dtype=np.int32), None, int(np.max(layer[0], initial=0)))
        if crop.area
    ]
    return from_pixels(crops, shape), None


def _measured(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]] | None:
    """Features as columns of a table."""
    found = {name: values for name, values in columns.items() if name != NUMBER}
    return found or None


def _find(layers: Sequence[Layer], kind: str, name: str) -> Layer | None:
    """Give the layer of a kind: the one with the name, or else the only one."""
    fitting = [layer for layer in layers if layer[2] == kind]
    named = [layer for layer in fitting if layer[1].get("name") == name]
    if not named and len(fitting) > 1:
        raise ValueError(f"there are {len(fitting)} layers of {kind}, and none is called {name!r}; choose one")
    return next(iter(named or fitting), None)


def _find_shape(layers: Sequence[Layer]) -> tuple[int, int]:
    for data, attributes, kind in layers:
        known = attributes.get("metadata", {}).get(KEY)
        if known is not None:
            height, width = known.shape
            return height, width
        if kind in ("image", "labels"):
            height, width = np.shape(data)[:2]
            return height, width
    raise ValueError("nothing tells the size of the image; choose the image beside the cells")


def _shows(known: Segmentation, outlines: list[NDArray[np.float64]]) -> bool:
    drawn = known.polygons
    return len(outlines) == len(drawn) and all(
        len(outline) == len(own) and np.allclose(outline, own, atol=1e-3)
        for outline, own in zip(outlines, drawn, strict=True)
    )


def _is_shown_by(known: Segmentation, planes: list[NDArray[Any]]) -> bool:
    own = label_planes(known)
    return len(own) == len(planes) and all(np.array_equal(*pair) for pair in zip(own, planes, strict=True))


def _find_nuclei(layers: Sequence[Layer], numbers: NDArray[np.int64]) -> list[Crop] | None:
    """Nucleus of each cell by its number; None where no layer holds nuclei."""
    found = {layer[1].get("name"): np.asarray(layer[0], dtype=np.int32) for layer in layers if layer[2] == "labels"}
    if NUCLEI not in found:
        return None
    count = int(max(found[NUCLEI].max(initial=0), numbers.max(initial=0)))
    nuclei = crop_nuclei(found[NUCLEI], found.get(SECOND), count)
    return [nuclei[number - 1] if number > 0 else Crop.nothing() for number in numbers.tolist()]
