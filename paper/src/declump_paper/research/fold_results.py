"""What one method made of the tested images of one fold: one file, with scores and outlines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.evaluation import Score
from declump.records.segmentation import Segmentation
from declump.shapes.contours import resample
from declump_paper.research.storage import read_arrays, write_arrays, write_bytes

_BY_CELL = ("dice", "matched", "overlap_degree", "area", "shared", "spilled", "background")


@dataclass(frozen=True, eq=False)
class ImageScores:
    """One image as one method segmented it.

    Attributes
    ----------
    image : int
    score : Score
    seconds : float
        Processor time.
    segmentation : Segmentation
        For pictures: radii to a few digits.
    """

    image: int
    score: Score
    seconds: float
    segmentation: Segmentation


@dataclass(frozen=True, eq=False)
class FoldResult:
    """Results of a method on the images of one fold.

    Attributes
    ----------
    tested : sequence of ImageScores
    facts : mapping
        What else is known, such as the number of modes and the images that failed.
    """

    tested: Sequence[ImageScores]
    facts: Mapping[str, Any]


def write_fold_result(path: Path, part: FoldResult, fingerprint: str) -> None:
    """Write a part; the file of how long it took comes first, as it alone differs between two runs."""
    scores = [one.score for one in part.tested]
    arrays: dict[str, NDArray[Any]] = {
        "image": np.array([one.image for one in part.tested], np.int64),
        "cells": np.array([len(score.dice) for score in scores], np.int64),
        "n_predicted": np.array([score.n_predicted for score in scores], np.int64),
        "union_pixels": np.array([score.union_pixels for score in scores], np.int64),
        "aji": np.array([(score.aji_intersection, score.aji_union) for score in scores], np.int64),
        "shape": np.array([one.segmentation.shape for one in part.tested], np.int64),
        "outlines": np.array([len(one.segmentation) for one in part.tested], np.int64),
    }
    arrays |= {name: np.concatenate([getattr(score, name) for score in scores]) for name in _BY_CELL}
    arrays["seeds"] = np.concatenate([one.segmentation.seeds for one in part.tested]).astype(np.float32)
    rays = max(one.segmentation.radii.shape[1] for one in part.tested)
    outlines = [resample(one.segmentation.radii, rays) for one in part.tested]  # all alike but where a method failed
    arrays["radii"] = np.concatenate(outlines).astype(np.float32)
    record = {
        "fingerprint": fingerprint,
        "matching": scores[0].matching,
        "threshold": scores[0].threshold,
        "facts": dict(part.facts),
    }
    seconds = {"fingerprint": fingerprint, "seconds": [round(one.seconds, 6) for one in part.tested]}
    write_bytes(path.with_suffix(".seconds.json"), (json.dumps(seconds) + "\n").encode())
    write_arrays(path, arrays, record)


def read_fold_result(path: Path, fingerprint: str) -> FoldResult | None:
    """Read a part; None if it is not there, damaged, or of other settings or data."""
    found = read_arrays(path)
    try:
        told = json.loads(path.with_suffix(".seconds.json").read_text())
        seconds = [float(value) for value in told["seconds"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if found is None or not found[1].get("fingerprint") == told.get("fingerprint") == fingerprint:
        return None
    arrays, record = found
    by_cell = [np.split(arrays[name], np.cumsum(arrays["cells"])[:-1]) for name in _BY_CELL]
    outlines = [np.split(arrays[name], np.cumsum(arrays["outlines"])[:-1]) for name in ("seeds", "radii")]
    tested = []
    for index, image in enumerate(arrays["image"]):
        score = Score(
            **{name: values[index] for name, values in zip(_BY_CELL, by_cell, strict=True)},
            n_predicted=int(arrays["n_predicted"][index]),
            union_pixels=arrays["union_pixels"][index],
            aji_intersection=int(arrays["aji"][index, 0]),
            aji_union=int(arrays["aji"][index, 1]),
            threshold=record["threshold"],
            matching=record["matching"],
        )
        seeds, radii = (part[index].astype(np.float64) for part in outlines)
        height, width = arrays["shape"][index]
        shown = Segmentation((int(height), int(width)), seeds, radii, np.zeros(len(seeds), np.int64))
        tested.append(ImageScores(int(image), score, seconds[index], shown))
    return FoldResult(tested, record["facts"])
