"""The same cells, whatever asks for them: share that is alike, to the byte, between drivers, files, tiles and workers.

    python benchmarks/parity.py ../shared/data/isbi2015/frame004/image.png ../shared/data/cervix93/frame000.png

Each image is segmented in memory, as a slide (flat and pyramidal TIFF, OME-Zarr; tiles of 320, 512, 1024 pixels; 0, 1
and 3 workers), and by a review that opens it, makes an edit, takes it back and saves. A cell is alike if its seed, its
radii and every numeric column are the same bytes as in memory (columns as float32, as a slide stores them).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray

import declump
from declump.batch import Options
from declump.batch.sources import Source
from declump.io import open_slide_result
from declump.io.formats.csv_table import DIGITS, read_numbers
from declump.io.slide_results import NOT_NUMBERS
from declump.review.edits import DeleteCell
from declump.review.images import ReviewedImage, prepare_image
from declump.slides import SlideOptions, segment_slide

TILES, WORKERS = (320, 512, 1024), (0, 1, 3)
SAID = ("verdict", "label")
"""Columns of what a person said, that only a review has."""
FILES = ("flat.tif", "pyramid.tif", "image.zarr")


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells in the order of their seeds: radii and, by name, their numeric columns."""

    seeds: NDArray[np.float64]
    radii: NDArray[np.float64]
    columns: dict[str, NDArray[np.float64]]

    @classmethod
    def sort(cls, seeds: NDArray[Any], radii: NDArray[Any], columns: dict[str, NDArray[Any]]) -> Cells:
        """Bring cells into the order of their seeds."""
        order = np.lexsort(np.asarray(seeds).T[::-1])
        numbers = {name: np.asarray(values)[order].astype(np.float64) for name, values in columns.items()}
        return cls(np.asarray(seeds, np.float64)[order], np.asarray(radii, np.float64)[order], numbers)

    def rows(self, *, outlines_only: bool = False) -> set[bytes]:
        """Bytes of each cell."""
        parts = [self.seeds, self.radii]
        if not outlines_only:
            # A slide stores single precision; adding 0 makes a plain 0 of a negative one.
            parts += [self.columns[name][:, None].astype(np.float32) + np.float32(0) for name in sorted(self.columns)]
        return {b"".join(part[row].tobytes() for part in parts) for row in range(len(self.seeds))}

    def printed(self) -> Cells:
        """Give columns with as many digits as a table of text has."""
        shown = {
            name: np.array([float(f"{value:.{DIGITS}g}") for value in values.tolist()])
            for name, values in self.columns.items()
        }
        return Cells(self.seeds, self.radii, shown)

    def find_different(self, other: Cells) -> list[str]:
        """Names of the columns that differ between cells with the same seed and radii."""
        one, two = self._places(), other._places()
        pairs = np.array([(one[key], two[key]) for key in one.keys() & two.keys()], int).reshape(-1, 2)
        return [
            name
            for name, values in self.columns.items()
            if not np.array_equal(
                values[pairs[:, 0]].astype(np.float32),
                other.columns[name][pairs[:, 1]].astype(np.float32),
                equal_nan=True,
            )
        ]

    def _places(self) -> dict[bytes, int]:
        """Row of each cell by its seed and radii."""
        outlines = zip(self.seeds, self.radii, strict=True)
        return {seed.tobytes() + radii.tobytes(): row for row, (seed, radii) in enumerate(outlines)}


def share_alike(one: Cells, two: Cells, *, outlines_only: bool = False) -> float:
    """Cells that are the same bytes in both, as a share of all cells of either; 1 where there is none."""
    if not outlines_only and one.columns.keys() != two.columns.keys():
        return 0.0
    first, second = one.rows(outlines_only=outlines_only), two.rows(outlines_only=outlines_only)
    return len(first & second) / len(first | second) if first | second else 1.0


def segment_in_memory(image: NDArray[Any]) -> Cells:
    """Cells of an image by ``segment`` and ``measure``."""
    result = declump.segment(image)
    return _from_table(result, declump.measure(result, image).cells)


def segment_as_slide(path: Path, out: Path, tile: int, workers: int) -> Cells:
    """Cells of a file by ``declump slide``."""
    segment_slide(path, out, SlideOptions(tile=tile), formats=(), workers=workers)
    cells = open_slide_result(out).read_window()
    names = [name for name in declump.measure(_no_cells(cells.shape)).cells if name not in NOT_NUMBERS]
    return Cells.sort(cells.seeds, cells.radii, {name: cells.columns[name] for name in names})


def review_image(path: Path, out: Path, *, edit: bool) -> Cells:
    """Cells of a file by a review that opens and saves it, and that makes an edit and takes it back between."""
    source, options = Source(path, path.stem), Options(formats=("contours", "csv"))
    prepare_image(source, options, out)
    reviewed = ReviewedImage(source, options, out)
    if edit and len(reviewed.session.numbers):
        reviewed.session.make(DeleteCell(reviewed.session.numbers[0]))
        reviewed.session.evolve()
        reviewed.session.undo()
    reviewed.save()
    reviewed.close()
    columns = {name: values for name, values in read_numbers(out / "cells.csv").items() if name not in SAID}
    return _from_table(declump.io.read(out / "contours.json"), columns)


def write_files(image: NDArray[Any], folder: Path) -> dict[str, Path]:
    """Write the pixels of an image in all formats of ``FILES``."""
    import zarr

    colour = image.ndim == 3
    kind = "rgb" if colour else "minisblack"
    tifffile.imwrite(folder / FILES[0], image, photometric=kind)
    with tifffile.TiffWriter(folder / FILES[1]) as file:
        file.write(image, tile=(256, 256), photometric=kind, subifds=2)
        for level in (2, 4):
            file.write(np.ascontiguousarray(image[::level, ::level]), tile=(256, 256), photometric=kind, subfiletype=1)
    group = zarr.open_group(folder / FILES[2], mode="w", zarr_format=2)
    planes = np.moveaxis(image, -1, 0) if colour else image
    for level in range(2):
        data = np.ascontiguousarray(planes[..., :: 2**level, :: 2**level])
        group.create_array(str(level), data=data, chunks=(*([1] if colour else []), 256, 256))
    axes = [*([{"name": "c"}] if colour else []), {"name": "y"}, {"name": "x"}]
    steps = [[*([1] if colour else []), 2**level, 2**level] for level in range(2)]
    datasets = [
        {"path": str(level), "coordinateTransformations": [{"type": "scale", "scale": step}]}
        for level, step in enumerate(steps)
    ]
    group.attrs["multiscales"] = [{"version": "0.4", "axes": axes, "datasets": datasets}]
    return {name: folder / name for name in FILES}


def matrix(image: NDArray[Any], combinations: Iterator[tuple[str, int, int]]) -> Iterator[tuple[str, Cells]]:
    """Give the name and the cells of each way to segment an image; the first is in memory."""
    yield "memory", segment_in_memory(image)
    with tempfile.TemporaryDirectory() as scratch:
        files = write_files(image, Path(scratch))
        for name, tile, workers in combinations:
            out = Path(scratch) / f"{name}-{tile}-{workers}"
            yield f"{name}, tile {tile}, {workers} workers", segment_as_slide(files[name], out, tile, workers)
        for edit in (False, True):
            title = "review, " + ("edited, undone, saved" if edit else "opened, saved")
            yield title, review_image(files[FILES[0]], Path(scratch) / f"review-{edit}", edit=edit)


def every_combination() -> Iterator[tuple[str, int, int]]:
    """Each file, tile and number of workers once with each other's first, as all would take hours."""
    yield from ((name, TILES[0], WORKERS[0]) for name in FILES)
    yield from ((FILES[1], tile, WORKERS[0]) for tile in TILES[1:])
    yield from ((FILES[1], TILES[1], workers) for workers in WORKERS[1:])


def _from_table(result: declump.Segmentation, table: dict[str, Any]) -> Cells:
    return Cells.sort(result.seeds, result.radii, {k: v for k, v in table.items() if k not in NOT_NUMBERS})


def _no_cells(shape: tuple[int, int]) -> declump.Segmentation:
    return declump.Segmentation(shape, np.empty((0, 2)), np.empty((0, 360)), np.empty(0, np.int64))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images", nargs="+", type=Path)
    parser.add_argument("--least", type=float, default=1.0, help="exit with 1 where less is alike")
    arguments = parser.parse_args()
    worst = 1.0
    for path in arguments.images:
        ways = matrix(declump.io.read_image(path), every_combination())
        _, known = next(ways)
        print(f"{path}: {len(known.seeds)} cells in memory", flush=True)
        for name, cells in ways:
            # The review reads its columns from a table of text.
            expected = known.printed() if name.startswith("review") else known
            outlines, all_ = share_alike(expected, cells, outlines_only=True), share_alike(expected, cells)
            worst = min(worst, all_)
            differ = expected.find_different(cells)
            print(f"  {name}: outlines {outlines:.3f}, with all columns {all_:.3f} {', '.join(differ)}", flush=True)
    sys.exit(worst < arguments.least)


if __name__ == "__main__":
    main()
