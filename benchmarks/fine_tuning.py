"""A network that ships, taught further on two frames of one's own: what a few minutes gain.

python benchmarks/fine_tuning.py [--data ../shared/data] [--steps 200] [--write]

A lab's microscope shows another picture than those that the network learnt from: pale stain, uneven light, a slight
blur, a grainy camera. Two annotated frames of it teach the network by ``declump train regions --start``; cells of two
other frames, which neither the network nor its further training has seen in any picture, are found before and after.
The start is a fold model, which did not see the frames that are measured. ``--write`` puts the figures into
docs/regions.md.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage

import declump
from declump import io
from pages import commit, replace_part

PAGE, PART = "docs/regions.md", "fine-tuning figures"
TAUGHT, MEASURED = ("frame010", "frame016"), ("frame004", "frame011")
START, RAYS = "regions-b.onnx", "rays-b.onnx"
"""Models in benchmarks/models that did not learn from the frames that are measured."""
FIGURES = ("dice_all", "fno", "fdo", "aji")


def as_own_microscope(image: np.ndarray, seed: int) -> np.ndarray:
    """The picture of a microscope that the network does not know."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[: image.shape[0], : image.shape[1]]
    light = 1 - 0.35 * (rows / image.shape[0] - 0.2) ** 2 - 0.35 * (columns / image.shape[1] - 0.8) ** 2
    pale = 235 * (np.maximum(image, 1) / 235.0) ** 0.35
    seen = ndimage.gaussian_filter(pale, 1.8) * light + ndimage.gaussian_filter(rng.normal(0, 9, image.shape), 0.7)
    return np.clip(np.rint(seen), 0, 255).astype(np.uint8)


def copy_frames(data: Path, out: Path) -> None:
    """Write frames as one's own microscope shows them, with their annotation."""
    for number, name in enumerate((*TAUGHT, *MEASURED)):
        folder = out / ("taught" if name in TAUGHT else "measured") / name
        shutil.copytree(data / "isbi2015" / name, folder, ignore=shutil.ignore_patterns("stack"))
        Image.fromarray(as_own_microscope(io.read_image(folder / "image.png"), number)).save(folder / "image.png")


def measure(frames: Path, regions: Path) -> dict[str, float]:
    """Figures of the cells found in frames with a region model, all cells counting alike."""
    rays, scores = Path(__file__).parent / "models" / RAYS, []
    for frame in sorted(frames.iterdir()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = declump.segment(io.read_image(frame / "image.png"), regions=regions, rays=rays)
        scores.append(declump.score(io.read_mask_stack(frame / "cells"), found.masks))
    pooled = declump.evaluation.pool(scores).figures()
    return {name: pooled[name] for name in FIGURES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    start = Path(__file__).parent / "models" / START
    with tempfile.TemporaryDirectory() as scratch:
        copy_frames(given.data, Path(scratch))
        out, frames = Path(scratch) / "own.onnx", Path(scratch) / "measured"
        words = ["train", "regions", str(Path(scratch) / "taught"), "-o", str(out), "--start", str(start)]
        words += ["--steps", str(given.steps), "--simulated", "0"]
        before = measure(frames, start)
        print(before, flush=True)
        subprocess.run([sys.executable, "-m", "declump.cli", *words], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        minutes = (used.ru_utime + used.ru_stime) / 60
        after = measure(frames, out)
    lines = [f"| 2 unseen frames of another microscope | {' | '.join(FIGURES)} |", "|---" * (len(FIGURES) + 1) + "|"]
    for name, figures in (("as shipped", before), (f"taught further, {given.steps} steps", after)):
        lines.append(f"| {name} | {' | '.join(f'{figures[figure]:.3f}' for figure in FIGURES)} |")
    text = "\n".join(lines)
    print(text, f"\n{minutes:.1f} minutes of one processor")
    if given.write:
        how = f"`python benchmarks/fine_tuning.py --steps {given.steps} --write` at {commit()}; {minutes:.1f} minutes"
        replace_part(PAGE, PART, f"{text}\n\n{how} of training by one processor.")


if __name__ == "__main__":
    main()
