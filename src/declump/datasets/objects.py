"""Objects without nuclei: a folder of masks for each picture; a cell's nucleus taken as the object is one, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump.datasets.annotated import AnnotatedImage
from declump.datasets.nuclei import centre
from declump.images.reading import read_image, read_mask_stack
from declump.shapes import contours

STAR_LIKE = 0.95
"""Least Dice of an object with what its radii from its seed enclose for it to be star-like."""
_LAYOUT = "ID/image.png and ID/objects/*.png"


def read(folder: str | Path) -> Iterator[AnnotatedImage]:
    """Read pictures with one mask an object, sorted by name.

    Parameters
    ----------
    folder : str or Path
        Holds a folder for each picture with ``image.png`` and ``objects/*.png`` (or TIFF), the whole mask of one object
        each, in sorted order; masks may overlap.

    Returns
    -------
    iterator of AnnotatedImage
        Named as the folders; see :func:`declump.datasets.objects.of_objects`. One picture is in memory at a time.

    Raises
    ------
    FileNotFoundError
        If there is no such folder, or one lacks its picture.
    ValueError
        If a picture cannot be read, has other than 8 bits a channel, or another size than its masks.
    """
    folder = Path(folder)
    frames = sorted(path.parent for path in folder.glob("*/objects") if path.is_dir())
    if not frames:
        raise FileNotFoundError(f"No folders of objects in {folder}; the reader of objects looks for {_LAYOUT}.")
    for frame in frames:
        if not (frame / "image.png").is_file():
            raise FileNotFoundError(f"No {frame / 'image.png'}; the reader of objects looks for {_LAYOUT}.")
    return (_read_frame(frame) for frame in frames)


def of_objects(name: str, image: NDArray[np.uint8], objects: NDArray[np.bool_]) -> AnnotatedImage:
    """Make the record of objects that have no nuclei: their seeds are their centroids.

    Parameters
    ----------
    name : str
    image : (H, W) or (H, W, 3) uint8
    objects : (N, H, W) bool
        The whole mask of each; none may be empty.

    Returns
    -------
    AnnotatedImage
        Without nuclei. A centroid that lies outside its object is moved to the object's nearest pixel.
    """
    empty = np.flatnonzero(~objects.any(axis=(1, 2)))
    if empty.size:
        raise ValueError(f"{name}: object {empty[0]} (counted from 0) has an empty mask; remove it or draw its mask.")
    seeds = np.array([centre(*np.nonzero(mask)) for mask in objects]).reshape(-1, 2)
    return AnnotatedImage(name, image, objects, np.zeros(objects.shape[1:], np.int32), seeds)


def nuclei_of(image: AnnotatedImage) -> AnnotatedImage:
    """Take the nuclei of the cells as the objects.

    Parameters
    ----------
    image : AnnotatedImage

    Returns
    -------
    AnnotatedImage
        Those that are star-like from their centroids; cells without a nucleus have none.
    """
    nuclei = image.nuclei
    record = of_objects(image.name, image.image, nuclei[nuclei.any(axis=(1, 2))])
    kept = [is_star_like(mask, seed) for mask, seed in zip(record.cells, record.seeds, strict=True)]
    return of_objects(image.name, image.image, record.cells[np.array(kept, dtype=bool)])


def is_star_like(mask: NDArray[np.bool_], seed: NDArray[np.float64]) -> bool:
    """Tell whether the radii (K,) from a seed say nearly all about a mask."""
    radii, _ = contours.outermost_crossings(mask, seed)
    enclosed = contours.to_mask(seed, radii, (mask.shape[0], mask.shape[1]))
    shared, both = np.count_nonzero(enclosed & mask), np.count_nonzero(enclosed) + np.count_nonzero(mask)
    return bool(2 * shared >= STAR_LIKE * both)


def _read_frame(frame: Path) -> AnnotatedImage:
    image = read_image(frame / "image.png")
    if image.dtype != np.uint8:
        raise ValueError(f"{frame / 'image.png'} has {image.dtype} pixels; save it with 8 bits a channel.")
    empty = not any((frame / "objects").iterdir())
    masks = np.zeros((0, *image.shape[:2]), bool) if empty else read_mask_stack(frame / "objects")
    return of_objects(frame.name, image, masks)
