"""From an image file to arrays: PNG, JPEG and TIFF, told apart by their first bytes, not by their names."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ACCEPTED = "PNG, JPEG or TIFF"
_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
    b"II+\0": "TIFF",
    b"MM\0+": "TIFF",
}
_KEPT_MODES = ("1", "L", "LA", "I", "I;16", "I;16B", "F", "RGB", "RGBA")
"""Modes of Pillow whose pixels are taken as they are; palettes, CMYK and the like are converted to colour."""


def format_of(path: Path) -> str:
    """Tell which of the accepted formats a file has, or say why it has none."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give one {ACCEPTED} file")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; give the path of a {ACCEPTED} file")
    with path.open("rb") as file:
        start = file.read(8)
    if not start:
        raise ValueError(f"{path} is an empty file; give a {ACCEPTED} file")
    for signature, name in _SIGNATURES.items():
        if start.startswith(signature):
            return name
    raise ValueError(f"{path} is no image that declump reads; save it as {ACCEPTED}")


def decoded_pages(path: Path) -> Iterator[NDArray[Any]]:
    """Read the pages of a file one by one, each (H, W) or (H, W, channels), with the numbers that stand in the file."""
    name = format_of(path)
    try:
        yield from _tiff_pages(path) if name == "TIFF" else _pillow_pages(path, name)
    except MemoryError:
        raise
    except Exception as error:  # decoders raise whatever a damaged file leads them to
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(
            f"{path} cannot be read as {name} ({reason}); if it is damaged, save it again as PNG or TIFF"
        ) from error


def single_page(path: Path) -> NDArray[Any]:
    """Read the only page of a file; a file with more is refused."""
    pages = decoded_pages(path)
    page = next(pages)
    if next(pages, None) is not None:
        raise ValueError(f"{path} has more than one page; give a file with a single one, or save the page you mean")
    return page


def _tiff_pages(path: Path) -> Iterator[NDArray[Any]]:
    import tifffile

    with _complaints() as complaints, tifffile.TiffFile(path) as file:
        pages: list[Any] = list(file.pages)
        if complaints or not pages:
            raise ValueError(complaints[0] if complaints else "it has no page")
        stacked = len(pages) == 1 and len(file.series) == 1 and file.series[0].ndim > pages[0].ndim
        if not all(_decodes(page) for page in pages):
            yield from _pillow_pages(path, "TIFF")
        elif stacked:
            yield from file.series[0].asarray().reshape(-1, *pages[0].shape)
        else:
            # tifffile calls a bool array white where it is False, yet writes it, and is read back, the other way round.
            raw = pages[0].dtype == np.bool_ and pages[0].software.startswith("tifffile")
            for page in pages:
                yield _tiff_page(page, inverted=page.photometric.name == "MINISWHITE" and not raw)


def _decodes(page: Any) -> bool:
    """Whether tifffile itself knows the compression; for LZW, JPEG and fax it would want another library."""
    import tifffile

    return page.compression in tifffile.TIFF.DECOMPRESSORS and page.predictor in tifffile.TIFF.UNPREDICTORS


def _tiff_page(page: Any, *, inverted: bool) -> NDArray[Any]:
    pixels = np.asarray(page.asarray())
    if page.axes == "SYX":
        pixels = np.moveaxis(pixels, 0, -1)
    elif page.axes not in ("YX", "YXS"):
        raise ValueError(f"its axes are {page.axes}, not rows and columns")
    if inverted:
        return np.asarray(~pixels if pixels.dtype.kind in "bu" else pixels.max() - pixels)
    if page.photometric.name == "PALETTE":
        colours = np.asarray(page.colormap).T
        return np.asarray((colours // 257).astype(np.uint8)[pixels])
    return pixels


def _pillow_pages(path: Path, name: str) -> Iterator[NDArray[Any]]:
    import warnings

    from PIL import Image, ImageSequence

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        with Image.open(path, formats=(name,)) as file:
            for page in ImageSequence.Iterator(file):
                kept = page.mode in _KEPT_MODES
                yield np.array(page if kept else page.convert("RGBA" if page.has_transparency_data else "RGB"))


@contextmanager
def _complaints() -> Iterator[list[str]]:
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
