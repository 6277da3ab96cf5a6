"""What is said of clumps and of the whole image, from what is known of their cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.measurements.cover import Cover
from declump.records.segmentation import Segmentation

Columns = Mapping[str, NDArray[Any]]


def clump_discrepancy(segmentation: Segmentation) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pixels and discrepancy in pixels of every clump, two (C,) float64; NaN where the clumps were not recorded."""
    if not segmentation.clumps:
        count = int(segmentation.clump.max(initial=-1)) + 1
        return np.full(count, np.nan), np.full(count, np.nan)
    sizes = np.array([record.size for record in segmentation.clumps], dtype=np.float64)
    return sizes, segmentation.energy.astype(np.float64)


def clump_values(segmentation: Segmentation, covered: Cover, cells: Columns) -> dict[str, NDArray[Any]]:
    """Columns (C,) of all clumps, by name, from the columns of their cells."""
    sizes, discrepancy = clump_discrepancy(segmentation)
    members = [np.flatnonzero(segmentation.clump == label) for label in range(len(sizes))]
    unions = np.array([covered.union(own) for own in members], dtype=np.int64).reshape(-1, 3)
    steps = [len(record.history) - 1 for record in segmentation.clumps] or [0] * len(sizes)
    stopped = [str(record.stopped) for record in segmentation.clumps] or [""] * len(sizes)
    return {
        "id": np.arange(1, len(sizes) + 1),
        "size_px2": sizes,
        "cells": np.array([own.size for own in members], dtype=np.int64),
        "discrepancy_px2": discrepancy,
        "discrepancy_share": np.divide(discrepancy, sizes, out=np.full(len(sizes), np.nan), where=sizes > 0),
        "steps": np.array(steps, dtype=np.int64),
        "stopped": np.array(stopped, dtype=np.str_),
        "covered_area_px2": unions[:, 0],
        "overlapped_area_px2": unions[:, 1],
        "overlapped_area_share": np.array([_share(part, whole) for whole, part, _ in unions], dtype=np.float64),
        "most_layers": unions[:, 2],
        "mean_overlap_degree": np.array([_mean(cells["overlap_degree"][own]) for own in members], dtype=np.float64),
        "mean_confidence": np.array([_mean(cells["confidence"][own]) for own in members], dtype=np.float64),
    }


def image_values(segmentation: Segmentation, covered: Cover, cells: Columns, clumps: Columns) -> dict[str, float]:
    """Figures of the whole image, by name, from the columns of its cells and clumps."""
    height, width = segmentation.shape
    outlined, whole = cells["perimeter_px"] > 0, cells["whole"]
    covered_pixels, overlapped = (int(np.count_nonzero(covered.layers > below)) for below in (0, 1))
    return {
        "height_px": height,
        "width_px": width,
        "cells": len(segmentation),
        "cells_without_outline": int(np.count_nonzero(~outlined)),
        "whole_cells": int(np.count_nonzero(whole)),
        "overlapping_cells": int(np.count_nonzero(cells["overlapping_cells"])),
        "clumps": len(clumps["id"]),
        "clumps_without_cells": int(np.count_nonzero(clumps["cells"] == 0)),
        "clump_area_px2": float(clumps["size_px2"].sum()),
        "explained_share": 1 - _share(float(clumps["discrepancy_px2"].sum()), float(clumps["size_px2"].sum())),
        "covered_area_px2": covered_pixels,
        "covered_area_share": _share(covered_pixels, height * width),
        "overlapped_area_px2": overlapped,
        "overlapped_area_share": _share(overlapped, covered_pixels),
        "mean_overlap_degree": _mean(cells["overlap_degree"][outlined]),
        "mean_overlap_area_share": _mean(cells["overlap_area_share"][outlined]),
        "median_area_px2": _median(cells["area_px2"][whole]),
        "median_nucleus_area_px2": _median(cells["nucleus_area_px2"][whole]),
        "median_nucleus_to_cytoplasm_area_ratio": _median(cells["nucleus_to_cytoplasm_area_ratio"][whole]),
        "median_nucleus_to_cell_area_ratio": _median(cells["nucleus_to_cell_area_ratio"][whole]),
        "mean_confidence": _mean(cells["confidence"]),
        "doubtful_cells": int(np.count_nonzero(cells["warnings"] != "")),
        "others": np.nan if segmentation.others is None else len(segmentation.others),
        "leukocytes": np.nan if segmentation.others is None else segmentation.others.leukocytes,
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else np.nan


def _mean(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else np.nan


def _median(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else np.nan
