"""Slides, of which only the pixels that are asked for are read."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from declump._installation import how_to_install
from declump.errors import BROKEN, MissingExtraError, reason_of
from declump.images.decoding import collect_complaints, find_format
from declump.io import read_image, read_pixel_size
from declump.records.boxes import Box

OVERVIEW = 2048
"""Longest side in pixels of the small picture that is drawn."""
_GENERIC = "generic-tiff"
_ZARR_FILES = ("zarr.json", ".zattrs", ".zgroup")


class Slide(Protocol):
    """An image that may be larger than the memory.

    Attributes
    ----------
    shape : (H, W)
    pixel_size : (float, str) or None
        Micrometres a pixel and who says so, if the file does.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""

    @property
    def pixel_size(self) -> tuple[float, str] | None:
        """Micrometres a pixel and who says so, if the file does."""

    def read(self, box: Box) -> NDArray[Any]:
        """Read the pixels (h, w[, 3]) of a box."""

    def read_overview(self) -> NDArray[Any]:
        """Read every n-th pixel of the whole slide, to be drawn; no cell follows from it."""


@lru_cache(maxsize=2)
def open_slide(path: Path, level: int = 0) -> Slide:
    """Open a slide, once a process.

    Parameters
    ----------
    path : Path
        What OpenSlide reads (SVS, NDPI, MRXS, SCN, ...); a TIFF, BigTIFF or OME-TIFF, with or without a pyramid; an
        OME-Zarr folder; or a plain image.
    level : int
        Of its pyramid, 0 for the full resolution.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it cannot be read, or has no such level.
    """
    if not path.exists():
        raise FileNotFoundError(f"there is no slide at {path}")
    try:
        return _open(path, level)
    except (ValueError, FileNotFoundError, PermissionError):
        raise
    except (*BROKEN, OSError) as error:
        raise ValueError(f"{path} cannot be read as a slide ({reason_of(error)})") from error


def open_levels(path: Path, first: int = 0) -> list[Slide]:
    """Open a level of the pyramid of a slide and all that are smaller, the largest first."""
    levels = [open_slide(path, first)]
    while True:
        try:
            levels.append(open_slide(path, first + len(levels)))
        except ValueError:  # there is no further one
            return levels


def _open(path: Path, level: int) -> Slide:
    if path.is_dir():
        if not any((path / name).is_file() for name in _ZARR_FILES):
            raise ValueError(f"{path} is a folder, and no OME-Zarr one; give the file of a slide")
        return _open_zarr(path, level)
    openslide = import_library("openslide")
    vendor = openslide.OpenSlide.detect_format(path)
    if vendor is not None and vendor != _GENERIC:
        try:
            return OpenSlideFile(path, level, openslide.OpenSlide(path))
        except openslide.OpenSlideError as error:
            raise ValueError(f"{path} cannot be read as a slide ({reason_of(error)})") from error
    if find_format(path) == "TIFF":
        return _open_tiff(path, level)
    _check_level(path, level, 1)
    return ArraySlide(path, read_image(path), read_pixel_size(path))


def import_library(name: str) -> Any:
    """Import a library of the extra ``slides``, or say how to get it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"slides need {name}: {how_to_install('slides')}") from error


def _check_level(path: Path, level: int, count: int) -> None:
    if not 0 <= level < count:
        levels = "only level 0" if count == 1 else f"levels 0 to {count - 1}"
        raise ValueError(f"{path} has {levels}, and none of number {level}; choose another --level")


@dataclass(frozen=True, eq=False)
class OpenSlideFile:
    """A slide that OpenSlide reads."""

    path: Path
    level: int
    handle: Any

    def __post_init__(self) -> None:
        """Refuse a level that there is not."""
        _check_level(self.path, self.level, self.handle.level_count)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        width, height = self.handle.level_dimensions[self.level]
        return height, width

    @property
    def pixel_size(self) -> tuple[float, str] | None:
        """By the vendor's metadata, times what the level is smaller by."""
        across, down = (self.handle.properties.get(f"openslide.mpp-{axis}") for axis in "xy")
        if across is None or down is None or abs(float(across) - float(down)) > 0.01 * float(across):
            return None
        return float(across) * self.handle.level_downsamples[self.level], "slide metadata"

    def read(self, box: Box) -> NDArray[np.uint8]:
        """Read red, green and blue; what the scanner left out is white."""
        openslide, larger = import_library("openslide"), self.handle.level_downsamples[self.level]
        corner = (round(box.left * larger), round(box.top * larger))
        height, width = box.shape
        try:
            region = self.handle.read_region(corner, self.level, (width, height))
        except openslide.OpenSlideError as error:
            raise ValueError(
                f"{self.path} is damaged: rows {box.top} to {box.bottom}, columns {box.left} to {box.right} cannot be "
                f"read ({reason_of(error)})"
            ) from error
        return _drop_alpha(np.asarray(region))

    def read_overview(self) -> NDArray[Any]:
        """Read strips of every n-th row and column."""
        return _read_strips(self)


def _drop_alpha(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Lay pixels (h, w, 4) on white."""
    if pixels.shape[2] == 3 or (pixels[..., 3] == 255).all():
        return np.ascontiguousarray(pixels[..., :3])
    alpha = pixels[..., 3:].astype(np.uint16)
    return ((pixels[..., :3] * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class ArraySlide:
    """A slide that can be sliced like an array: in memory, or in chunks of a file.

    Attributes
    ----------
    path : Path
    pixels : array-like
        (H, W), (H, W, C) or, with ``planar``, (C, H, W).
    pixel_size : (float, str), optional
    planar : bool
        Whether channels come first.
    """

    path: Path
    pixels: Any
    pixel_size: tuple[float, str] | None = None
    planar: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.pixels.shape[1:] if self.planar else self.pixels.shape[:2]
        return int(height), int(width)

    def read(self, box: Box) -> NDArray[Any]:
        """Read what there is of a box."""
        try:
            found = np.asarray(self.pixels[:, *box.slices] if self.planar else self.pixels[box.slices])
        except (*BROKEN, OSError) as error:
            raise ValueError(
                f"{self.path} is damaged: rows {box.top} to {box.bottom}, columns {box.left} to {box.right} cannot be "
                f"read ({reason_of(error)})"
            ) from error
        return _arrange(found, self.planar)

    def read_overview(self) -> NDArray[Any]:
        """Read strips of every n-th row and column."""
        return _read_strips(self)


def _read_strips(slide: Slide) -> NDArray[Any]:
    height, width = slide.shape
    step = max(-(-max(height, width) // OVERVIEW), 1)
    strip = max(2**24 // max(width, 1) // step, 1) * step
    parts = [
        slide.read(Box(top, 0, min(top + strip, height), width))[::step, ::step] for top in range(0, height, strip)
    ]
    return np.concatenate(parts)


def _arrange(pixels: NDArray[Any], planar: bool) -> NDArray[Any]:
    """Give pixels as (h, w) or (h, w, 3)."""
    pixels = np.moveaxis(pixels, 0, -1) if planar else pixels
    if pixels.ndim == 3:
        pixels = pixels[..., 0] if pixels.shape[2] < 3 else pixels[..., :3]
    return np.ascontiguousarray(pixels)


def _open_tiff(path: Path, level: int) -> ArraySlide:
    with collect_complaints():  # what is lost is told of where it is read
        file = import_library("tifffile").TiffFile(path)
        try:
            slide = _read_levels(path, level, file.series[0])
        except BaseException:
            file.close()
            raise
    weakref.finalize(slide, file.close)
    return slide


def _read_levels(path: Path, level: int, series: Any) -> ArraySlide:
    zarr = import_library("zarr")
    _check_level(path, level, len(series.levels))
    chosen, axes = series.levels[level], series.levels[level].axes
    if axes not in ("YX", "YXS", "CYX", "SYX", "YXC"):
        raise ValueError(f"{path} has the axes {axes}; a slide has rows, columns and at most one of colours")
    pixels, rows = zarr.open(series.aszarr(level=level), mode="r"), axes.index("Y")
    size, larger = read_pixel_size(path), series.levels[0].shape[rows] / chosen.shape[rows]
    told = None if size is None else (size[0] * larger, size[1])
    return ArraySlide(path, pixels, told, axes[0] in "CS")


def _open_zarr(path: Path, level: int) -> ArraySlide:
    zarr = import_library("zarr")
    group = zarr.open_group(path, mode="r")
    attributes = dict(group.attrs)
    scales = attributes.get("ome", attributes).get("multiscales")
    if not scales:
        raise ValueError(f"{path} is no OME-Zarr image: it has no 'multiscales'")
    datasets, axes = scales[0]["datasets"], [axis["name"] for axis in scales[0]["axes"]]
    _check_level(path, level, len(datasets))
    names = "".join(axes).replace("t", "").replace("z", "")
    if names not in ("yx", "cyx") or len(axes) != len(names):
        raise ValueError(f"{path} has the axes {', '.join(axes)}; a slide has rows, columns and at most one of colours")
    return ArraySlide(path, group[datasets[level]["path"]], _read_zarr_size(scales[0], level), names == "cyx")


def _read_zarr_size(scales: Any, level: int) -> tuple[float, str] | None:
    units = [axis.get("unit") for axis in scales["axes"]]
    steps = scales["datasets"][level].get("coordinateTransformations", [{}])[0].get("scale")
    return (float(steps[-1]), "OME metadata") if steps and units[-1] == "micrometer" else None
