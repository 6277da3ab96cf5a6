"""Whether uneven light on an image changes its cells.

    python benchmarks/light.py --data ../shared/data --write

Real frames of ISBI 2015 are darkened as microscopes do it, and segmented by models that did not see them, once
corrected and once not. Of a round field and of a shadow only the cells count that lie in the light to nine tenths.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from unittest import mock

import numpy as np

import declump
from declump.datasets import AnnotatedImage, isbi2014, isbi2015
from declump.evaluation import Score, pool
from declump.images.reading import read_image
from declump.regions.channels import ImageChannels
from pages import ROOT, commit, replace_part
from scale import unseen_models

LIT, WHOLE = 0.5, 0.9
"""A pixel with more light than this is lit; a cell counts of which more than this share is."""


def place_pixels(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row and column of the pixels as shares of the sides, and distance from the middle in half sides."""
    rows, columns = (places / (size - 1) for places, size in zip(np.indices(shape), shape, strict=True))
    return rows, columns, np.hypot(2 * rows - 1, 2 * columns - 1)


LIGHTS: dict[str, Callable[[tuple[int, int]], np.ndarray]] = {
    "even": np.ones,
    "falls to 0.73 at the sides, 0.54 in the corners": lambda shape: (1 + place_pixels(shape)[2] ** 2 / 4) ** -1.5,
    "falls to 0.5 from left to right": lambda shape: 1 - place_pixels(shape)[1] / 2,
    "a shadow over the left third": lambda shape: np.clip((place_pixels(shape)[1] - 0.12) / 0.25, 0.08, 1),
    "a round field, black outside": lambda shape: (place_pixels(shape)[2] < 1).astype(float),
}


def score_in_light(frame: AnnotatedImage, light: np.ndarray, models: dict[str, Path], corrected: bool) -> Score:
    """Score the cells of a frame that lie in the light, found with the light corrected or not."""
    image = np.rint(frame.image * light).astype(frame.image.dtype)
    as_it_falls = mock.patch("declump.regions.channels.find_light", lambda _: None)
    with warnings.catch_warnings(), mock.MagicMock() if corrected else as_it_falls:
        warnings.simplefilter("ignore", UserWarning)
        found = declump.segment(image, **models)
    lit = np.array([np.mean(light[mask] > LIT) > WHOLE for mask in frame.cells])
    return declump.score(frame.cells[lit], found.masks)


def count_uneven(data: Path) -> list[str]:
    """Rows of the images, as they are, that are taken for unevenly lit."""
    sets: dict[str, Iterable[tuple[str, np.ndarray]]] = {
        name: ((image.name, image.image) for image in reader.read(data / name.lower().replace(" ", "")))
        for name, reader in (("ISBI 2015", isbi2015), ("ISBI 2014", isbi2014))
    }
    for name, files in (
        ("EDF", sorted((data / "edf").glob("EDF???.png"))),
        ("Cervix93", sorted((data / "cervix93").glob("*.png"))),
        ("colour frames", sorted((data / "colour").glob("*.jpg"))),
    ):
        sets[name] = ((file.stem, read_image(file)) for file in files)
    rows = ["| images as they are | number | taken for unevenly lit |", "|---|---|---|"]
    for name, images in sets.items():
        uneven = [(label, ImageChannels(image).exposure.light is not None) for label, image in images]
        rows.append(f"| {name} | {len(uneven)} | {', '.join(label for label, found in uneven if found) or 'none'} |")
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--write", action="store_true", help="put the table into docs/results")
    chosen = parser.parse_args()
    frames = [(frame, unseen_models(frame.name)) for frame in isbi2015.read(chosen.data / "isbi2015")]
    lines = [
        f"`python benchmarks/light.py --write`, commit {commit()}; ISBI 2015, end to end, unseen frames.",
        "",
        "| light | cells | corrected: Dice, all cells | FNo | FDo | AJI | not corrected: Dice | FNo | FDo | AJI |",
        "|---" * 10 + "|",
    ]
    for name, make in LIGHTS.items():
        scores = [
            pool(
                score_in_light(frame, make(frame.image.shape), models, corrected)
                for frame, models in frames
                if models is not None
            )
            for corrected in (True, False)
        ]
        figures = [f"{value:.3f}" for s in scores for value in (s.dice_all, s.fno, s.fdo, s.aji)]
        lines.append(f"| {name} | {len(scores[0].dice)} | " + " | ".join(figures) + " |")
        print(lines[-1], flush=True)
    lines += ["", *count_uneven(chosen.data)]
    if chosen.write:
        replace_part("docs/results.md", "light", "\n".join(lines))


if __name__ == "__main__":
    main()
