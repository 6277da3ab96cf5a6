"""Sample images that are free to use: smears drawn by declump, and two real frames of CRIC with their attribution."""

from importlib import resources
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from declump import simulate

_SEED = 2
"""Chosen by its looks, with few cells cut by the border: an example, not a measurement."""


def smear(stain: Literal["pap", "he", "grey"] = "pap") -> simulate.Smear:
    """Draw the sample smear: fourteen cells in four clumps, with their exact truth.

    It shows everything the simulator knows: pleats, granules, chromatin, bacteria, leukocytes, cells out of focus.
    The three stains show the same cells. The picture is declump's own and may be used for anything.

    Parameters
    ----------
    stain : {"pap", "he", "grey"}, optional
        Papanicolaou colours, haematoxylin and eosin, or grey as in extended-depth-of-field frames.

    Returns
    -------
    declump.simulate.Smear
        ``image`` of 768 x 1024 pixels, and the truth: ``cells``, ``nuclei``, ``seeds``, ``clump``.

    Examples
    --------
    >>> import declump
    >>> sample = declump.data.smear()
    >>> sample.image.shape, len(sample.cells)
    ((768, 1024, 3), 14)
    """
    return simulate.smear(
        (768, 1024), cells=14, clumps=4, overlap=0.4, radius=88, stain=stain, detail=1, debris=0.6, rng=_SEED
    )


def pap(name: Literal["clean", "inflamed"] = "clean") -> NDArray[np.uint8]:
    """Read a real frame of a conventional Pap smear, one of two that ship with declump.

    The frames are of the CRIC Cervix collection [1]_ under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/),
    compressed again for their size; ``pap.txt`` beside them names all authors. Both are in the training part of
    declump's split of CRIC: to look at, not to measure on.

    Parameters
    ----------
    name : {"clean", "inflamed"}, optional
        Overlapping orange and blue cells on a clean ground, or cells among leukocytes.

    Returns
    -------
    (1020, 1376, 3) uint8

    References
    ----------
    .. [1] M. T. Rezende et al., "Cric searchable image database as a public platform for conventional pap smear
       cytology data", Scientific Data 8, 151, 2021. https://doi.org/10.1038/s41597-021-00933-8

    Examples
    --------
    >>> import declump
    >>> declump.data.pap().shape, declump.data.pap("inflamed").dtype
    ((1020, 1376, 3), dtype('uint8'))
    """
    from PIL import Image

    if name not in ("clean", "inflamed"):
        raise ValueError(f"name must be 'clean' or 'inflamed', got {name!r}")
    with resources.files("declump.data").joinpath(f"pap-{name}.jpg").open("rb") as file:
        return np.asarray(Image.open(file).convert("RGB"))
