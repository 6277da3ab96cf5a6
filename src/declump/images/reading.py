"""Images, masks and labels from files, and seeds from labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.errors import BROKEN
from declump.images.decoding import (
    count_planes,
    decode_pages,
    decode_plane,
    decode_single_page,
    find_format,
    measure_plane,
)
from declump.images.focus import fuse_stack
from declump.images.stacks import Page, pages_of, stack_planes

PIECES = 2
"""Labels in more pieces than this, on average, are no labels but the shades of a photograph or of a softened mask."""
_MASK_FILES = (".png", ".tif", ".tiff")


def read_image(path: str | Path, *, page: Page | None = None) -> NDArray[Any]:
    """Read a picture.

    Parameters
    ----------
    path : str or Path
        A PNG, JPEG or TIFF file, grey or colour; an alpha channel is dropped.
    page : int or str, optional
        Which image of a TIFF file, counted from 1: see :func:`count_images`. Several, as ``"1-20"``, are the planes of
        a focus stack, which are fused (:func:`declump.fuse_stack`). By default it must be the only one.

    Returns
    -------
    (H, W) or (H, W, 3)
        With the numbers of the file: bool, integers or floats.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it cannot be read, has several pages or another number of channels, or holds NaN or infinity.
    """
    planes = read_stack(path, page=page)
    return planes[0] if len(planes) == 1 else fuse_stack(planes)[0]


def read_stack(path: str | Path, *, page: Page | None = None) -> NDArray[Any]:
    """Read the planes of a focus stack, or the only plane of another picture; see :func:`read_image`.

    Returns
    -------
    (Z, H, W) or (Z, H, W, 3)
    """
    path = Path(path)
    pages = pages_of(path, page)
    if page is None and count_planes(path) > 1:
        raise ValueError(f"{path} has more than one page; say which one you mean, or save it as a file of its own")
    return stack_planes([_split_opacity(decode_plane(path, number), path)[0] for number in pages], path)


def count_images(path: str | Path) -> int:
    """Count the images in a file.

    Every page of a TIFF file is one, but for reduced copies of another. In an OME-TIFF every focus (Z) and moment (T)
    is an image of its own, and three channels (C) together are red, green and blue.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it cannot be read.
    """
    return count_planes(Path(path))


def read_size(path: str | Path, *, page: Page | None = None) -> tuple[int, int]:
    """Read how many rows and columns a picture has, without the picture; see :func:`read_image`."""
    return measure_plane(Path(path), pages_of(Path(path), page)[0])


def read_mask(path: str | Path) -> NDArray[np.bool_]:
    """Read a mask.

    Parameters
    ----------
    path : str or Path
        A PNG, JPEG or TIFF file with one page and at most two values, of which the larger is the foreground; a single
        value is foreground unless it is 0. A colour mask has a black background; fully transparent pixels are
        background.

    Returns
    -------
    (H, W) bool

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it cannot be read, or has more than two values.
    """
    return _to_mask(decode_single_page(Path(path)), Path(path))


def read_labels(path: str | Path) -> NDArray[np.int64]:
    """Read labels: one number a nucleus, or a mask whose connected pieces (8-neighbours) are the nuclei.

    Parameters
    ----------
    path : str or Path
        A PNG or TIFF file with one page. With at most two values it is a mask, see :func:`read_mask`, and may be a JPEG
        too. Otherwise every integer above 0, or every colour but black, is a label.

    Returns
    -------
    (H, W) int64
        0 is background. The labels of the file are kept; pieces and colours are counted from 1.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it cannot be read, or holds negative numbers or fractions, or is a photograph.
    """
    path = Path(path)
    values = _to_single_channel(decode_single_page(path), path)
    if np.unique(values).size <= 2:
        from scipy import ndimage

        pieces, _ = ndimage.label(_split_levels(values, path), structure=np.ones((3, 3)))
        return np.asarray(pieces, dtype=np.int64)
    if find_format(path) == "JPEG":
        raise ValueError(f"{path} is a JPEG, which blurs labels into their neighbours; save the labels as PNG or TIFF")
    labels = values.astype(np.int64)
    if (labels != values).any() or labels.min() < 0:
        raise ValueError(f"{path} holds negative numbers or fractions; labels are whole numbers, with 0 as background")
    if _count_pieces(labels) > PIECES * np.unique(labels[labels > 0]).size:
        raise ValueError(f"{path} looks like a photograph or a softened mask; give labels, or threshold the mask first")
    return labels


def read_mask_stack(path: str | Path) -> NDArray[np.bool_]:
    """Read one mask a cell; masks may overlap.

    Parameters
    ----------
    path : str or Path
        A TIFF file with a page for each cell; a folder of PNG or TIFF files with one mask each, in sorted order; or an
        ``.npz`` file with an array ``masks``.

    Returns
    -------
    (N, H, W) bool

    Raises
    ------
    FileNotFoundError
        If there is nothing of that name.
    ValueError
        If it holds no masks, or masks of different sizes.
    """
    path = Path(path)
    if path.is_dir():
        sources = sorted(entry for entry in path.iterdir() if entry.suffix.lower() in _MASK_FILES)
        if not sources:
            raise ValueError(f"the folder {path} holds no PNG or TIFF file; give a folder with one mask a cell")
        masks = [read_mask(source) for source in sources]
    elif path.suffix.lower() == ".npz" and path.is_file():
        masks = [_to_mask(page, path) for page in _load_masks(path)]
    else:
        masks = [_to_mask(page, path) for page in decode_pages(path)]
    sizes = sorted({mask.shape for mask in masks})
    if len(sizes) > 1:
        raise ValueError(f"the masks in {path} differ in size, {sizes[0]} and {sizes[1]}; give masks of one image")
    return np.stack(masks)


def _split_opacity(page: NDArray[Any], path: Path) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Split a page into (H, W) or (H, W, 3) colour and the alpha channel, if it has one."""
    if page.dtype.kind not in "biuf":
        raise ValueError(f"{path} has {page.dtype} pixels; save it with whole or floating-point numbers")
    if page.size == 0:
        raise ValueError(f"{path} has no pixels; give an image of at least one")
    if page.dtype.kind == "f" and not np.isfinite(page).all():
        raise ValueError(f"{path} has NaN or infinite pixels; replace them by numbers first")
    channels = page.shape[2] if page.ndim == 3 else 1
    if channels > 4:
        raise ValueError(f"{path} has {channels} channels; give a grey image or one in red, green and blue")
    colour = page if page.ndim == 2 else page[..., 0] if channels <= 2 else page[..., :3]
    return np.ascontiguousarray(colour), page[..., -1] if channels in (2, 4) else None


def _to_single_channel(page: NDArray[Any], path: Path) -> NDArray[Any]:
    """Give the values of a grey page, or number the colours of another from 1; black and transparent pixels are 0."""
    pixels, opacity = _split_opacity(page, path)
    grey = pixels.ndim == 2 or bool((pixels == pixels[..., :1]).all())
    values = pixels if pixels.ndim == 2 else pixels[..., 0] if grey else _number_colours(pixels)
    if opacity is not None:
        values = np.where(opacity > 0, values, values.dtype.type(0))
    if not grey and values.min() > 0 and values.max() > 1:
        raise ValueError(
            f"{path} has colours but no black or transparent pixel; masks and labels have a black background"
        )
    return values


def _number_colours(pixels: NDArray[Any]) -> NDArray[np.int64]:
    coloured = pixels.any(axis=2)
    codes = np.zeros(np.count_nonzero(coloured), dtype=np.int64)
    for channel in np.moveaxis(pixels, -1, 0):
        levels, rank = np.unique(channel[coloured], return_inverse=True)
        codes = np.unique(codes * levels.size + rank, return_inverse=True)[1]
    numbers = np.zeros(coloured.shape, dtype=np.int64)
    numbers[coloured] = 1 + codes
    return numbers


def _to_mask(page: NDArray[Any], path: Path) -> NDArray[np.bool_]:
    return _split_levels(_to_single_channel(page, path), path)


def _split_levels(values: NDArray[Any], path: Path) -> NDArray[np.bool_]:
    if values.dtype == np.bool_:
        return values
    levels = np.unique(values)
    if levels.size > 2:
        raise ValueError(f"{path} has {levels.size} different values, a mask has two; threshold it first")
    empty = levels.size == 1 and levels[0] == 0
    return np.zeros(values.shape, np.bool_) if empty else np.asarray(values == levels[-1])


def _count_pieces(labels: NDArray[np.int64]) -> int:
    """Count the connected pieces (8-neighbours) of equal label."""
    from skimage.measure import label

    return int(label(labels, connectivity=2, return_num=True)[1])


def _load_masks(path: Path) -> NDArray[Any]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            masks = np.asarray(archive["masks"])
    except (*BROKEN, OSError) as error:
        raise ValueError(f"{path} is no .npz file with an array 'masks' of numbers; write one by np.savez") from error
    if masks.ndim != 3 or len(masks) == 0:
        raise ValueError(f"'masks' in {path} has shape {masks.shape}; give at least one mask, as (N, H, W)")
    return masks
