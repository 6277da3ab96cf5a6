"""All columns of the measurements: their names, units and meanings, in the order in which they are given.

The tables of docs/measurements.md are written from here by ``python docs/columns.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SHAPE_COEFFICIENTS = 7
"""Modes whose coefficients are given: of the default prior, these are its size and three pairs of sine and cosine."""


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    name : str
        Ends on its unit if that is a length (``_px``) or an area (``_px2``).
    unit : str
        For people.
    meaning : str
        One sentence in Markdown.
    """

    name: str
    unit: str
    meaning: str

    @property
    def in_micrometres(self) -> tuple[str, int] | None:
        """Name of the twin in micrometres, and the power of the pixel size; None if the column is no length or area."""
        for ending, twin, power in (("_px", "_um", 1), ("_px2", "_um2", 2)):
            if self.name.endswith(ending):
                return self.name.removesuffix(ending) + twin, power
        return None


def arrange_columns(values: Mapping[str, Any], columns: Sequence[Column], pixel_size: float | None) -> dict[str, Any]:
    """Put values in the order of their columns, each length and area followed by its twin in micrometres."""
    result = {}
    for column in columns:
        result[column.name] = values[column.name]
        if pixel_size is not None and column.in_micrometres is not None:
            name, power = column.in_micrometres
            result[name] = values[column.name] * pixel_size**power
    return result


CELL_COLUMNS = (
    Column("id", "number", "number of the cell, from 1, in the order of the seeds"),
    Column("clump", "number", "number of its clump, from 1; 0 for a seed that lies in none"),
    Column("seed_row_px", "px", "row of the seed; pixel centres are whole numbers, the first is 0"),
    Column("seed_column_px", "px", "column of the seed"),
    Column("centroid_row_px", "px", "row of the centre of the area inside the outline, also outside the image"),
    Column("centroid_column_px", "px", "column of that centre"),
    Column("area_px2", "px²", "area inside the outline, also of what lies outside the image (polygon, not pixels)"),
    Column("area_in_image_px2", "px²", "pixels of the cell, that is those of its mask in the image"),
    Column("perimeter_px", "px", "length of the outline, also outside the image"),
    Column("equivalent_diameter_px", "px", "diameter of the disc with the same `area_px2`"),
    Column("major_axis_px", "px", "long axis of the ellipse with the same second moments"),
    Column("minor_axis_px", "px", "short axis of that ellipse"),
    Column("eccentricity", "0 to 1", "of that ellipse: 0 is round"),
    Column("solidity", "0 to 1", "area over area of the convex hull"),
    Column("circularity", "0 to 1", "4π area / perimeter²: 1 is a disc"),
    Column("convexity", "0 to 1", "perimeter of the convex hull over perimeter"),
    Column("area_relative_to_median", "ratio", "`area_px2` over the usual area of a cell of the image"),
    Column("whole", "true or false", "there is an outline, and none of its rays leaves the image"),
    Column("touches_border", "true or false", "a pixel of the cell lies on the outermost rows or columns of the image"),
    Column("outline_visible_share", "0 to 1", "share of the outline's length inside the image and in no other cell"),
    Column("overlap_degree", "0 to 1", "share of the outline's length that lies inside other cells of its clump"),
    Column("overlap_area_share", "0 to 1", "share of the cell's pixels in the image that other cells cover, too"),
    Column("overlapping_cells", "count", "other cells of its clump that share a pixel with it"),
    Column(
        "touching_cells",
        "count",
        "those, and other cells at a gap of at most 5 % of the mean of the two equivalent radii",
    ),
    Column("seed_offset", "ratio", "distance of the seed from the cell's centroid over the cell's equivalent radius"),
    Column("nucleus_area_px2", "px²", "pixels of the nucleus in the image"),
    Column("nucleus_perimeter_px", "px", "Crofton perimeter of the nucleus by four directions"),
    Column("nucleus_equivalent_diameter_px", "px", "diameter of the disc with the same `nucleus_area_px2`"),
    Column("nucleus_major_axis_px", "px", "long axis of the ellipse with the second moments of the nucleus's pixels"),
    Column("nucleus_minor_axis_px", "px", "short axis of that ellipse"),
    Column("nucleus_eccentricity", "0 to 1", "of that ellipse"),
    Column("nucleus_solidity", "0 to 1", "pixels of the nucleus over pixels of its convex hull"),
    Column("nucleus_circularity", "0 to 1", "4π area / perimeter², at most 1"),
    Column("nucleus_inside_share", "0 to 1", "share of the nucleus's pixels that lie inside its cell's outline"),
    Column(
        "nucleus_probability",
        "0 to 1",
        "probability, by the judge, that the nucleus is that of a cell; not known where there is none, or no judge",
    ),
    Column(
        "cytoplasm_area_px2",
        "px²",
        "`area_px2` less the nucleus's pixels inside the outline",
    ),
    Column(
        "nucleus_to_cytoplasm_area_ratio",
        "ratio",
        "`nucleus_area_px2` / `cytoplasm_area_px2`: the N/C ratio; not known where no cytoplasm is left",
    ),
    Column("nucleus_to_cell_area_ratio", "ratio", "`nucleus_area_px2` / `area_px2`, the nucleus in the whole cell"),
    Column(
        "nucleus_offset",
        "ratio",
        "distance of the nucleus's centroid from the cell's centroid over the cell's equivalent radius",
    ),
    Column("nucleus_to_outline_px", "px", "distance of the nucleus's centroid to the nearest point of the outline"),
    Column(
        "cell_optical_density",
        "log10",
        "mean of -log10(luminance / background) over the cell's pixels in no other cell, nucleus included",
    ),
    Column("cytoplasm_optical_density", "log10", "the same over those pixels that lie in no nucleus"),
    Column("nucleus_optical_density", "log10", "the same over those pixels that lie in the cell's own nucleus"),
    *(
        Column(f"shape_coefficient_{mode}", "standard deviations", f"shape along mode {mode} of the prior")
        for mode in range(1, SHAPE_COEFFICIENTS + 1)
    ),
    Column("mahalanobis_distance", "standard deviations", "length of the coefficients of all modes of the prior"),
    Column("clump_discrepancy_share", "ratio", "`discrepancy_share` of its clump"),
    Column(
        "focus_plane",
        "number",
        "plane of a focus stack in which the cell is sharp, from 1: the median over its pixels in no other cell; not "
        "known where the image is no stack",
    ),
    Column("confidence", "0 to 1", "probability that the Dice of the cell with its truth is at least 0.8"),
    Column(
        "warnings",
        "words",
        "why a person should look at it: `twin` (nearly the outline of another cell), `binucleate`, `no nucleus`, "
        "`spike` (a narrow one); with commas, mostly empty",
    ),
)

CLUMP_COLUMNS = (
    Column("id", "number", "number of the clump, from 1"),
    Column("size_px2", "px²", "pixels of the clump in the mask that was explained"),
    Column("cells", "count", "cells whose seeds lie in it"),
    Column("discrepancy_px2", "px²", "pixels in the clump or in its cells, but not in both"),
    Column("discrepancy_share", "ratio", "`discrepancy_px2` / `size_px2`"),
    Column("steps", "count", "steps of the evolution"),
    Column(
        "stopped", "word", "why the evolution ended: explained, no decrease, bound, no seed; masks if there was none"
    ),
    Column("covered_area_px2", "px²", "pixels in at least one of its cells"),
    Column("overlapped_area_px2", "px²", "pixels in more than one of its cells"),
    Column("overlapped_area_share", "0 to 1", "`overlapped_area_px2` / `covered_area_px2`"),
    Column("most_layers", "count", "most of its cells at one pixel"),
    Column("mean_overlap_degree", "0 to 1", "mean `overlap_degree` of its cells"),
    Column("mean_confidence", "0 to 1", "mean `confidence` of its cells"),
)

IMAGE_COLUMNS = (
    Column("height_px", "px", "rows of the image"),
    Column("width_px", "px", "columns of the image"),
    Column("cells", "count", "cells, also seeds that got no outline"),
    Column("cells_without_outline", "count", "seeds that lie in no clump"),
    Column("whole_cells", "count", "cells with `whole`"),
    Column("overlapping_cells", "count", "cells that share a pixel with another"),
    Column("clumps", "count", "clumps, also those without a seed"),
    Column("clumps_without_cells", "count", "clumps without a seed"),
    Column("clump_area_px2", "px²", "pixels of all clumps"),
    Column("explained_share", "up to 1", "1 - discrepancy of all clumps / their pixels"),
    Column("covered_area_px2", "px²", "pixels in at least one cell"),
    Column("covered_area_share", "0 to 1", "the same over the pixels of the image"),
    Column("overlapped_area_px2", "px²", "pixels in more than one cell"),
    Column("overlapped_area_share", "0 to 1", "`overlapped_area_px2` / `covered_area_px2`"),
    Column("mean_overlap_degree", "0 to 1", "mean `overlap_degree` of the cells with an outline"),
    Column("mean_overlap_area_share", "0 to 1", "mean `overlap_area_share` of the cells with an outline"),
    Column("median_area_px2", "px²", "median `area_px2` of the whole cells"),
    Column("median_nucleus_area_px2", "px²", "median `nucleus_area_px2` of the whole cells"),
    Column("median_nucleus_to_cytoplasm_area_ratio", "ratio", "median N/C ratio of the whole cells"),
    Column("median_nucleus_to_cell_area_ratio", "ratio", "median `nucleus_to_cell_area_ratio` of the whole cells"),
    Column("mean_confidence", "0 to 1", "mean `confidence` of all cells: the share expected to reach a Dice of 0.8"),
    Column("doubtful_cells", "count", "cells with `warnings`"),
    Column("others", "count", "spots that were judged to be no nuclei; not known where no judge looked"),
    Column("leukocytes", "count", "those of them that are much darker than what surrounds them, as leukocytes are"),
    Column("focus", "ratio", "fine detail over detail twice as coarse, where the image is dark: 0.66 or more is sharp"),
    Column("shadow_share", "0 to 1", "share of the image in a shadow so dark that no cells are looked for in it"),
    Column("quality", "word", "good, empty, out of focus, too thick, too bloody, inflamed, not a smear, or shaded"),
)
