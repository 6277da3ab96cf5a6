"""Accuracy of ``segment`` with the shipped networks, from image to cells, on few or all of the public images.

    python benchmarks/end_to_end.py --every 9

Cells of ISBI 2014's official test images and of ISBI 2015: F1 (Dice of at least .5, one to one), Dice of all true cells
(missed ones count 0) and aggregated Jaccard index; the same of two frames in uneven light; nuclei of Cervix93: F1 by
points. The shipped networks saw some of these images: this tells one commit from another, not the method from others.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

import declump
from declump.datasets import isbi2015, marked
from declump.evaluation import Score, dice_matrix, pool
from light import LIGHTS, LIT, WHOLE
from pages import ROOT, commit


def count_good(truth: NDArray[np.bool_], result: declump.Segmentation) -> NDArray[np.int64]:
    """Cells right, found and true."""
    near = dice_matrix(truth, result.masks) >= 0.5
    return np.array([near[linear_sum_assignment(near, maximize=True)].sum(), len(result), len(truth)])


def count_points(image: marked.MarkedNuclei, result: declump.Segmentation) -> NDArray[np.int64]:
    """Nuclei right, found and true: a point within 1.2 radii of the middle of a nucleus."""
    assert result.nuclei is not None
    areas = np.bincount(result.nuclei.ravel(), minlength=len(result) + 1)[1:]
    distances = np.hypot(*(image.points[:, None] - result.seeds[None]).transpose(2, 0, 1))
    near = distances <= 1.2 * np.sqrt(areas / np.pi)
    return np.array([near[linear_sum_assignment(near, maximize=True)].sum(), len(result), len(image.points)])


def f1(counts: NDArray[np.int64]) -> float:
    """Harmonic mean of precision and recall."""
    return float(2 * counts[0] / max(counts[1] + counts[2], 1))


def score_cells(name: str, images: list[Any]) -> None:
    """Print the figures of images with true cells."""
    counts, scores, seconds = np.zeros(3, int), list[Score](), 0.0
    for picture, cells in images:
        start = time.process_time()
        result = declump.segment(picture)
        seconds += time.process_time() - start
        counts += count_good(cells, result)
        scores.append(declump.score(cells, result.masks))
    every = pool(scores)
    print(
        f"{name}: {len(images)} images, {counts[2]} cells: F1 {f1(counts):.3f}, Dice {every.dice_all:.3f}, "
        f"AJI {every.aji:.3f}; {seconds / max(len(images), 1):.2f} s of the processor an image",
        flush=True,
    )


def darken(image: Any, light: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Give an image as it is under a light, and its cells that are lit."""
    lit = np.array([np.mean(light[mask] > LIT) > WHOLE for mask in image.cells])
    return np.rint(image.image * light).astype(image.image.dtype), image.cells[lit]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--every", type=int, default=1, help="only every n-th image of each set")
    chosen = parser.parse_args()
    print(f"commit {commit()}, every {chosen.every}. image")
    test = [(image.image, image.cells) for image in list(isbi2015.read(chosen.data / "isbi2014_test"))[:: chosen.every]]
    score_cells("ISBI 2014, official test", test)
    frames = list(isbi2015.read(chosen.data / "isbi2015"))
    score_cells("ISBI 2015", [(image.image, image.cells) for image in frames])
    for name, make in list(LIGHTS.items())[1:]:
        score_cells(f"ISBI 2015, light {name}", [darken(image, make(image.image.shape)) for image in frames[:2]])
    counts, seconds = np.zeros(3, int), 0.0
    images = list(marked.read(chosen.data / "cervix93"))[:: chosen.every]
    for image in images:
        start = time.process_time()
        result = declump.segment(image.image)
        seconds += time.process_time() - start
        counts += count_points(image, result)
    print(
        f"Cervix93: {len(images)} images, {counts[2]} nuclei: F1 {f1(counts):.3f}; "
        f"{seconds / max(len(images), 1):.2f} s of the processor an image",
        flush=True,
    )


if __name__ == "__main__":
    main()
