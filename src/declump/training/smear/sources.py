"""Frames from the folders of data: what each set of images tells, and what it leaves open."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from declump.datasets import AnnotatedImage, marked
from declump.images.reading import read_image
from declump.simulate import Smear
from declump.training.composites.colouring import colour_cells
from declump.training.smear import frames as told
from declump.training.smear.frames import Frame, make_marks, to_look
from declump.training.smears import simulate_smears

Floats = NDArray[np.float32]
Ask = Callable[[str, NDArray[Any]], Any]
"""What an earlier model says of a frame, by name and image (:class:`declump.training.smear.teacher.WeakTruth`)."""

BORDER = 12
"""Annotators leave out nuclei that the image border cuts: so near to it, what is not annotated is not known."""
ABNORMAL = ("ASC-US", "LSIL", "ASC-H", "HSIL", "SCC")
HIGH = ("ASC-H", "HSIL", "SCC")
KINDS = {
    "nucleus": told.NUCLEUS,
    "leukocyte": told.LEUKOCYTE,
    "red_cell": told.RED_CELL,
    "bacteria": told.OTHER,
    "debris": told.OTHER,
    "mucus": told.OTHER,
    "fold": told.OTHER,
    "background": told.NOTHING,
}
"""Kinds of drawn points."""
PARTS = ("train", "choose", "report")
"""Folders of what is drawn, by the part of the split."""
USUAL_RADIUS = 12.0
"""Radius in pixels of a nucleus of which only a point is known."""
NEAR = 6
"""A spot so near to a point, in pixels, is its nucleus."""


def from_cells(image: AnnotatedImage | Smear, name: str, rng: np.random.Generator) -> Frame:
    """A frame whose cells are all drawn."""
    masks = image.nuclei
    nucleus = np.asarray(masks.any(axis=0), np.uint8)
    layers = np.asarray(np.minimum(image.cells.sum(axis=0), 3), np.uint8)
    clump = np.asarray(layers > 0, np.uint8)
    looks = [to_look(image.image)]
    known = np.full(nucleus.shape, told.NUCLEI_TOLD, np.uint8)
    if isinstance(image, AnnotatedImage):
        outer = np.ones(nucleus.shape, np.bool_)
        outer[BORDER:-BORDER, BORDER:-BORDER] = False
        known[outer] = 0
        for plane in (nucleus, layers, clump):
            plane[outer & (plane == 0)] = told.UNKNOWN
        if image.image.ndim == 2:
            looks.append(to_look(colour_cells(image, rng).image))
    return Frame(name, looks, _mark_masks(masks), known, clump, nucleus, layers)


def _mark_masks(masks: NDArray[np.bool_]) -> Floats:
    areas = masks.sum(axis=(1, 2))
    marks = [
        make_marks(np.argwhere(mask).mean(axis=0)[None], radius=float(np.sqrt(area / np.pi)))
        for mask, area in zip(masks, areas, strict=True)
        if area
    ]
    return np.concatenate(marks) if marks else make_marks(np.zeros((0, 2)))


def from_marks(image: marked.MarkedNuclei, ask: Ask | None = None, *, normal: bool = False) -> Frame:
    """A frame with points or masks of its nuclei; every nucleus has one."""
    look, shape = to_look(image.image), image.image.shape[:2]
    known = np.full(shape, told.NUCLEI_TOLD | (told.GRADES_TOLD if normal else 0), np.uint8)
    grade = 0.0 if normal else -1.0
    weak = None if ask is None else ask(image.name.replace("/", "-"), image.image)
    marks = make_marks(image.points, abnormal=grade, high=grade)
    if image.unknown is not None:
        known[image.unknown] = 0
    if image.labels is not None:
        masks = image.labels == np.arange(1, len(image.points) + 1)[:, None, None]
        nucleus = (image.labels > 0).astype(np.uint8)
        marks = _mark_masks(masks)
        clump = None if weak is None else weak_clump(look, weak)
        return Frame(image.name, [look], marks, known, clump, nucleus)
    if weak is None:
        return Frame(image.name, [look], marks, known)
    nucleus = weak_nuclei(marks, weak)
    if image.unknown is not None:
        nucleus[image.unknown] = told.UNKNOWN
    return Frame(image.name, [look], marks, known, weak_clump(look, weak), nucleus)


def weak_clump(look: NDArray[np.uint8], weak: Any) -> NDArray[np.uint8]:
    """Clump where an earlier network and the colours agree."""
    share = 1 - weak["classes"][0] / np.float32(255)
    colours = ndimage.gaussian_filter(look.reshape(*share.shape, -1).astype(np.float32), (1.5, 1.5, 0))
    clear = np.percentile(colours.reshape(-1, colours.shape[2]), 95, axis=0)
    density = -np.log(np.clip(colours / clear, 0.02, 1)).max(axis=2)
    clump = np.full(share.shape, told.UNKNOWN, np.uint8)
    clump[(share > 0.85) & (density > 0.1)] = 1
    clump[(share < 0.1) & (density < 0.2)] = 0
    return clump


def weak_nuclei(marks: Floats, weak: Any) -> NDArray[np.uint8]:
    """Nuclei that an earlier network outlined round points; fills the radii of the marks."""
    spots, said = weak["spots"], np.append(0, weak["probability"])
    share = weak["classes"][2]
    nucleus = np.full(spots.shape, told.UNKNOWN, np.uint8)
    nucleus[share < 50] = 0
    areas = np.bincount(spots.ravel(), minlength=said.size)
    taken = np.zeros(said.size, np.bool_)
    rows, columns = np.ogrid[: spots.shape[0], : spots.shape[1]]
    lost = []
    for mark in marks:
        if mark[told.KIND] != told.NUCLEUS:
            continue
        row, column = round(float(mark[0])), round(float(mark[1]))
        window = np.s_[max(row - NEAR, 0) : row + NEAR + 1, max(column - NEAR, 0) : column + NEAR + 1]
        near = spots[window]
        inside = spots[min(max(row, 0), spots.shape[0] - 1), min(max(column, 0), spots.shape[1] - 1)]
        number = inside or (np.bincount(near[near > 0]).argmax() if near.any() else 0)
        if number and not taken[number]:
            taken[number] = True
            mark[told.RADIUS] = np.sqrt(areas[number] / np.pi)
        else:
            lost.append((row, column))
    # What the earlier network takes for a nucleus and nobody marked is not known; what it doubts is none.
    unmarked = ~taken & (said >= 0.5)
    unmarked[0] = False
    nucleus[unmarked[spots]] = told.UNKNOWN
    for row, column in lost:
        reach = int(2 * USUAL_RADIUS)
        window = np.s_[max(row - reach, 0) : row + reach + 1, max(column - reach, 0) : column + reach + 1]
        disc = (rows[window[0]] - row) ** 2 + (columns[:, window[1]] - column) ** 2 <= reach**2
        nucleus[window][disc] = told.UNKNOWN
    nucleus[taken[spots] & (spots > 0)] = 1
    return nucleus


def read_cric(folder: Path, names: list[str], marks: Path | None = None, ask: Ask | None = None) -> Iterator[Frame]:
    """Frames of CRIC with classed points, and with what is drawn of them."""
    for name in names:
        image = np.asarray(read_image(folder / f"{name}.jpg"))
        rows = list(csv.DictReader((folder / f"{name}.csv").open(newline="")))
        points = make_marks(np.array([[float(row["row"]), float(row["column"])] for row in rows]))
        points[:, told.ABNORMAL] = [row["class"] in ABNORMAL for row in rows]
        points[:, told.HIGH] = [row["class"] in HIGH for row in rows]
        look, known = to_look(image), np.full(image.shape[:2], told.NUCLEI_TOLD | told.GRADES_TOLD, np.uint8)
        earlier = None if ask is None else ask(f"cric-{name}", image)
        clump = None if earlier is None else weak_clump(look, earlier)
        nucleus = None if earlier is None else weak_nuclei(points, earlier)
        drawn = (
            None
            if marks is None
            else next((place for part in PARTS if (place := marks / part / name / "points.csv").is_file()), None)
        )
        if drawn is None:
            yield Frame(name, [look], points, known, clump, nucleus)
        else:
            yield _add_drawn(name, look, points, known, nucleus, drawn.parent)


def _add_drawn(
    name: str,
    look: NDArray[np.uint8],
    points: Floats,
    known: NDArray[np.uint8],
    nucleus: NDArray[np.uint8] | None,
    folder: Path,
) -> Frame:
    """A frame with what was drawn of it by hand."""
    levels = np.asarray(read_image(folder / "clump.png"))
    clump = np.select([levels == 0, levels == 255], [0, 1], told.UNKNOWN).astype(np.uint8)
    nucleus = np.full(clump.shape, told.UNKNOWN, np.uint8) if nucleus is None else nucleus.copy()
    drawn = json.loads((folder / "nuclei.json").read_text())
    outlines = [fill_outline(one["outline"], clump.shape) for one in drawn["nuclei"]]
    if drawn["complete"]:
        nucleus[nucleus != told.UNKNOWN] = 0
        nucleus[:] = np.where(levels == 128, np.uint8(told.UNKNOWN), 0)
    extra = []
    for box, mask in outlines:
        nucleus[box][ndimage.binary_dilation(mask, iterations=2) & (nucleus[box] == 1)] = 0
        nucleus[box][mask] = 1
    for box, mask in outlines:
        centre = np.argwhere(mask).mean(axis=0) + [side.start for side in box]
        radius = float(np.sqrt(mask.sum() / np.pi))
        far = np.hypot(*(points[:, :2] - centre).T) if len(points) else np.zeros(0)
        own = int(far.argmin()) if len(far) else -1
        if own >= 0 and far[own] <= max(radius, NEAR):
            points[own, : told.COLUMN + 1], points[own, told.RADIUS] = centre, radius
        else:
            extra.append(make_marks(centre[None], radius=radius))
    rows = list(csv.DictReader((folder / "points.csv").open(newline="")))
    for row in rows:
        place = np.array([[float(row["row"]), float(row["column"])]])
        near = len(points) and np.hypot(*(points[:, :2] - place).T).min() < NEAR
        if row["kind"] != "nucleus" or not near:
            extra.append(
                make_marks(
                    place,
                    KINDS[row["kind"]],
                    abnormal=-1 if row["kind"] == "nucleus" else 0,
                    high=-1 if row["kind"] == "nucleus" else 0,
                )
            )
    marks = np.concatenate([points, *extra])
    cells = [fill_outline(one["outline"], clump.shape) for one in json.loads((folder / "cells.json").read_text())]
    for box, mask in cells:
        clump[box][mask & (clump[box] == told.UNKNOWN)] = 1
    return Frame(name, [look], marks, known, clump, nucleus, is_drawn=True)


def fill_outline(outline: list[list[float]], shape: tuple[int, ...]) -> tuple[tuple[slice, slice], NDArray[np.bool_]]:
    """Pixels of an outline (N, 2): the box that holds them, and their mask in it."""
    from skimage.draw import polygon

    corners = np.asarray(outline, float)
    rows, columns = polygon(corners[:, 0], corners[:, 1], shape)
    if not len(rows):
        rows, columns = (
            np.array([min(max(int(value), 0), side - 1)])
            for value, side in zip(np.mean(outline, axis=0), shape, strict=True)
        )
    box = (slice(int(rows.min()), int(rows.max()) + 1), slice(int(columns.min()), int(columns.max()) + 1))
    mask = np.zeros((box[0].stop - box[0].start, box[1].stop - box[1].start), np.bool_)
    mask[rows - box[0].start, columns - box[1].start] = True
    return box, mask


def read_isbi(folder: Path, reader: Any, seed: int) -> Iterator[Frame]:
    """Frames of ISBI 2014 or 2015, also in the colours of a stain."""
    rng = np.random.default_rng(seed)
    for image in reader.read(folder):
        yield from_cells(image, image.name, rng)


def read_cervix93(folder: Path, ask: Ask | None = None) -> Iterator[Frame]:
    """Frames of Cervix93 with their points; those of grade N have no abnormal nucleus."""
    labels = {row["frame"]: row["label"] for row in csv.DictReader((folder / "labels.csv").open(newline=""))}
    for image in marked.read(folder):
        yield from_marks(image, ask, normal=labels[image.name.rpartition("/")[2]] == "N")


def simulate(count: int, seed: int) -> Iterator[Frame]:
    """Frames of simulated smears."""
    rng = np.random.default_rng(seed)
    for number, smear in enumerate(simulate_smears(count, seed)):
        yield from_cells(smear, f"simulated {number}", rng)
