"""Label images: a flat folder of them, one number an object."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from declump.datasets.annotated import AnnotatedImage
from declump.datasets.objects import of_objects
from declump.images.reading import read_labels

FILES = (".png", ".tif", ".tiff")


def read(folder: str | Path) -> Iterator[AnnotatedImage]:
    """Read label images, sorted by name.

    Parameters
    ----------
    folder : str or Path
        Holds PNG or TIFF files as :func:`declump.io.read_labels` takes them: every number above 0 is an object; in a
        mask with two values every connected piece is one.

    Returns
    -------
    iterator of AnnotatedImage
        Named as the files. The picture is the mask of all objects, 0 and 255; seeds as in
        :func:`declump.datasets.objects.of_objects`.

    Raises
    ------
    FileNotFoundError
        If the folder holds no such file.
    ValueError
        If a file cannot be read as labels.
    """
    files = list_files(folder)
    if not files:
        raise FileNotFoundError(f"No PNG or TIFF file in {folder}; the reader of labels looks for label images there.")
    return (_read_annotated(path) for path in files)


def list_files(folder: str | Path) -> list[Path]:
    """Give the files of a folder that may be label images, sorted."""
    return sorted(path for path in Path(folder).iterdir() if path.is_file() and path.suffix.lower() in FILES)


def _read_annotated(path: Path) -> AnnotatedImage:
    labels = read_labels(path)
    numbers = np.unique(labels[labels > 0])
    image = np.where(labels > 0, 255, 0).astype(np.uint8)
    return of_objects(path.name, image, np.asarray(labels == numbers[:, None, None]))
