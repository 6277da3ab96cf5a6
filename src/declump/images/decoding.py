"""From an image file to arrays: PNG, JPEG, TIFF and a few more, told apart by their first bytes, not by their names."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from declump.errors import UnreadableFileError, printable, raise_ending

ACCEPTED = "PNG, JPEG or TIFF"
_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
    b"II+\0": "TIFF",
    b"MM\0+": "TIFF",
    b"BM": "BMP",
    b"RIFF": "WEBP",
    b"\0\0\0\x0cjP  ": "JPEG2000",
    b"\xff\x4f\xff\x51": "JPEG2000",
}
ENDINGS = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".jp2", ".j2k")
"""What names of files that can be read end on."""
_TURNS: dict[int, Callable[[NDArray[Any]], NDArray[Any]]] = {
    2: lambda pixels: pixels[:, ::-1],
    3: lambda pixels: pixels[::-1, ::-1],
    4: lambda pixels: pixels[::-1],
    5: lambda pixels: pixels.swapaxes(0, 1),
    6: lambda pixels: np.rot90(pixels, -1),
    7: lambda pixels: pixels[::-1, ::-1].swapaxes(0, 1),
    8: lambda pixels: np.rot90(pixels),
}
"""How pixels are laid out again that a camera stored turned or mirrored, by the number that EXIF and TIFF give it."""
MAX_PIXELS = 178_000_000
"""Of an image in a file: more would not fit into the memory of most machines, and Pillow refuses it, too."""
_PARTS = "divide it, or find its cells by 'declump slide', which reads a TIFF in parts"
_ORIENTATION, _SIDEWAYS = 274, (5, 6, 7, 8)
"""Number of the tag that says how an image is stored, and its values where rows are columns."""
_KEPT_MODES = ("1", "L", "LA", "I", "I;16", "I;16B", "F", "RGB", "RGBA")
"""Modes of Pillow whose pixels are taken as they are; palettes, CMYK and the like are converted to colour."""


def find_format(path: Path) -> str:
    """Tell which of the accepted formats a file has, or say why it has none."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give one {ACCEPTED} file")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; give the path of a {ACCEPTED} file")
    with path.open("rb") as file:
        start = file.read(8)
    if not start:
        raise UnreadableFileError(f"{path} is an empty file; give a {ACCEPTED} file")
    for signature, name in _SIGNATURES.items():
        if start.startswith(signature):
            return name
    raise UnreadableFileError(f"{path} is no image that declump reads; save it as {ACCEPTED}")


def decode_pages(path: Path) -> Iterator[NDArray[Any]]:
    """Read the pages of a file one by one, each (H, W) or (H, W, channels), with the numbers that stand in the file."""
    name = find_format(path)
    with _explain_errors(path, name):
        if name != "TIFF":
            yield from _decode_with_pillow(path, name)
            return
        with open_tiff(path) as file:
            for page in _list_pages(file):
                yield page.decode(path)


def decode_single_page(path: Path) -> NDArray[Any]:
    """Read the only page of a file; a file with more is refused."""
    pages = decode_pages(path)
    page = next(pages)
    if next(pages, None) is not None:
        raise ValueError(f"{path} has more than one page; give a file with a single one, or save the page you mean")
    return page


def count_planes(path: Path) -> int:
    """Count the images in a file, see :func:`decode_plane`."""
    name = find_format(path)
    if name != "TIFF":
        return 1
    with _explain_errors(path, name), open_tiff(path) as file:
        return len(_list_planes(file, path))


def list_places(path: Path) -> list[tuple[int, ...]]:
    """Give the numbers of the images in a file, those of one place at several heights of the focus (Z) together."""
    name = find_format(path)
    if name != "TIFF":
        return [(1,)]
    with _explain_errors(path, name), open_tiff(path) as file:
        planes = _list_planes(file, path)
    places: dict[tuple[int, ...], list[int]] = {}
    for number, plane in enumerate(planes, start=1):
        places.setdefault((-number,) if plane.place is None else plane.place, []).append(number)
    return [tuple(numbers) for numbers in places.values()]


def decode_plane(path: Path, number: int) -> NDArray[Any]:
    """Read one image of a file, counted from 1, without decoding the others.

    In a TIFF every page is an image, but for reduced copies of another. In an OME-TIFF every focus and moment is one;
    three channels together are red, green and blue.
    """
    name = find_format(path)
    if name != "TIFF":
        return decode_single_page(path)
    with _explain_errors(path, name), open_tiff(path) as file:
        return _find_plane(file, path, number).decode(path)


def measure_plane(path: Path, number: int) -> tuple[int, int]:
    """Rows and columns of one image of a file, counted from 1, without decoding it."""
    name = find_format(path)
    with _explain_errors(path, name):
        if name == "TIFF":
            with open_tiff(path) as file:
                return _find_plane(file, path, number).shape
        with _open_with_pillow(path, name) as file:
            turned = file.getexif().get(_ORIENTATION, 1) in _SIDEWAYS
            return (file.width, file.height) if turned else (file.height, file.width)


@contextmanager
def open_tiff(path: Path) -> Iterator[Any]:
    """Open a TIFF whose pages can all be found."""
    import tifffile

    with collect_complaints() as complaints, tifffile.TiffFile(path) as file:
        pages = len(file.pages)
        if complaints or not pages:
            raise ValueError(complaints[0] if complaints else "it has no page")
        yield file


class _RefusedError(UnreadableFileError):
    """What is wrong is not the file but what it holds; the sentence is complete."""


@contextmanager
def _explain_errors(path: Path, name: str) -> Iterator[None]:
    try:
        yield
    except (MemoryError, _RefusedError):
        raise
    except Exception as error:  # decoders raise whatever a damaged file leads them to
        raise_ending(error)
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UnreadableFileError(
            f"{path} cannot be read as {name} ({reason}); if it is damaged, save it again as PNG or TIFF"
        ) from error


@dataclass(frozen=True)
class _Plane:
    """Pages of a TIFF that make one image: a single one, or one a channel; or a layer of a page that is a stack.

    Planes with the same ``place``, which is a series and a number in it, are one place at several heights of the focus.
    """

    pages: tuple[Any, ...]
    inverted: bool = False
    layer: int | None = None
    place: tuple[int, int] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        keyframe = self.pages[0].keyframe
        turned = self.layer is None and _orientation(keyframe) in _SIDEWAYS
        sides = keyframe.imagelength, keyframe.imagewidth
        return (sides[1], sides[0]) if turned else sides

    def decode(self, path: Path) -> NDArray[Any]:
        if any(page is None for page in self.pages):
            raise ValueError("a page that its description tells of is missing")
        _check_pixels(path, *self.shape)
        if self.layer is not None:
            import tifffile

            (page,) = self.pages
            return np.array(tifffile.memmap(path, mode="r").reshape(-1, *page.shape)[self.layer])
        channels = [self._decode_page(path, page) for page in self.pages]
        if len(channels) == 1:
            return channels[0]
        if len(channels) != 3 or channels[0].ndim != 2:
            raise _RefusedError(
                f"{path} has {len(channels)} channels; give a grey image or one in red, green and blue, or save the "
                "channel you mean"
            )
        return np.stack(channels, axis=-1)

    def _decode_page(self, path: Path, page: Any) -> NDArray[Any]:
        if _can_decode(page.keyframe):
            return _decode_tiff_page(page, inverted=self.inverted)
        return next(_decode_with_pillow(path, "TIFF", page.index))


def _list_pages(file: Any) -> Iterator[_Plane]:
    """Every page as it is stored, whatever a description says of it."""
    pages = list(file.pages)
    stacked = len(pages) == 1 and len(file.series) == 1 and file.series[0].ndim > pages[0].ndim
    if stacked and _can_decode(pages[0]):
        layers = math.prod(file.series[0].shape) // math.prod(pages[0].shape)
        yield from (_Plane((pages[0],), layer=layer) for layer in range(layers))
        return
    # tifffile calls a bool array white where it is False, yet writes it, and is read back, the other way round.
    raw = pages[0].dtype == np.bool_ and pages[0].software.startswith("tifffile")
    for page in pages:
        yield _Plane((page,), inverted=page.photometric.name == "MINISWHITE" and not raw)


def _list_planes(file: Any, path: Path) -> list[_Plane]:
    """Pages that are images: those of an OME-TIFF by its description, of another all but reduced copies."""
    if file.is_ome:
        _check_description(file, path)
        return [plane for index, series in enumerate(file.series) for plane in _group_channels(series, index)]
    planes = [plane for plane in _list_pages(file) if not plane.pages[0].is_reduced]
    if file.is_imagej and len(file.series) == 1:
        series = file.series[0]
        outer = series.axes[: -len(series.keyframe.axes)]
        places = _number_places(outer, series.shape[: len(outer)])
        if "C" not in outer and len(places) == len(planes):
            return [
                replace(plane, place=None if place is None else (0, place))
                for plane, place in zip(planes, places, strict=True)
            ]
    return planes


def _number_places(axes: str, shape: Sequence[int]) -> list[int | None]:
    """Number from 1 the places of planes along some axes: those that differ in Z alone have one number."""
    if "Z" not in axes or shape[axes.index("Z")] < 2:
        return [None] * math.prod(shape)
    others = [1 if axis == "Z" else size for axis, size in zip(axes, shape, strict=True)]
    numbers = np.arange(1, math.prod(others) + 1).reshape(others)
    return [int(number) for number in np.broadcast_to(numbers, tuple(shape)).ravel()]


def _find_plane(file: Any, path: Path, number: int) -> _Plane:
    planes = _list_planes(file, path)
    if not 1 <= number <= len(planes):
        raise _RefusedError(f"{path} has {len(planes)} pages, counted from 1; there is none of number {number}")
    return planes[number - 1]


def _check_description(file: Any, path: Path) -> None:
    """Refuse an OME-TIFF that tells of more planes than it can hold, or of planes in other files."""
    root = ElementTree.fromstring(file.ome_metadata)
    elements = [(element.tag.rpartition("}")[2], element) for element in root.iter()]
    for tag, element in elements:
        other = element.get("FileName", path.name)
        if tag == "UUID" and element.text != root.get("UUID") and other != path.name:
            raise _RefusedError(
                f"{path} has planes in another file ({printable(other)}), which is not opened; save them in one file"
            )
    samples = max(page.keyframe.samplesperpixel for page in file.pages[:1])
    told = sum(math.prod(int(element.get(f"Size{axis}", 1)) for axis in "ZCT") for tag, element in elements
               if tag == "Pixels")  # fmt: skip
    if told > samples * len(file.pages):
        raise _RefusedError(f"{path} tells of {told} planes, but its pages are {len(file.pages)}; save it again")


def _group_channels(series: Any, index: int) -> Iterator[_Plane]:
    """Group the pages of one image series, the one of this number, by their channels."""
    inner = series.keyframe.axes
    outer = series.axes[: -len(inner)]
    if not series.axes.endswith(inner) or series.keyframe.axes not in ("YX", "YXS", "SYX"):
        raise ValueError(f"its axes are {series.axes}, not rows and columns")
    numbers = np.arange(len(series.pages)).reshape([*series.shape[: len(outer)], 1])
    if "C" in outer:
        numbers = np.moveaxis(numbers[..., 0], outer.index("C"), -1)
    sizes = {axis: size for axis, size in zip(outer, series.shape, strict=False) if axis != "C"}
    places = _number_places("".join(sizes), list(sizes.values()))
    for group, place in zip(numbers.reshape(-1, numbers.shape[-1]), places, strict=True):
        yield _Plane(
            tuple(series.pages[int(number)] for number in group), place=None if place is None else (index, place)
        )


def _can_decode(page: Any) -> bool:
    """Whether tifffile itself knows the compression; for LZW, JPEG and fax it would want another library."""
    import tifffile

    return page.compression in tifffile.TIFF.DECOMPRESSORS and page.predictor in tifffile.TIFF.UNPREDICTORS


def _decode_tiff_page(page: Any, *, inverted: bool) -> NDArray[Any]:
    pixels, axes = np.asarray(page.asarray()), page.keyframe.axes
    if axes == "SYX":
        pixels = np.moveaxis(pixels, 0, -1)
    elif axes not in ("YX", "YXS"):
        raise ValueError(f"its axes are {axes}, not rows and columns")
    pixels = np.asarray(_TURNS.get(_orientation(page.keyframe), np.asarray)(pixels))
    if inverted:
        return np.asarray(~pixels if pixels.dtype.kind in "bu" else pixels.max() - pixels)
    if page.keyframe.photometric.name == "PALETTE":
        colours = np.asarray(page.keyframe.colormap).T
        return np.asarray((colours // 257).astype(np.uint8)[pixels])
    return pixels


def _orientation(page: Any) -> int:
    """How a page of a TIFF is stored, by its tag; 1 for upright."""
    tag = page.tags.get(_ORIENTATION)
    return 1 if tag is None else int(tag.value)


def _decode_with_pillow(path: Path, name: str, first: int = 0) -> Iterator[NDArray[Any]]:
    from PIL import ImageOps, ImageSequence

    with _open_with_pillow(path, name) as file:
        for page in islice(ImageSequence.Iterator(file), first, None):
            kept = page.mode in _KEPT_MODES
            picture = page if kept else page.convert("RGBA" if page.has_transparency_data else "RGB")
            yield np.array(ImageOps.exif_transpose(picture))


@contextmanager
def _open_with_pillow(path: Path, name: str) -> Iterator[Any]:
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        try:
            with Image.open(path, formats=(name,)) as file:
                _check_pixels(path, file.height, file.width)
                yield file
        except Image.DecompressionBombError as error:
            raise _RefusedError(f"{path} has more pixels than can be read at once ({error}); {_PARTS}") from error


def _check_pixels(path: Path, height: int, width: int) -> None:
    if height * width > MAX_PIXELS:
        raise _RefusedError(
            f"{path} has {height} x {width} pixels, more than the {MAX_PIXELS // 10**6} million that are read at once; "
            + _PARTS
        )


@contextmanager
def collect_complaints() -> Iterator[list[str]]:
    """Collect what tifffile logs as errors, of which a page cut off is one, instead of having it printed."""
    found: list[str] = []

    def collect(record: logging.LogRecord) -> bool:
        if record.levelno >= logging.ERROR:
            found.append(record.getMessage())
        return False

    logger = logging.getLogger("tifffile")
    logger.addFilter(collect)
    try:
        yield found
    finally:
        logger.removeFilter(collect)
