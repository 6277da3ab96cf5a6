"""Seeds of the objects of a mask, as its necks and the notches of its outline tell.

Where a network knows the centres of such objects, its word goes first.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from declump.images.accepting import ImageLike, to_pixels
from declump.records.clump import check_mask, split_clumps
from declump.regions.centres import find_centres
from declump.seeds.pieces import Method, seeds_of_piece


def find_seeds(
    mask: ArrayLike,
    image: ImageLike | None = None,
    *,
    method: Method = "both",
    model: str | Path | None = None,
    diameter: float | None = None,
) -> NDArray[np.float64]:
    """Find one point in each object of a mask of touching or overlapping, roundish objects.

    Without a model only shape is looked at, relative to the size of the objects, so that these may be of any size and
    of different sizes. An image alone would not help: where things are seen through each other the darkest places are
    the overlaps. With a network that knows the objects, the peaks of its nearness to their centres are the seeds, and
    shape tells only where it sees none.

    Parameters
    ----------
    mask : (H, W) bool
        Where there is any object; also 0 and 1, or 0 and 255.
    image : (H, W), (H, W, 3) or (H, W, 4), optional
        The picture, for the model.
    method : "both", "distance" or "concavity"
        ``"distance"``: places that lie deeper in the mask than the necks that lead to deeper ones. That counts objects
        with a neck between them that is clearly narrower than they are. ``"concavity"``: the parts that remain when the
        mask is cut between notches of its outline that face each other. That also counts objects that hide half of
        each other, but needs outlines that are clean to a pixel. ``"both"``: the mask is divided along every slight
        neck and between all such notches, and neighbours that a learnt rule takes for one object are joined again.
    model : str or Path, optional
        Network that finds centres in the image: an ONNX file of ``declump train regions``, or ``"default"``, the one
        that ships with declump, which knows the nuclei of bright-field smears. Pieces of the mask in which it sees no
        centre are looked at by shape.
    diameter : float, optional
        Usual diameter in pixels of what the model finds; by default that of its training images.

    Returns
    -------
    (N, 2) float64
        Row and column, each inside the mask, in the order of their pixels along the rows. Every connected piece
        (8-neighbours) of the mask has at least one.

    Raises
    ------
    ValueError
        For an array that is no mask, an unknown method, an image of another size, or a model without an image.

    Examples
    --------
    >>> import numpy as np, declump
    >>> rows, columns = np.mgrid[:120, :170]
    >>> two = (np.hypot(rows - 60, columns - 60) < 40) | (np.hypot(rows - 60, columns - 115) < 40)
    >>> seeds = declump.find_seeds(two)
    >>> len(seeds), bool(np.abs(seeds - [(60, 60), (60, 115)]).max() < 5)
    (2, True)
    """
    mask = check_mask(mask)
    if method not in get_args(Method):
        raise ValueError(f"the method is {', '.join(map(repr, get_args(Method)))}; given was {method!r}")
    centres = _centres(mask, image, model, diameter)
    found = []
    for clump in split_clumps(mask, centres):
        own = centres[clump.cells] - clump.origin if clump.cells.size else seeds_of_piece(clump.mask, method)
        found.append(_inside(clump.mask, own) + clump.origin)
    seeds = np.concatenate([np.empty((0, 2)), *found])
    rows, columns = np.floor(seeds + 0.5).T
    return seeds[np.lexsort((columns, rows))]


def _centres(
    mask: NDArray[np.bool_], image: ImageLike | None, model: str | Path | None, diameter: float | None
) -> NDArray[np.float64]:
    """Centres (N, 2) that a model sees in the mask; none without a model."""
    if model is None and image is None and diameter is None:
        return np.empty((0, 2))
    if model is None or image is None:
        missing = "a model" if model is None else "an image"
        raise ValueError(f"seeds by regression need an image and a model of its objects; {missing} was not given")
    if diameter is not None and not 2 <= diameter <= 1000:
        raise ValueError(f"the diameter is a number of pixels from 2 to 1000; given was {diameter}")
    pixels = to_pixels(image)
    if pixels.shape[:2] != mask.shape:
        raise ValueError(f"the image is of another size than the mask: {pixels.shape[:2]} against {mask.shape} pixels")
    return find_centres(pixels, mask, model, diameter=diameter)


def _inside(piece: NDArray[np.bool_], seeds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Seeds on pixels of their own in a piece: the middle of a ragged part may lie in a hole, or be that of another."""
    seeds = seeds.round(6)  # so that a seed between two pixels falls to the same one wherever the piece lies
    rows, columns = np.floor(seeds + 0.5).astype(int).T
    astray = np.flatnonzero(~piece[rows, columns])
    if astray.size:
        pixels = np.argwhere(piece)
        for index in astray:
            seeds[index] = pixels[((pixels - seeds[index]) ** 2).sum(axis=1).argmin()]
    _, first = np.unique(np.floor(seeds + 0.5), axis=0, return_index=True)
    return seeds[np.sort(first)]
