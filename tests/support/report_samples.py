"""Results as ``declump segment`` writes them, made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np

from declump import io
from declump.records.segmentation import ClumpRecord, Segmentation

SHAPE = (120, 200)


def smear(count: int = 3, *, nuclei: bool = True) -> Segmentation:
    """Overlapping circles, each larger than the one before, in one clump."""
    seeds = np.array([(60.0, 40.0 + 35 * index) for index in range(count)]).reshape(-1, 2)
    radii = np.repeat(20.0 + 5 * np.arange(count)[:, None], 90, axis=1)
    labels = np.zeros(SHAPE, np.int32)
    rows, columns = np.mgrid[: SHAPE[0], : SHAPE[1]]
    for index, (row, column) in enumerate(seeds):
        labels[np.hypot(rows - row, columns - column) < 6] = index + 1
    clumps = (ClumpRecord(5000, (900, 200), "no decrease"),) if count else ()
    return Segmentation(SHAPE, seeds, radii, np.zeros(count, np.int64), clumps, labels if nuclei else None)


def write_run(folder: Path, images: list[dict[str, Any]], **facts: Any) -> None:
    content = {"version": "0.1.0", "command": "declump segment originals -o results", "settings": {}, **facts}
    (folder / "run.json").write_text(json.dumps({**content, "images": images}), encoding="utf-8")


def write_results(folder: Path, names: list[str], segmentation: Segmentation, *, originals: Path | None) -> None:
    """Write a result for each name, and the run that made them; with the originals or without."""
    picture = np.full((*SHAPE, 3), (200, 210, 225), np.uint8)
    records = []
    for name in names:
        io.write_results(segmentation, folder / name, image=picture, formats=("contours", "overlay"))
        path = "" if originals is None else str(originals / f"{name}.png")
        if originals is not None:
            originals.mkdir(exist_ok=True)
            iio.imwrite(path, picture)
        records.append({"path": path, "name": name, "status": "done", "cells": len(segmentation), "seconds": 1.5})
    write_run(folder, records)
