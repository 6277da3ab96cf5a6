"""Nuclei of 15 real colour frames that the makers of declump marked by eye: for training, and to measure with.

    python benchmarks/colour_marks.py --out colour
    declump train judge --data colour ...

Nobody has annotated these frames (../shared/data/colour). benchmarks/colour_marks.csv has, in pixels, the places of all
spots to which a judge gave a probability of 0.1 or more and which looked like the nucleus of an epithelial cell, or
like nothing that could be told. Two readings of 2,027 crops, neither by a cytologist, went into it: a spot is a nucleus
if both said so, unclear if one did or could not tell; all others are leukocytes, debris, folds.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from declump import io
from declump.datasets.marked import UNKNOWN, MarkedNuclei
from pages import ROOT

MARKS = Path(__file__).with_suffix(".csv")
FOLDER = "colour"
"""Name of the folder of the frames, which goes before theirs."""


def read(data: Path) -> Iterator[MarkedNuclei]:
    """Read the frames of a folder with what is marked in them."""
    with MARKS.open(newline="") as file:
        marks = list(csv.DictReader(file))
    for path in sorted(data.glob("*.jpg")):
        own = [mark for mark in marks if mark["frame"] == path.stem]
        places = np.array([[float(mark["row"]), float(mark["column"])] for mark in own]).reshape(-1, 2)
        clear = np.array([mark["kind"] == "nucleus" for mark in own], bool)
        image = np.asarray(io.read_image(path))
        rows, columns = np.ogrid[: image.shape[0], : image.shape[1]]
        unknown = np.zeros(image.shape[:2], bool)
        for (row, column), mark in zip(places, own, strict=True):
            if mark["kind"] == "unclear":
                unknown |= (rows - row) ** 2 + (columns - column) ** 2 <= (1.2 * float(mark["radius"])) ** 2
        yield MarkedNuclei(f"{FOLDER}/{path.stem}", image, places[clear], unknown=unknown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / ".." / "shared" / "data" / "colour")
    parser.add_argument("--out", type=Path, required=True, help="folder for frames and marks, for training")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for frame in read(options.data):
        name = Path(frame.name).name
        Image.fromarray(frame.image).save(options.out / f"{name}.png")
        assert frame.unknown is not None
        Image.fromarray(np.where(frame.unknown, np.uint8(255), np.uint8(0))).save(options.out / f"{name}{UNKNOWN}")
        np.savetxt(options.out / f"{name}.csv", frame.points, fmt="%g", delimiter=",")
        print(f"{name}: {len(frame.points)} nuclei")


if __name__ == "__main__":
    main()
