"""``cells.parquet`` of a slide: a million cells in a file of which any window is read at once.

Cells lie along a Hilbert curve, so that those of a window lie together, in groups of rows whose extents are told in the
metadata of the file. A cell is its seed, its radii and those of its nucleus, in sixteenths of a pixel, and its
measurements.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.errors import BROKEN, reason_of
from declump.records.segmentation import Segmentation

FILE = "cells.parquet"
RECORD_FILE, RECORD_FORMAT = "record.json", "declump slide"
"""What results of a slide follow from, and what that file says it is."""
RADIUS_UNIT = 1 / 16
"""Pixels that radii are whole numbers of."""
NUCLEUS_RAYS = 64
"""Radii of the outline of a nucleus."""
METADATA = b"declump"
"""Key of the metadata of the file."""
BOX = ("top", "left", "bottom", "right")
"""Columns with the extent of a cell in pixels, the last row and column not included."""
PLACE = ("id", "clump", "seed_row", "seed_column", *BOX, "at_cut")
OUTLINES = ("radii", "nucleus_radii")
NOT_NUMBERS = ("id", "clump", "warnings")
"""Columns of measurements that are not kept as numbers."""


def is_slide_results(folder: str | Path) -> bool:
    """Whether a folder holds results of ``declump slide``."""
    try:
        told = json.loads((Path(folder) / RECORD_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and told.get("format") == RECORD_FORMAT


@dataclass(frozen=True, eq=False)
class SlideCells:
    """Cells of a slide, or of a window of it.

    Attributes
    ----------
    shape : (H, W)
        Of the slide.
    ids : (N,) int64
    seeds : (N, 2) int64
        Row and column in the slide.
    radii : (N, K) float64
        In pixels.
    nucleus_radii : (N, 64) float64
        From the seed; 0 where the nucleus is not known.
    columns : dict of str to (N,) arrays
        All else that is told of each.
    """

    shape: tuple[int, int]
    ids: NDArray[np.int64]
    seeds: NDArray[np.int64]
    radii: NDArray[np.float64]
    nucleus_radii: NDArray[np.float64]
    columns: dict[str, NDArray[Any]]

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.ids)

    def to_segmentation(self, top: int = 0, left: int = 0, shape: tuple[int, int] | None = None) -> Segmentation:
        """Give the cells as those of an image (H, W) that is the part of the slide from a corner on."""
        places = (self.seeds - np.array([top, left])).astype(np.float64)
        names, clump = np.unique(self.columns["clump"], return_inverse=True)
        del names
        return Segmentation(shape or self.shape, places, self.radii, clump.astype(np.int64))


@dataclass(frozen=True, eq=False)
class SlideResult:
    """The cells of a slide in a file, of which windows are read.

    Attributes
    ----------
    path : Path
        Of ``cells.parquet``.
    """

    path: Path

    @cached_property
    def _file(self) -> Any:
        import pyarrow.parquet

        return pyarrow.parquet.ParquetFile(self.path)

    @cached_property
    def _told(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self._file.schema_arrow.metadata[METADATA])
        return told

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the slide in pixels."""
        height, width = self._told["shape"]
        return int(height), int(width)

    @property
    def statistics(self) -> dict[str, float | None]:
        """What was taken from the slide as a whole."""
        return dict(self._told["statistics"])

    def __len__(self) -> int:
        """Return the number of cells."""
        return int(self._file.metadata.num_rows)

    @cached_property
    def _groups(self) -> NDArray[np.int64]:
        return np.array(self._told["groups"], np.int64).reshape(-1, 4)

    @property
    def columns(self) -> list[str]:
        """Names of all columns."""
        return list(self._file.schema_arrow.names)

    def read_window(
        self,
        top: int = 0,
        left: int = 0,
        bottom: int | None = None,
        right: int | None = None,
        *,
        columns: Sequence[str] | None = None,
    ) -> SlideCells:
        """Read the cells that share a pixel with a window.

        Parameters
        ----------
        top, left, bottom, right : int, optional
            Rows and columns of the slide, the last ones not included; by default all of it.
        columns : sequence of str, optional
            What to read beside the outlines; by default everything.

        Raises
        ------
        ValueError
            For a column that there is not.
        """
        bottom, right = self.shape[0] if bottom is None else bottom, self.shape[1] if right is None else right
        return self._read(self.find_groups(top, left, bottom, right), (top, left, bottom, right), columns)

    def find_groups(self, top: int, left: int, bottom: int, right: int) -> list[int]:
        """Numbers of the groups of rows with cells that may meet a window."""
        extents = self._groups
        near = (extents[:, 0] < bottom) & (extents[:, 2] > top) & (extents[:, 1] < right) & (extents[:, 3] > left)
        return np.flatnonzero(near).tolist()

    def read_columns(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Read some columns of all cells, and no outlines."""
        table = self._file.read(columns=list(names))
        return {name: table[name].to_numpy() for name in names}

    @property
    def record(self) -> str:
        """Digest of the record that the cells follow from."""
        return str(self._told["record"])

    @property
    def groups(self) -> int:
        """Number of groups of rows that the cells lie in."""
        return len(self._groups)

    def read_group(self, group: int) -> SlideCells:
        """Read the cells of a group of rows, without measurements: for who wants all cells, one after the other."""
        return self._read([group], (0, 0, *self.shape), ())

    def _read(self, groups: list[int], window: tuple[int, int, int, int], columns: Sequence[str] | None) -> SlideCells:
        top, left, bottom, right = window
        asked = [name for name in self.columns if name not in OUTLINES] if columns is None else list(columns)
        unknown = [name for name in asked if name not in self.columns]
        if unknown:
            raise ValueError(f"{self.path} has no column {unknown[0]!r}; it has {', '.join(self.columns)}")
        names = list(dict.fromkeys([*PLACE, *OUTLINES, *asked]))
        table = self._file.read_row_groups(groups, columns=names)
        place = {name: table[name].to_numpy() for name in BOX}
        inside = (place["top"] < bottom) & (place["bottom"] > top) & (place["left"] < right) & (place["right"] > left)
        read = {name: table[name].to_numpy()[inside] for name in names if name not in OUTLINES}
        return SlideCells(
            self.shape,
            read["id"].astype(np.int64),
            np.column_stack([read["seed_row"], read["seed_column"]]).astype(np.int64),
            _to_radii(table["radii"], inside),
            _to_radii(table["nucleus_radii"], inside),
            read,
        )


def open_slide_result(folder: str | Path) -> SlideResult:
    """Open the cells that ``declump slide`` found.

    Parameters
    ----------
    folder : str or Path
        Of the results, or ``cells.parquet`` itself.

    Returns
    -------
    SlideResult
        Nothing but its head is read before a window is asked for.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no result of a slide.
    """
    path = Path(folder)
    path = path / FILE if path.is_dir() else path
    if not path.is_file():
        raise FileNotFoundError(f"there is no {FILE} of a slide at {folder}")
    result = SlideResult(path)
    try:
        _ = result.shape, result._groups
    except (*BROKEN, OSError) as error:
        raise ValueError(f"{path} is no result of 'declump slide' ({reason_of(error)})") from error
    return result


def _to_radii(column: Any, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    parts = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    rays = column.type.list_size
    flat = np.concatenate(parts) if parts else np.empty(0, np.uint16)
    return np.asarray(flat.reshape(-1, rays)[chosen] * RADIUS_UNIT, np.float64)
