"""How well two drawings of one cell agree: frames 014 and 017 of ISBI 2015 show partly the same cells, drawn anew.

    python benchmarks/drawn_twice.py --data ../shared/data --write --worst pictures

One frame is laid over the other by its picture alone (the shift at which they correlate best); every cell that is whole
in both is compared with the cell whose nucleus is nearest. How far people agree is as far as a method can be held to
what they drew. Beside it, how well declump agrees with them (true regions, each frame by a ray network that did not see
it); with ``--worst`` the cells on which it agrees least are drawn, to be looked at.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import imageio.v3 as imageio
import numpy as np
from scipy import ndimage

import declump
from declump.datasets import AnnotatedImage, isbi2015
from declump.evaluation import overlap_degree
from declump.evidence.proposals import propose_rays
from declump.models import read_card
from declump.regions import Regions
from pages import ROOT, commit, replace_part

FRAMES = ("frame014", "frame017")
LEAST_COMMON = 0.1
"""Share of a frame that two frames have at least in common."""
SAME_NUCLEUS = 5.0
"""Distance in pixels up to which two nuclei are one."""
EDGES = (0.25, 0.5, 0.75)
WORST = 10
MARGIN = 30
"""Pixels that a picture shows round a cell."""


def find_shift(one: np.ndarray, two: np.ndarray) -> tuple[int, int]:
    """Rows and columns by which a picture (H, W) has to be moved to lie over another."""
    height, width = one.shape
    room = (2 * height, 2 * width)
    spectra = [np.fft.rfft2(picture - picture.mean(), room) for picture in (one, two)]
    ones = np.fft.rfft2(np.ones_like(one), room)
    products, common = (np.fft.irfft2(a * b.conj(), room) for a, b in (spectra, (ones, ones)))
    likeness = np.where(common > LEAST_COMMON * one.size, products / np.maximum(common, 1), -np.inf)
    row, column = np.unravel_index(int(likeness.argmax()), room)
    return int(row) - (room[0] if row >= height else 0), int(column) - (room[1] if column >= width else 0)


def common_parts(shape: tuple[int, int], shift: tuple[int, int]) -> list[tuple[slice, slice]]:
    """Where in a picture, and where in the one that is moved by a shift over it, both show the same."""
    spans = [(max(by, 0), min(size, size + by), by) for size, by in zip(shape, shift, strict=True)]
    rows, columns = ((slice(low, high), slice(low - by, high - by)) for low, high, by in spans)
    return [(rows[which], columns[which]) for which in range(2)]


def find_whole(image: AnnotatedImage, part: tuple[slice, slice]) -> np.ndarray:
    """Numbers of the cells that lie wholly inside a part of an image and do not touch its border."""
    inner = tuple(slice(span.start + 1, span.stop - 1) for span in part)
    return np.flatnonzero(image.cells.sum(axis=(1, 2)) == image.cells[:, inner[0], inner[1]].sum(axis=(1, 2)))


def compare_drawings(one: AnnotatedImage, two: AnnotatedImage) -> tuple[np.ndarray, np.ndarray]:
    """Dice of the two drawings of every cell that is whole in both, and its overlap degree in the first."""
    pictures = [ndimage.gaussian_filter(image.image.astype(np.float64), 2) for image in (one, two)]
    shift = find_shift(pictures[0], pictures[1])
    parts = common_parts(pictures[0].shape, shift)
    likeness = np.corrcoef(*(picture[part].ravel() for picture, part in zip(pictures, parts, strict=True)))[0, 1]
    print(f"{two.name} is moved by {shift} over {one.name}; correlation there {likeness:.3f}")
    degrees, others = overlap_degree(one.cells), find_whole(two, parts[1])
    dice, hidden = [], []
    for cell in find_whole(one, parts[0]):
        distances = np.hypot(*(two.seeds[others] + shift - one.seeds[cell]).T)
        if distances.min(initial=np.inf) <= SAME_NUCLEUS:
            first, second = one.cells[cell][parts[0]], two.cells[others[distances.argmin()]][parts[1]]
            dice.append(2 * np.count_nonzero(first & second) / (first.sum() + second.sum()))
            hidden.append(degrees[cell])
    return np.array(dice), np.array(hidden)


@dataclass(frozen=True, eq=False)
class FoundCell:
    """A true cell (H, W), what declump found for it, their Dice, and how much of its outline others hide."""

    image: AnnotatedImage
    number: int
    found: np.ndarray
    dice: float
    hidden: float

    @property
    def name(self) -> str:
        """Frame and number, from 1."""
        return f"{self.image.name} {self.number + 1}"

    def draw(self) -> np.ndarray:
        """The image round the cell, bare and with the true outline (green) and the found one (orange)."""
        true = self.image.cells[self.number]
        rows, columns = np.nonzero(true | self.found)
        window = tuple(slice(max(span.min() - MARGIN, 0), span.max() + MARGIN) for span in (rows, columns))
        bare = np.repeat(self.image.image[window][..., None], 3, axis=2)
        drawn = bare.copy()
        for mask, colour in ((true[window], (0, 190, 0)), (self.found[window], (255, 120, 0))):
            drawn[mask & ~ndimage.binary_erosion(mask)] = colour
        return np.concatenate([bare, drawn], axis=1)


def find_cells(images: Sequence[AnnotatedImage], models: Path) -> list[FoundCell]:
    """Find the cells of all images that some ray network did not see, given true regions."""
    cells = []
    for rays in sorted(models.glob("rays-?.onnx")):
        held_out = set(read_card(rays)["held out"])
        prior = declump.learn_prior([image for image in images if image.name not in held_out])
        for image in (image for image in images if image.name in held_out):
            evidence = propose_rays(image.image, Regions(image.clump, image.nucleus_labels), model=rays)
            masks = declump.evolve(image.clump, image.seeds, evidence=evidence, prior=prior).masks
            dice = declump.score(image.cells, masks, matching="order").dice
            cells += [
                FoundCell(image, number, mask, *figures)
                for number, (mask, *figures) in enumerate(zip(masks, dice, overlap_degree(image.cells), strict=True))
            ]
    return cells


def line(label: str, dice: np.ndarray, hidden: np.ndarray) -> str:
    chosen = dice[hidden > 0]
    bins = np.digitize(hidden[hidden > 0], EDGES)
    groups = [chosen, *(chosen[bins == number] for number in range(4))]
    return f"| {label} | " + " | ".join(f"{group.mean():.3f} ({group.size})" for group in groups) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / "benchmarks" / "models")
    parser.add_argument("--worst", type=Path, help="folder for pictures of the worst cells")
    parser.add_argument("--write", action="store_true", help="put the table into docs/evidence.md")
    options = parser.parse_args()
    images = {image.name: image for image in isbi2015.read(options.data / "isbi2015")}
    text = [
        "| Dice (cells) | overlapping cells | (0, 1/4) | [1/4, 1/2) | [1/2, 3/4) | [3/4, 1] |",
        "|---" * 6 + "|",
        line("a second drawing, frames 014 and 017", *compare_drawings(*(images[name] for name in FRAMES))),
    ]
    cells = find_cells(list(images.values()), options.models)
    frames = len({cell.image.name for cell in cells})
    dice, hidden = (np.array([getattr(cell, figure) for cell in cells]) for figure in ("dice", "hidden"))
    text.append(line(f"declump, true regions, `rays`, {frames} unseen frames", dice, hidden))
    worst = sorted((cell for cell in cells if cell.hidden > 0), key=lambda cell: cell.dice)[:WORST]
    said = ", ".join(f"{cell.name} ({cell.dice:.2f})" for cell in worst)
    text += ["", f"The {WORST} worst: {said}."]
    text += ["", f"Measured by `python benchmarks/drawn_twice.py --write` at commit {commit()}."]
    print("\n".join(text))
    if options.worst is not None:
        options.worst.mkdir(parents=True, exist_ok=True)
        for cell in worst:
            imageio.imwrite(options.worst / f"{cell.name}.png", cell.draw())
    if options.write:
        replace_part("docs/evidence.md", "drawn twice", "\n".join(text))


if __name__ == "__main__":
    main()
