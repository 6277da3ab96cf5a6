"""Two source trees against each other in one run: time and accuracy of the same public calls.

    git worktree add /tmp/before COMMIT
    python benchmarks/trees.py /tmp/before . --data ../shared/data

The trees take turns, each repetition in a process of its own, pinned to one core; times are medians, given with their
ratio. Accuracy is that of real frames with the models that did not see them.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def measure(data: Path, tree: Path) -> dict[str, float]:
    """Time and score the tree that this process imports; by name."""
    start = time.perf_counter()
    import declump

    figures = {"import declump, s": time.perf_counter() - start}
    import numpy as np

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    smear = declump.simulate.smear((860, 860), cells=30, clumps=3, overlap=0.5, stain="grey", rng=1)
    declump.evolve(smear.clump, smear.seeds)
    figures["evolve, 30 cells, s"] = _seconds(lambda: declump.evolve(smear.clump, smear.seeds))
    scores = []
    models = tree / "benchmarks" / "models"
    frames = [
        (frame, fold) for frame in declump.datasets.isbi2015.read(data / "isbi2015") for fold in _unseen(frame, models)
    ]
    how: dict[str, Any] = {}
    for frame, fold in frames:
        how = {"regions": models / f"regions-{fold}.onnx", "rays": models / f"rays-{fold}.onnx"}
        if "judge" in inspect.signature(declump.segment).parameters:
            how["judge"] = models / f"judge-{fold}.onnx"
        scores.append(declump.score(frame.cells, declump.segment(frame.image, **how).masks))
    pooled = declump.evaluation.pool(scores)
    for name in ("dice_all", "fno", "fdo", "aji"):
        figures[f"{name}, {len(pooled.dice)} cells of unseen images of ISBI 2015"] = float(getattr(pooled, name))
    frame = frames[0][0]
    figures["segment, 1024 x 1024 pixels, s"] = _seconds(lambda: declump.segment(frame.image, **how))
    true = declump.Regions(frame.clump, frame.nucleus_labels)
    figures["segment, true regions, s"] = _seconds(lambda: declump.segment(frame.image, regions=true))
    result = declump.segment(frame.image, regions=true)
    figures["measure, s"] = _seconds(lambda: declump.measure(result, frame.image))
    figures["Dice of evolve, simulated"] = float(
        np.mean(declump.score(smear.cells, declump.evolve(smear.clump, smear.seeds).masks).dice)
    )
    return figures


def _unseen(frame: Any, models: Path) -> list[str]:
    """Folds whose models did not see a frame."""
    import onnxruntime

    found = []
    for path in sorted(models.glob("regions-*.onnx")):
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        card = json.loads(session.get_modelmeta().custom_metadata_map["card"])
        if frame.name in card["held out"]:
            found.append(path.stem.removeprefix("regions-"))
    return found


def _seconds(task: Any) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return sorted(times)[1]


def compare(trees: list[Path], data: Path, repetitions: int) -> None:
    """Print a table of both trees with the ratio of the second to the first."""
    taken: dict[Path, list[dict[str, float]]] = {tree: [] for tree in trees}
    for _ in range(repetitions):
        for tree in trees:
            command = [sys.executable, str(Path(__file__).resolve()), "--measure", str(tree), "--data", str(data)]
            environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(tree / "src")}
            ended = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
            taken[tree].append(json.loads(ended.stdout))
    print("| | before | after | after / before |\n|---|---|---|---|")
    for name in taken[trees[0]][0]:
        before, after = (sorted(one[name] for one in taken[tree])[repetitions // 2] for tree in trees)
        print(f"| {name} | {before:.4f} | {after:.4f} | {after / before if before else float('nan'):.3f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path, nargs="*", help="the older and the newer tree")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.data, given.measure)))
    elif len(given.trees) == 2:
        compare([tree.resolve() for tree in given.trees], given.data.resolve(), given.repetitions)
    else:
        parser.error("give two trees")
