"""Readers of public data sets: each gives annotated images, whole masks of every cell included."""

from collections.abc import Iterator
from pathlib import Path

from declump.datasets import isbi2014, isbi2015
from declump.datasets.annotated import AnnotatedImage
from declump.datasets.nuclei import assign_nuclei

__all__ = ["AnnotatedImage", "assign_nuclei", "isbi2014", "isbi2015", "read"]


def read(folder: str | Path) -> Iterator[AnnotatedImage]:
    """Read a folder of annotated images in any layout that is known, told by the files in it.

    Parameters
    ----------
    folder : str or Path
        With the Matlab files of the ISBI 2014 challenge (:mod:`declump.datasets.isbi2014`), or one folder a frame as
        in the ISBI 2015 challenge, which is also our own layout (:mod:`declump.datasets.isbi2015`).

    Returns
    -------
    iterator of AnnotatedImage
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    return isbi2014.read(folder) if (folder / isbi2014.IMAGES_FILE).exists() else isbi2015.read(folder)
