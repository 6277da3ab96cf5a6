"""Simulated smears on disk, in the layout of the ISBI 2015 data set."""

import os
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump.simulate.smears import Smear


def write(smear: Smear, folder: str | os.PathLike[str]) -> Path:
    """Write a smear as the ISBI 2015 frames are laid out.

    ``image.png``, ``nuclei.png`` (all nuclei), ``clump.png`` (all cells) and ``cells/cell001.png``, ... (one whole cell
    each); masks are 0 and 255. The files are written beside the folder first and moved into place together, so that a
    failure leaves nothing behind.

    Parameters
    ----------
    smear : Smear
        What to write.
    folder : path
        Where to write; it must not exist, or be empty.

    Returns
    -------
    pathlib.Path
        The folder.

    Raises
    ------
    FileExistsError
        If there is a file or a non-empty folder of that name.
    """
    import imageio.v3

    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        kind = "a folder that is not empty" if target.is_dir() else "a file"
        raise FileExistsError(f"{target} is {kind}; give a new or empty folder, or remove this one.")
    target.parent.mkdir(parents=True, exist_ok=True)
    digits = max(3, len(str(len(smear.cells))))
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
        draft = Path(scratch) / "smear"
        (draft / "cells").mkdir(parents=True)
        imageio.v3.imwrite(draft / "image.png", smear.image)
        imageio.v3.imwrite(draft / "nuclei.png", _grey(np.any(smear.nuclei, axis=0)))
        imageio.v3.imwrite(draft / "clump.png", _grey(smear.clump))
        for index, mask in enumerate(smear.cells, start=1):
            imageio.v3.imwrite(draft / "cells" / f"cell{index:0{digits}d}.png", _grey(mask))
        if target.exists():
            target.rmdir()
        draft.rename(target)
    return target


def _grey(mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.where(mask, np.uint8(255), np.uint8(0))
