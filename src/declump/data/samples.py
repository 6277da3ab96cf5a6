"""Sample images that are free to use: drawn by declump, as no public images of overlapping cells may be shipped."""

from typing import Literal

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
