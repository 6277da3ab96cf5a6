"""From a segmentation to tables: one row a cell, one a clump, and a summary of the image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from declump._installation import how_to_install
from declump.images.accepting import ImageLike, to_pixels
from declump.measurements.columns import CELL_COLUMNS, CLUMP_COLUMNS, IMAGE_COLUMNS, SHAPE_COEFFICIENTS, arrange_columns
from declump.measurements.confidence import Confidence, confidence_features
from declump.measurements.cover import Cover, cover, neighbours
from declump.measurements.density import optical_densities
from declump.measurements.focus_planes import focus_planes
from declump.measurements.nuclei import nucleus_geometry
from declump.measurements.outlines import Outlines, distance_to_outline, outline_geometry, quotient
from declump.measurements.quality import judge_quality, measure_appearance, measure_focus
from declump.measurements.shapes import shape_coefficients
from declump.measurements.summary import clump_discrepancy, clump_values, image_values
from declump.records.boxes import Box
from declump.records.segmentation import Segmentation
from declump.records.statistics import ImageStatistics
from declump.regions.channels import ImageChannels
from declump.shapes.prior import ShapePrior

if TYPE_CHECKING:
    import pandas


ROOM = 2
"""Pixels round the cells of a clump that they are measured in."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """What was measured; docs/measurements.md lists and explains every column.

    Attributes
    ----------
    cells : mapping of str to (N,) array
        Columns of all cells, in the order of the seeds.
    clumps : mapping of str to (C,) array
        Columns of all clumps, also those without a seed.
    image : mapping of str to number or str
        Summary of the image.
    pixel_size : float, optional
        Micrometres a pixel; with it every ``_px`` and ``_px2`` has a twin in ``_um`` and ``_um2``.
    """

    cells: Mapping[str, NDArray[Any]]
    clumps: Mapping[str, NDArray[Any]]
    image: Mapping[str, Any]
    pixel_size: float | None = None

    def __post_init__(self) -> None:
        """Refuse columns of different lengths."""
        for title, table in (("cells", self.cells), ("clumps", self.clumps)):
            lengths = {name: np.shape(values) for name, values in table.items()}
            if len(set(lengths.values())) > 1:
                raise ValueError(f"all columns of the {title} have one value a row; given were {lengths}")

    def to_pandas(self) -> pandas.DataFrame:
        """Give the table of the cells, with their numbers, from 1, as index ``id``; needs pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ValueError(f"a table of pandas needs pandas: {how_to_install('pandas')}") from error
        return pandas.DataFrame(dict(self.cells)).set_index("id")


def measure(
    segmentation: Segmentation,
    image: ImageLike | None = None,
    *,
    prior: ShapePrior | str | Path | None = None,
    pixel_size: float | None = None,
    statistics: ImageStatistics | None = None,
    planes: NDArray[np.int32] | None = None,
) -> Measurements:
    """Measure cells, clumps and the image.

    The columns are always the same, whatever is given: what is not known is NaN.

    Parameters
    ----------
    segmentation : Segmentation
        With its ``nuclei`` also what follows from those is measured.
    image : (H, W), (H, W, 3) or (H, W, 4), optional
        The image that was segmented, for optical densities.
    prior : ShapePrior, str or Path, optional
        What shapes are usual; by default the prior that ships with declump. See :func:`declump.evolve`.
    pixel_size : float, optional
        Micrometres a pixel; adds columns in micrometres.
    statistics : ImageStatistics, optional
        Instead of those of the segmentation: background, light and usual area of a cell.
    planes : (H, W) int32, optional
        Number of the sharpest plane at each pixel, from 0, of an image that was fused: :func:`declump.fuse_stack`.

    Returns
    -------
    Measurements

    Raises
    ------
    ValueError
        If the image has another size than the segmentation, or the pixel size is no number > 0.

    Examples
    --------
    >>> import numpy as np, declump
    >>> seeds, radii = np.array([[30.0, 30.0], [30.0, 50.0]]), np.full((2, 360), 20.0)
    >>> two = declump.Segmentation((60, 80), seeds, radii, np.array([0, 0]))
    >>> cells = declump.measure(two, pixel_size=0.5).cells
    >>> cells["equivalent_diameter_um"].round(1).tolist(), cells["overlap_area_share"].round(2).tolist()
    ([20.0, 20.0], [0.39, 0.39])
    """
    if pixel_size is not None and not 1e-6 < pixel_size < 1e6:
        raise ValueError(
            f"the pixel size is a number of micrometres > 0, between a millionth and a million; given was {pixel_size}"
        )
    prior = prior if isinstance(prior, ShapePrior) else ShapePrior.load("default" if prior is None else prior)
    statistics = segmentation.statistics if statistics is None else statistics
    usual = None if statistics is None else statistics.cell_area
    if usual is None:
        areas = segmentation.areas[segmentation.areas > 0]
        usual = float(np.median(areas)) if areas.size else np.nan
    picture = None
    if image is not None:
        picture = ImageChannels(to_pixels(image), None if statistics is None else statistics.exposure)
        if picture.shape != segmentation.shape:
            raise ValueError(
                f"the image is {picture.shape} pixels, the segmentation is of one of {segmentation.shape}: "
                "give the image that was segmented"
            )
    if planes is not None and planes.shape != segmentation.shape:
        raise ValueError(f"the planes are {planes.shape}, the segmentation is of an image of {segmentation.shape}")
    covered, cells = cover(segmentation), _measure_by_clump(segmentation, picture, prior, usual, planes)
    clumps = clump_values(segmentation, covered, cells)
    summary: dict[str, Any] = {**image_values(segmentation, covered, cells, clumps)}
    diameters = cells["nucleus_equivalent_diameter_px"]
    known = diameters[np.isfinite(diameters)]
    diameter = float(np.median(known)) if known.size else np.nan
    summary["focus"] = measure_focus(picture, diameter)
    summary["shadow_share"] = np.nan if picture is None else picture.shadow_share
    summary["quality"] = judge_quality(summary, measure_appearance(picture, diameter))
    return Measurements(
        arrange_columns(cells, CELL_COLUMNS, pixel_size),
        arrange_columns(clumps, CLUMP_COLUMNS, pixel_size),
        arrange_columns(summary, IMAGE_COLUMNS, pixel_size),
        pixel_size,
    )


def _measure_by_clump(
    segmentation: Segmentation,
    picture: ImageChannels | None,
    prior: ShapePrior,
    usual: float,
    planes: NDArray[np.int32] | None,
) -> dict[str, NDArray[Any]]:
    """Columns of all cells: those of a clump are measured in a box round them, whatever is beside it."""
    columns: dict[str, NDArray[Any]] = {}
    for clump in [-2, *np.unique(segmentation.clump).tolist()]:  # the first one, without cells, names the columns
        rows = np.flatnonzero(segmentation.clump == clump)
        box = find_extent(segmentation, rows)
        inner = None if picture is None else ImageChannels(picture.pixels[box.slices], picture.exposure, box)
        focus = None if planes is None else planes[box.slices]
        own = measure_cells(cut_out(segmentation, rows, box), box, inner, prior, usual, focus)
        put_rows(columns, rows, own, len(segmentation))
    columns["id"], columns["clump"] = np.arange(1, len(segmentation) + 1), segmentation.clump + 1
    return columns


def put_rows(
    columns: dict[str, NDArray[Any]], rows: NDArray[np.int64], values: Mapping[str, NDArray[Any]], count: int
) -> None:
    """Put values of some rows into columns of so many rows; columns that are not there yet are made."""
    for name, own in values.items():
        if name not in columns:
            columns[name] = np.zeros(count, "U64" if own.dtype.kind == "U" else own.dtype)
        columns[name][rows] = own


def find_extent(segmentation: Segmentation, rows: NDArray[np.int64], corner: tuple[int, int] = (0, 0),
                shape: tuple[int, int] | None = None) -> Box:  # fmt: skip
    """Find the box of an image that some cells and their nuclei are measured in.

    Parameters
    ----------
    segmentation : Segmentation
    rows : (n,) int64
        Of the cells.
    corner : (row, column)
        Where the segmentation begins in the image.
    shape : (H, W), optional
        Of the image; by default that of the segmentation.
    """
    shape = segmentation.shape if shape is None else shape
    if not len(rows):
        return Box(0, 0, 1, 1)
    points = [segmentation.polygons[rows].reshape(-1, 2), segmentation.seeds[rows]]
    for row in rows.tolist():
        nucleus = segmentation.nucleus_crops[row]
        if nucleus.area:
            points.append(np.array([(side.start, side.stop) for side in nucleus.box], np.float64).T)
    every = np.vstack(points) + corner
    low, high = np.floor(every.min(axis=0)).astype(int) - ROOM, np.ceil(every.max(axis=0)).astype(int) + ROOM + 1
    (top, left), (bottom, right) = (np.clip(side, 0, shape).tolist() for side in (low, high))
    return Box(top, left, max(bottom, top + 1), max(right, left + 1))


def cut_out(
    segmentation: Segmentation, rows: NDArray[np.int64], box: Box, corner: tuple[int, int] = (0, 0)
) -> Segmentation:
    """Give some cells of one clump by themselves, in a box of the image."""
    seen = Box(*corner, *np.add(corner, segmentation.shape).tolist())
    shared, numbers = box.meet(seen), np.zeros(len(segmentation) + 1, np.int32)
    numbers[rows + 1] = np.arange(1, len(rows) + 1)
    layers: list[NDArray[np.int32] | None] = []
    for labels in (segmentation.nuclei, segmentation.second_nuclei):
        own = None if labels is None else np.zeros(box.shape, np.int32)
        if labels is not None and own is not None and shared.size:
            own[shared.within(box)] = numbers[labels[shared.within(seen)]]
        layers.append(own)
    nuclei, second = layers
    if nuclei is not None and second is not None:
        nuclei, second = np.where(nuclei > 0, nuclei, second), np.where(nuclei > 0, second, 0)
    known = segmentation.nucleus_probability
    label = int(segmentation.clump[rows[0]]) if len(rows) else -1
    records = [segmentation.clumps[label]] if segmentation.clumps and label >= 0 else []
    return Segmentation(
        box.shape,
        segmentation.seeds[rows] + corner - box[:2],
        segmentation.radii[rows],
        np.full(len(rows), min(label, 0), np.int64),
        records,
        nuclei,
        second,
        None if known is None else known[rows],
    )


def measure_cells(
    segmentation: Segmentation,
    box: Box,
    picture: ImageChannels | None,
    prior: ShapePrior,
    usual: float,
    planes: NDArray[np.int32] | None = None,
) -> dict[str, NDArray[Any]]:
    """Measure the cells of one clump in a box of an image.

    Parameters
    ----------
    segmentation : Segmentation
        In the coordinates of the box (:func:`cut_out`).
    box : Box
    picture : ImageChannels, optional
        Of the box.
    prior : ShapePrior
    usual : float
        Usual area of a cell in square pixels.
    planes : (h, w) int32, optional

    Returns
    -------
    dict of str to (N,) arrays
        In the coordinates of the image.
    """
    covered, outlines = cover(segmentation), outline_geometry(segmentation.polygons)
    cells = {
        **_places(segmentation, outlines, usual),
        **_overlaps(segmentation, covered),
        **_nuclei(segmentation, covered, outlines),
        **_shapes(segmentation, prior, usual),
    }
    densities = optical_densities(covered, segmentation.nuclei, picture)
    for part, density in zip(("cell", "cytoplasm", "nucleus"), densities, strict=True):
        cells[f"{part}_optical_density"] = density
    probability = Confidence.load("default").probability(confidence_features(cells))
    cells["confidence"] = np.where(outlines.filled, probability, 0.0)
    cells["focus_plane"] = focus_planes(covered, planes)
    cells["warnings"] = _warnings(segmentation)
    for name in cells:
        if name.endswith("_row_px"):
            cells[name] = cells[name] + box.top
        elif name.endswith("_column_px"):
            cells[name] = cells[name] + box.left
    return cells


def _places(segmentation: Segmentation, outlines: Outlines, usual: float) -> dict[str, NDArray[Any]]:
    """Where a cell is, and how large and how shaped its outline."""
    radius = np.where(outlines.filled, outlines.equivalent_diameter / 2, np.nan)
    sizes, discrepancy = clump_discrepancy(segmentation)
    # The last entry, which -1 takes, stands for the seeds without a clump.
    shares = np.append(discrepancy / sizes, np.nan)
    return {
        "seed_row_px": segmentation.seeds[:, 0],
        "seed_column_px": segmentation.seeds[:, 1],
        "centroid_row_px": outlines.centroid[:, 0],
        "centroid_column_px": outlines.centroid[:, 1],
        "area_px2": outlines.area,
        "perimeter_px": outlines.perimeter,
        "equivalent_diameter_px": outlines.equivalent_diameter,
        "major_axis_px": outlines.axes[:, 0],
        "minor_axis_px": outlines.axes[:, 1],
        "eccentricity": outlines.eccentricity,
        "solidity": outlines.solidity,
        "circularity": outlines.circularity,
        "convexity": outlines.convexity,
        "area_relative_to_median": outlines.area / usual,
        "seed_offset": np.linalg.norm(segmentation.seeds - outlines.centroid, axis=1) / radius,
        "clump_discrepancy_share": shares[segmentation.clump],
    }


def _overlaps(segmentation: Segmentation, covered: Cover) -> dict[str, NDArray[Any]]:
    """What other cells and the image border do to a cell."""
    polygons, limits = segmentation.polygons, np.array(segmentation.shape) - 0.5
    following = np.roll(polygons, -1, axis=1)
    lengths = np.linalg.norm(following - polygons, axis=-1)
    hidden = segmentation.hidden_edges
    middles = (polygons + following) / 2
    visible = ~hidden & ((middles >= -0.5) & (middles <= limits)).all(axis=-1)
    total, pixels = lengths.sum(axis=1), covered.pixels
    overlapping, touching = neighbours(segmentation, covered)
    return {
        "area_in_image_px2": pixels,
        "whole": (total > 0) & ((polygons >= -0.5) & (polygons <= limits)).all(axis=(1, 2)),
        "touches_border": covered.on_border,
        "outline_visible_share": quotient(np.sum(lengths * visible, axis=1), total),
        "overlap_degree": quotient(np.sum(lengths * hidden, axis=1), total),
        "overlap_area_share": quotient(covered.shared, pixels),
        "overlapping_cells": overlapping,
        "touching_cells": touching,
    }


def _nuclei(segmentation: Segmentation, covered: Cover, outlines: Outlines) -> dict[str, NDArray[Any]]:
    """The nucleus by itself, and against its cell."""
    layers = [labels for labels in (segmentation.nuclei, segmentation.second_nuclei) if labels is not None]
    nucleus = nucleus_geometry(segmentation.nucleus_crops)
    inside = np.full(len(segmentation), np.nan)
    if layers:
        for index, crop in enumerate(covered.crops):
            inside[index] = sum(np.count_nonzero(labels[crop.box][crop.mask] == index + 1) for labels in layers)
    inside[np.isnan(nucleus["area"])] = np.nan
    centre = np.column_stack([nucleus["row"], nucleus["column"]])
    offset = np.linalg.norm(centre - outlines.centroid, axis=1)
    distance = distance_to_outline(centre, segmentation.polygons)
    cytoplasm = np.maximum(np.where(outlines.filled, outlines.area - inside, np.nan), 0)
    return {
        "nucleus_area_px2": nucleus["area"],
        "nucleus_perimeter_px": nucleus["perimeter"],
        "nucleus_equivalent_diameter_px": 2 * np.sqrt(nucleus["area"] / np.pi),
        "nucleus_major_axis_px": nucleus["major"],
        "nucleus_minor_axis_px": nucleus["minor"],
        "nucleus_eccentricity": nucleus["eccentricity"],
        "nucleus_solidity": nucleus["solidity"],
        "nucleus_circularity": nucleus["circularity"],
        "nucleus_inside_share": inside / nucleus["area"],
        "nucleus_probability": (
            np.full(len(segmentation), np.nan)
            if segmentation.nucleus_probability is None
            else segmentation.nucleus_probability
        ),
        "cytoplasm_area_px2": cytoplasm,
        "nucleus_to_cytoplasm_area_ratio": quotient(nucleus["area"], cytoplasm),
        "nucleus_to_cell_area_ratio": quotient(nucleus["area"], outlines.area),
        "nucleus_offset": quotient(offset, outlines.equivalent_diameter / 2),
        "nucleus_to_outline_px": np.where(outlines.filled, distance, np.nan),
    }


def _warnings(segmentation: Segmentation) -> NDArray[np.str_]:
    """What is doubtful about each cell, in words."""
    kinds: list[list[str]] = [[] for _ in range(len(segmentation))]
    for warning in segmentation.warnings:
        own = kinds[warning.cell - 1]
        own += [] if warning.kind in own else [warning.kind]
    return np.array([", ".join(own) for own in kinds], dtype=np.str_)


def _shapes(segmentation: Segmentation, prior: ShapePrior, usual: float | None) -> dict[str, NDArray[Any]]:
    """How usual the outline is."""
    coefficients = shape_coefficients(segmentation.radii, prior, usual)
    first = np.full((SHAPE_COEFFICIENTS, len(segmentation)), np.nan)
    known = coefficients[:, :SHAPE_COEFFICIENTS].T
    first[: len(known)] = known
    return {
        **{f"shape_coefficient_{mode}": values for mode, values in enumerate(first, start=1)},
        "mahalanobis_distance": np.linalg.norm(coefficients, axis=1),
    }
