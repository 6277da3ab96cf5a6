"""Whether a colour frame and its grey copy give the same cells, and how many there are of what.

    python benchmarks/colour.py --data ../shared/data/colour --overlays overlays --write

Nobody drew the cells of these frames, so nothing here says what is right; a frame and its grey copy show the same
cells, though, and what is found in one and not in the other is wrong in one of them. Two cells are the same if their
Dice is over 0.7. The frames are not shipped, nor are the overlays: look at them, and count.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

import declump
from declump import io, pictures
from declump.measurements import measure
from declump.regions.channels import LUMINANCE
from pages import ROOT, commit, replace_part


def f1_of_cells(one: declump.Segmentation, other: declump.Segmentation) -> tuple[int, int]:
    """Cells that both have, and cells of both together."""
    if not len(one) or not len(other):
        return 0, len(one) + len(other)
    score = declump.score(one.masks, other.masks)
    return int(np.sum(score.dice[score.good] > 0.7)), len(one) + len(other)


def to_grey(image: np.ndarray) -> np.ndarray:
    """The grey copy of a frame in colour."""
    return np.rint(image[..., :3] @ LUMINANCE).astype(np.uint8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data" / "colour")
    parser.add_argument("--frames", nargs="*", help="names of frames; by default all")
    parser.add_argument("--overlays", type=Path, help="folder for pictures of what was found")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/results.md")
    options = parser.parse_args()
    lines = [
        f"`python benchmarks/colour.py --write`, commit {commit()}; F1 of cells (Dice over 0.7) between a frame and "
        "its grey copy.",
        "",
        "| frame | cells, colour | cells, grey | F1 | leukocytes | other spots | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    total = np.zeros(2, int)
    for path in sorted(options.data.glob("*.jpg")):
        if options.frames and path.stem not in options.frames:
            continue
        image = np.asarray(io.read_image(path))
        colour, grey = declump.segment(image), declump.segment(to_grey(image))
        both = np.array(f1_of_cells(colour, grey))
        total += both
        kinds = colour.others.kinds if colour.others is not None else ()
        verdict = measure(colour, image).image["quality"]
        lines.append(
            f"| {path.stem} | {len(colour)} | {len(grey)} | {2 * both[0] / max(both[1], 1):.2f} "
            f"| {kinds.count('leukocyte')} | {kinds.count('other')} | {verdict} |"
        )
        print(lines[-1], flush=True)
        if options.overlays:
            options.overlays.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pictures.overlay(colour, image, nuclei=True, others=True)).save(
                options.overlays / f"{path.stem}.png"
            )
    lines.append(f"| all | | | {2 * total[0] / max(total[1], 1):.3f} | | | |")
    print(lines[-1])
    if options.write:
        replace_part("docs/results.md", "colour", "\n".join(lines))


if __name__ == "__main__":
    main()
