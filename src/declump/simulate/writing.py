"""Simulated smears on disk, in the layout of the ISBI 2015 data set."""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from declump._files import atomic_folder
from declump.simulate.smears import Smear


def write(smear: Smear, folder: str | os.PathLike[str]) -> Path:
    """Write a smear as the ISBI 2015 frames are laid out.

    ``image.png``, ``nuclei.png`` (all nuclei), ``clump.png`` (all cells) and ``cells/cell001.png``, ... (one whole cell
    each); masks are 0 and 255. All files come into place together; a failure leaves nothing behind.

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
    digits = max(3, len(str(len(smear.cells))))
    with atomic_folder(target) as draft:
        (draft / "cells").mkdir()
        imageio.v3.imwrite(draft / "image.png", smear.image)
        imageio.v3.imwrite(draft / "nuclei.png", _grey(np.any(smear.nuclei, axis=0)))
        imageio.v3.imwrite(draft / "clump.png", _grey(smear.clump))
        for index, mask in enumerate(smear.cells, start=1):
            imageio.v3.imwrite(draft / "cells" / f"cell{index:0{digits}d}.png", _grey(mask))
    return target


def _grey(mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.where(mask, np.uint8(255), np.uint8(0))
