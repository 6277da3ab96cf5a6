"""A focus stack fused here, against the frame that the makers of the data fused from the same planes.

python benchmarks/stacks.py [--data ../shared/data] [--write]

Compares pixels (PSNR), and the cells that ``declump.segment`` finds on both; beside them what the best single plane
gives, and how near either comes to the truth. ``--write`` puts the figures into docs/command-line.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import declump
from agreement import Agreement
from declump import io
from pages import commit, replace_part

PAGE, PART = "docs/command-line.md", "stack figures"
FRAME = "isbi2015/frame011"
REGIONS, RAYS = "regions-b.onnx", "rays-b.onnx"
"""Models that did not learn from this frame, in benchmarks/models."""


def psnr(image: np.ndarray, other: np.ndarray) -> float:
    return float(10 * np.log10(255**2 / np.mean((image.astype(float) - other) ** 2)))


def find_cells(image: np.ndarray) -> np.ndarray:
    models = Path(__file__).parent / "models"
    return declump.segment(image, regions=models / REGIONS, rays=models / RAYS).masks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    folder = given.data / FRAME
    planes = [io.read_image(path) for path in sorted((folder / "stack").glob("*.png"))]
    theirs, truth = io.read_image(folder / "image.png"), io.read_mask_stack(folder / "cells")
    ours, _ = declump.fuse_stack(planes)
    best = max(planes, key=lambda plane: psnr(plane, theirs))
    images = {"fused by declump": ours, "fused by the challenge": theirs, "best single plane": best}
    cells = {name: find_cells(image) for name, image in images.items()}
    lines = [
        f"| {len(planes)} planes of {FRAME} | PSNR with theirs | Dice of cells found on theirs | Dice of true cells |",
        "|---|---|---|---|",
    ]
    for name, image in images.items():
        same = name == "fused by the challenge"
        nearness = "" if same else f"{psnr(image, theirs):.1f} dB"
        shared = "" if same else str(Agreement.of(cells["fused by the challenge"], cells[name]))
        lines.append(f"| {name} | {nearness} | {shared} | {Agreement.of(truth, cells[name])} |")
    text = "\n".join(lines)
    print(text)
    if given.write:
        replace_part(PAGE, PART, f"{text}\n\n`python benchmarks/stacks.py --write` at {commit()}.")


if __name__ == "__main__":
    main()
