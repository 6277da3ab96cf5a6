"""Time of StarDist and Cellpose on one core, for a ratio: run by benchmarks/speed.py with a Python that has them.

    PEERS=/path/to/venv/bin/python make bench

Their weights are random: time does not depend on them, and nothing is downloaded. StarDist (2D, 32 rays, grid 2, three
channels) is its network on the frame and its non-maximum suppression on what a perfect network would answer: distances
and probabilities of the true cells. Cellpose is its network alone. The frame comes as a NumPy file of image and labels;
a line of JSON goes out.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS"):
    os.environ[variable] = "1"
os.environ |= {"TF_NUM_INTEROP_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "1"}
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np  # noqa: E402

GRID = (2, 2)
RAYS = 32


def least(task: Callable[[], Any], repeats: int) -> dict[str, float]:
    """Least wall time and least processor time of a task in seconds, after one run that is not counted."""
    task()
    times = []
    for _ in range(repeats):
        start, processor = time.perf_counter(), time.process_time()
        task()
        times.append((time.perf_counter() - start, time.process_time() - processor))
    wall, used = (min(column) for column in zip(*times, strict=True))
    return {"seconds": wall, "processor seconds": used}


def stardist(image: np.ndarray, labels: np.ndarray, repeats: int) -> dict[str, dict[str, float]]:
    """Network and non-maximum suppression of StarDist."""
    import tensorflow
    from stardist import edt_prob, star_dist
    from stardist.models import Config2D, StarDist2D
    from stardist.nms import non_maximum_suppression

    tensorflow.config.threading.set_intra_op_parallelism_threads(1)
    tensorflow.config.threading.set_inter_op_parallelism_threads(1)
    model = StarDist2D(Config2D(n_rays=RAYS, grid=GRID, n_channel_in=3), name=None, basedir=None)
    batch = image[None].astype(np.float32) / 255
    distances, probabilities = star_dist(labels, RAYS, grid=GRID), edt_prob(labels)[:: GRID[0], :: GRID[1]]
    network = least(lambda: model.keras_model.predict(batch, verbose=0), repeats)
    suppression = least(
        lambda: non_maximum_suppression(distances, probabilities, grid=GRID, prob_thresh=0.5, nms_thresh=0.4), repeats
    )
    return {"StarDist, network": network, "StarDist, non-maximum suppression": suppression}


def cellpose(image: np.ndarray, _labels: np.ndarray, repeats: int) -> dict[str, dict[str, float]]:
    """Network of Cellpose (version 3 and before), nuclei of 22 pixels brought to its 17."""
    import torch
    from cellpose.resnet_torch import CPnet

    torch.set_num_threads(1)
    network = CPnet([2, 32, 64, 128, 256], 3, 3).eval()
    side = round(image.shape[0] * 17 / 22 / 16) * 16
    batch = torch.rand(1, 2, side, side)

    def run() -> None:
        with torch.no_grad():
            network(batch)

    return {"Cellpose, network": least(run, repeats)}


def main() -> None:
    """Time what is installed."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with np.load(Path(sys.argv[1])) as frame:
        image, labels = frame["image"], frame["labels"]
    found: dict[str, Any] = {}
    for peer in (stardist, cellpose):
        try:
            found |= peer(image, labels, repeats=3)
        except ImportError as error:
            found[f"{peer.__name__} is not installed"] = {"reason": str(error)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
