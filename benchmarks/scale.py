"""Whether the size of an image, or what is said of its pixels, changes its cells.

    python benchmarks/scale.py --data ../shared/data --write

Real frames of ISBI 2015 are segmented at half, twice and three times their size, and with pixel sizes that are wrong,
by models that did not see them; cells are scored at the original size. With ``--counts`` Cervix93 and real colour
frames, where no cell is known, are looked at by their count, and colour against its own grey copy by the F1 of cells.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from skimage.transform import resize

import declump
from declump.evaluation import Score, pool
from declump.images.reading import read_image
from declump.models import read_card
from declump.regions.channels import LUMINANCE
from pages import ROOT, commit, replace_part

MODELS = ROOT / "benchmarks" / "models"
SIZES = (0.5, 1.0, 2.0, 3.0)
PIXEL_SIZES = (0.185, 0.25)
SAME = 0.7
"""Two cells are the same if their Dice is higher."""


def segment_resized(image: np.ndarray, size: float, **how: Any) -> declump.Segmentation:
    """Segment an image made larger or smaller; give the cells at its own size."""
    shape = tuple(round(side * size) for side in image.shape[:2])
    seen = image
    if size != 1:
        seen = resize(
            image, (*shape, *image.shape[2:]), order=1, anti_aliasing=size < 1, preserve_range=True
        ).astype(image.dtype)  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = declump.segment(seen, **how)
    return declump.Segmentation(image.shape[:2], (found.seeds + 0.5) / size - 0.5, found.radii / size, found.clump)


def unseen_models(name: str) -> dict[str, Path] | None:
    """The models of the fold that kept an image aside; None where there is no such fold."""
    for fold in "ab":
        if name in read_card(MODELS / f"regions-{fold}.onnx").get("held out", []):
            return {part: MODELS / f"{part}-{fold}.onnx" for part in ("regions", "rays", "judge")}
    return None


def score_frames(data: Path) -> list[str]:
    """Rows of ISBI 2015: sizes, then pixel sizes."""
    ways: dict[str, dict[str, Any]] = {f"{size:g} times the size": {"size": size} for size in SIZES}
    ways |= {f"`pixel_size={size:g}`": {"size": 1.0, "pixel_size": size} for size in PIXEL_SIZES}
    scores: dict[str, list[Score]] = {name: [] for name in ways}
    for frame in declump.datasets.isbi2015.read(data / "isbi2015"):
        models = unseen_models(frame.name)
        if models is None:
            continue
        for name, how in ways.items():
            found = segment_resized(frame.image, **how, **models)
            scores[name].append(declump.score(frame.cells, found.masks))
            print(frame.name, name, f"{scores[name][-1].dice_all:.3f}", len(found), flush=True)
    rows = ["| ISBI 2015, end to end, unseen frames | Dice over all cells | FNo | FDo | AJI |", "|---|---|---|---|---|"]
    for name, values in scores.items():
        joined = pool(values)
        rows.append(f"| {name} | {joined.dice_all:.3f} | {joined.fno:.3f} | {joined.fdo:.3f} | {joined.aji:.3f} |")
    return rows


def count_frames(data: Path) -> list[str]:
    """Rows of frames without known cells: how many are found at each size, and in grey."""
    files = sorted((data / "cervix93").glob("frame*.png"))[::24] + sorted((data / "colour").glob("*.jpg"))[::5]
    rows = [
        "| cells found in | half the size | as it is | twice | F1, halved against as it is | F1, grey copy |",
        "|---|---|---|---|---|---|",
    ]
    for file in files:
        image = read_image(file)
        half, usual, twice = (segment_resized(image, size) for size in (0.5, 1.0, 2.0))
        grey = ""
        if image.ndim == 3:
            copy = (image[..., :3] @ LUMINANCE).astype(np.uint8)
            grey = f"{_agreement(usual, segment_resized(copy, 1.0)):.2f}"
        rows.append(
            f"| {file.parent.name}/{file.stem} | {len(half)} | {len(usual)} | {len(twice)} "
            f"| {_agreement(usual, half):.2f} | {grey} |"
        )
        print(rows[-1], flush=True)
    return rows


def _agreement(first: declump.Segmentation, second: declump.Segmentation) -> float:
    """F1 of the cells of two results of one image."""
    if not len(first) or not len(second):
        return float(len(first) == len(second))
    same = int(np.sum(declump.score(first.masks, second.masks).dice > SAME))
    return 2 * same / (len(first) + len(second))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--counts", action="store_true", help="also frames where no cell is known")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/results.md")
    chosen = parser.parse_args()
    lines = score_frames(chosen.data)
    if chosen.counts:
        lines += ["", *count_frames(chosen.data)]
    print("\n".join(lines))
    if chosen.write:
        said = f"`python benchmarks/scale.py --write`, commit {commit()}."
        replace_part("docs/results.md", "scale", "\n".join([said, "", *lines]))


if __name__ == "__main__":
    main()
