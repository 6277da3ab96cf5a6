"""How well two drawings of one cell agree: frames 014 and 017 of ISBI 2015 show partly the same cells, drawn anew.

    python benchmarks/drawn_twice.py --data ../shared/data --write

One frame is laid over the other by its picture alone (the shift at which they correlate best); every cell that is whole
in both is compared with the cell whose nucleus is nearest. How far people agree is as far as a method can be held to
what they drew.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy import ndimage

from declump.datasets import AnnotatedImage, isbi2015
from declump.evaluation import overlap_degree
from evidence import cases_of, evolve_case, measure_way
from pages import ROOT, commit, replace_part

FRAMES = ("frame014", "frame017")
LEAST_COMMON = 0.1
"""Share of a frame that two frames have at least in common."""
SAME_NUCLEUS = 5.0
"""Distance in pixels up to which two nuclei are one."""
EDGES = (0.25, 0.5, 0.75)


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


def line(label: str, dice: np.ndarray, hidden: np.ndarray) -> str:
    chosen = dice[hidden > 0]
    bins = np.digitize(hidden[hidden > 0], EDGES)
    groups = [chosen, *(chosen[bins == number] for number in range(4))]
    return f"| {label} | " + " | ".join(f"{group.mean():.3f} ({group.size})" for group in groups) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / "benchmarks" / "models")
    parser.add_argument("--write", action="store_true", help="put the table into docs/evidence.md")
    options = parser.parse_args()
    images = {image.name: image for image in isbi2015.read(options.data / "isbi2015")}
    text = [
        "| Dice (cells) | overlapping cells | (0, 1/4) | [1/4, 1/2) | [1/2, 3/4) | [3/4, 1] |",
        "|---" * 6 + "|",
        line("a second drawing, frames 014 and 017", *compare_drawings(*(images[name] for name in FRAMES))),
    ]
    found, _ = measure_way(
        cases_of("ISBI 2015", options.data, options.models),
        ("true regions, `rays`", True, lambda case: evolve_case(case, case.true, "rays")),
    )
    text.append(line("declump, true regions, `rays`, the 4 unseen frames", found.dice, found.overlap_degree))
    text += ["", f"Measured by `python benchmarks/drawn_twice.py --write` at commit {commit()}."]
    print("\n".join(text))
    if options.write:
        replace_part("docs/evidence.md", "drawn twice", "\n".join(text))


if __name__ == "__main__":
    main()
