"""Kernels in Cython, doubles of readable NumPy code: the same numbers, fast.

Each kernel names the function it doubles; the tests hold the two together. None of them runs in parallel, so that the
same input gives the same bytes whatever the number of threads, and none holds the GIL while it computes. Arrays of
another type or layout than stated are refused with a ``ValueError`` before C sees them. Indices are not checked in C:
``make test-checked`` builds kernels that check them, and runs the tests.

Shapes are written in these letters: N cells of a clump, K rays, P parameters a cell, H rows and W columns.
"""

from declump._kernels.discrepancy import cover, gather_discrepancy
from declump._kernels.masks import convex_area, fill_holes, grow_diamond, inner_rim, measure_clearance
from declump._kernels.peaks import outstanding_peaks
from declump._kernels.pieces import find_runs, measure_runs, paint_runs
from declump._kernels.poses import pose, pose_cells
from declump._kernels.projection import carry_gradient, own_blocks, shared_blocks, thin_curvatures
from declump._kernels.rays import (
    ON_EDGE,
    fill_contour,
    find_covered,
    find_meeting,
    first_exits,
    largest_copy,
    nearest_bisectors,
    outermost_crossings,
    paint_contours,
    points_inside,
    tabulate_sectors,
)
from declump._kernels.trust_region import factorise, predicted_decrease, truncated_conjugate_gradient
from declump._kernels.windows import sample_affine, sample_number, sample_polar

__all__ = [
    "ON_EDGE",
    "carry_gradient",
    "convex_area",
    "cover",
    "factorise",
    "fill_contour",
    "fill_holes",
    "find_covered",
    "find_meeting",
    "find_runs",
    "first_exits",
    "gather_discrepancy",
    "grow_diamond",
    "inner_rim",
    "largest_copy",
    "measure_clearance",
    "measure_runs",
    "nearest_bisectors",
    "outermost_crossings",
    "outstanding_peaks",
    "own_blocks",
    "paint_contours",
    "paint_runs",
    "points_inside",
    "pose",
    "pose_cells",
    "predicted_decrease",
    "sample_affine",
    "sample_number",
    "sample_polar",
    "shared_blocks",
    "tabulate_sectors",
    "thin_curvatures",
    "truncated_conjugate_gradient",
]
