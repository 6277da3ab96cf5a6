"""ISBI 2014 overlapping cervical cytology challenge: the training images in the challenge's own Matlab files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from declump.datasets.annotated import AnnotatedImage

IMAGES_FILE = "isbi_train.mat"
TRUTH_FILE = "isbi_train_GT.mat"


def read(folder: str | Path) -> Iterator[AnnotatedImage]:
    """Read the training images of the challenge, in the order of the files.

    Parameters
    ----------
    folder : str or Path
        Folder with ``isbi_train.mat`` (cell array ``ISBI_Train`` of images) and ``isbi_train_GT.mat``
        (``train_Cytoplasm``: for each image a cell array of whole masks; ``train_Nuclei``: the union of its nuclei).

    Returns
    -------
    iterator of AnnotatedImage
        Named ``train00``, ``train01``, ... One image is in memory at a time beside the files' contents.

    Raises
    ------
    FileNotFoundError
        If one of the two files is missing.
    ValueError
        If a file is no Matlab file of that layout.
    """
    folder = Path(folder)
    images = _read_cell_array(folder / IMAGES_FILE, "ISBI_Train")
    cells = _read_cell_array(folder / TRUTH_FILE, "train_Cytoplasm")
    nuclei = _read_cell_array(folder / TRUTH_FILE, "train_Nuclei")
    if not len(images) == len(cells) == len(nuclei):
        raise ValueError(
            f"{folder}: {len(images)} images, but cells of {len(cells)} and nuclei of {len(nuclei)}; "
            f"{IMAGES_FILE} and {TRUTH_FILE} must come from the same release."
        )
    return (_to_annotated(index, images[index], cells[index], nuclei[index]) for index in range(len(images)))


def _to_annotated(index: int, image: NDArray[Any], cells: NDArray[Any], nuclei: NDArray[Any]) -> AnnotatedImage:
    name = f"train{index:02d}"
    masks = np.zeros((cells.size, *image.shape[:2]), bool)
    for mask, cell in zip(masks, cells.flat, strict=True):
        if cell.shape != mask.shape:
            raise ValueError(f"{name}: a cell's mask has shape {cell.shape}, its image {mask.shape}; they must agree.")
        np.not_equal(cell, 0, out=mask)
    return AnnotatedImage.from_union(name, image, masks, nuclei != 0)


def _read_cell_array(path: Path, variable: str) -> list[NDArray[Any]]:
    from scipy.io import loadmat

    if not path.is_file():
        raise FileNotFoundError(
            f"No file {path}; the ISBI 2014 reader looks for {IMAGES_FILE} and {TRUTH_FILE} in the folder it is given."
        )
    try:
        contents = loadmat(path, variable_names=[variable])
    except Exception as error:
        raise ValueError(f"{path} cannot be read as a Matlab file (version 7 or older): {error}.") from error
    if variable not in contents or contents[variable].dtype != object:
        raise ValueError(f"{path} has no cell array {variable}; the files of the challenge have one.")
    return list(contents[variable].flat)
